"""The picture of a distribution: how frequent values are in a table, and how frequent cells are in its release."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import polars as pl

from shoal.errors import counted
from shoal.report.pictures import FONT, INK, charts, drawn

COLOURS = {"a value": "#08519c", "an alias": "#e6842a"}
STEP = 17
"""Points from bar to bar."""
WIDTH = 240
"""Points of the longest bar."""
PADDING = {"left": 22, "right": 8, "top": 5, "bottom": 5}
"""Letters are not as wide in every browser as where the chart is laid out."""
LONGEST = 170
"""Points of a label; what is longer ends in dots."""


def picture(before: pl.Series, after: pl.Series, name: str = "distribution") -> dict[str, bytes]:
    """Draw two panels: shares of the values of a column, and shares of the cells that a release shows for it.

    Cells that are no values are aliases. Both panels begin with what is most frequent, as somebody without the key sees
    them: where every value has one cell the outlines are the same, and what an alias stands for can be guessed.

    Parameters
    ----------
    before
        The column as it was.
    after
        The column as it is published, in any order.
    name
        Of the files, without ending.

    Returns
    -------
    dict
        A page that opens offline, and an SVG, by file name.
    """
    altair = charts("the picture of distributions")
    values, cells = _shares(before, before), _shares(after, before)
    most = max(values["share"].max(), cells["share"].max())  # type: ignore[type-var]
    title = f"{before.name}, before and after"
    words = f"{counted(values.height, 'value')} of {counted(len(before), 'row')}; published "
    words += f"{'is' if cells.height == 1 else 'are'} {counted(cells.height, 'different cell')}."
    panels = altair.hconcat(
        _panel(altair, values, "before", most), _panel(altair, cells, "published", most), spacing=28
    ).properties(
        title=altair.TitleParams(title, subtitle=words, anchor="start", offset=14), description=f"{title}. {words}"
    )
    styled = panels.configure(font=FONT, padding=PADDING).configure_view(stroke=None)
    styled = styled.configure_title(
        color=INK, fontSize=15, subtitleColor="#444444", subtitleFontSize=12.5, subtitlePadding=6
    )
    return drawn(name, styled, title)


def _panel(alt: ModuleType, rows: pl.DataFrame, title: str, most: Any) -> Any:
    """Bars to the right, one below the other."""
    kinds = alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))
    axis = alt.Axis(labelLimit=LONGEST, labelFontSize=11, ticks=False, domain=False, labelColor=INK)
    base = alt.Chart(alt.Data(values=rows.to_dicts())).encode(
        y=alt.Y("cell:N", sort=rows["cell"].to_list(), title=None, axis=axis),
        x=alt.X(
            "share:Q", title="share of rows", axis=alt.Axis(format="%", tickCount=4), scale=alt.Scale(domain=[0, most])
        ),
    )
    bars = base.mark_bar().encode(
        color=alt.Color("kind:N", title=None, sort=list(COLOURS), scale=kinds, legend=alt.Legend(orient="top")),
        tooltip=["cell:N", "kind:N", alt.Tooltip("share:Q", format=".2%"), alt.Tooltip("count:Q", format=",")],
    )
    return bars.properties(width=WIDTH, height=STEP * rows.height, title=alt.TitleParams(title, fontSize=12.5))


def _shares(series: pl.Series, values: pl.Series) -> pl.DataFrame:
    """Each cell with its share, the most frequent first; equally frequent ones in their order."""
    counts = series.cast(pl.String).fill_null("missing").alias("cell").value_counts(name="count")
    known = values.cast(pl.String).fill_null("missing").unique()
    is_value = pl.col("cell").is_in(known.implode())
    return counts.sort("count", "cell", descending=[True, False]).with_columns(
        (pl.col("count") / len(series)).alias("share"),
        pl.when(is_value).then(pl.lit("a value")).otherwise(pl.lit("an alias")).alias("kind"),
    )

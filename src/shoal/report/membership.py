"""The picture of membership: how many classes originals match, and how many fakes do."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from shoal.disk.change import changing
from shoal.errors import ParameterError, Problem, counted
from shoal.measure.membership import Membership
from shoal.release.directories import check_outside
from shoal.release.manifest import is_release
from shoal.report.pictures import FONT, INK, charts, drawn

MOST_BARS = 24
"""So many numbers of classes are told apart; more are gathered."""
PADDING = {"left": 5, "right": 70, "top": 5, "bottom": 5}
"""Letters are not as wide in every browser as where the chart is laid out."""
COLOURS = {"rows of the input": "#08519c", "fakes": "#e6842a"}


def picture(found: Membership, name: str = "membership") -> dict[str, bytes]:
    """Draw the two histograms side by side, as shares of originals and of fakes.

    The more alike they are, the less a match says about who is in the table.

    Parameters
    ----------
    found
        What `Release.membership` gave.
    name
        Of the files, without ending.

    Returns
    -------
    dict
        A page that opens offline, and an SVG, by file name.
    """
    altair = charts("the picture of membership")
    rows = _shares(found)
    title = "How many classes a row of the input matches, and how many a fake does"
    order = list(dict.fromkeys(rows["classes"].to_list()))
    axis = altair.Axis(labelAngle=0, labelOverlap=True)
    chart = (
        altair.Chart(altair.Data(values=rows.to_dicts()))
        .mark_bar()
        .encode(
            x=altair.X("classes:N", sort=order, title="matching classes", axis=axis),
            xOffset=altair.XOffset("who:N", sort=list(COLOURS)),
            y=altair.Y("share:Q", title="share of each", axis=altair.Axis(format="%")),
            color=altair.Color(
                "who:N", title=None, sort=list(COLOURS),
                scale=altair.Scale(domain=list(COLOURS), range=list(COLOURS.values())),
            ),
            tooltip=[
                "who:N", "classes:N", altair.Tooltip("share:Q", format=".2%"), altair.Tooltip("count:Q", format=","),
            ],
        )
        .properties(
            width=max(480, 34 * len(order)), height=280,
            title=altair.TitleParams(title, subtitle=_subtitle(found), anchor="start", offset=14),
            description=f"{title}. {' '.join(_subtitle(found))}",
        )
    )  # fmt: skip
    styled = chart.configure(font=FONT, padding=PADDING).configure_view(stroke=None)
    styled = styled.configure_title(
        color=INK, fontSize=15, subtitleColor="#444444", subtitleFontSize=12.5, subtitlePadding=6, subtitleLineHeight=17
    )
    return drawn(name, styled, title)


def check_picture(place: Path) -> dict[str, Path]:
    """The files of a picture by name; refuse a place inside a release, or one where something is."""
    try:
        targets = {name: place.parent / name for name in (f"{place.name}.html", f"{place.name}.svg")}
        taken = [str(path) for path in targets.values() if path.exists()]
        is_wrong = not place.parent.is_dir() or not place.name
    except (OSError, ValueError):  # too long, or with a letter no name can have
        raise ParameterError(Problem("picture", "its name is not a valid file name", "choose another name")) from None
    if taken or is_wrong:
        what = "already exists" if taken else "is in a directory that does not exist"
        raise ParameterError(Problem(taken[0] if taken else str(place), what, "choose another name"))
    check_outside(place, is_release, "the picture")
    return targets


def write_picture(found: Membership, place: Path) -> list[Path]:
    """Write the picture as `place` with the endings ``.html`` and ``.svg``; nothing that is there is replaced.

    It speaks of the input, so only its owner reads it.
    """
    targets = check_picture(place)
    files = picture(found, place.name)
    with changing(place, what="the picture") as change:
        for name, content in files.items():
            change.file(targets[name], content, look=partial(check_picture, place))
    return list(targets.values())


def _subtitle(found: Membership) -> list[str]:
    about = "" if found.exact else "about "
    return [
        f"{counted(found.originals, 'different row')}; {about}{_many(found.candidates)} tuples match the release.",
        f"{found.ratio:,.4g} fakes per row. The more similar the bars, the less a match reveals.",
    ]


def _many(count: float) -> str:
    return f"{count:,.0f}" if count < 1e15 else f"{count:.4g}"


def _shares(found: Membership) -> pl.DataFrame:
    """Both histograms as shares, numbers of classes gathered where they are many."""
    frame = found.to_frame()
    bars = _bars(frame["matching_classes"].to_list())
    rows: list[dict[str, Any]] = []
    for label, numbers in bars:
        inside = frame.filter(pl.col("matching_classes").is_in(numbers))
        for who, column in (("rows of the input", "originals"), ("fakes", "fakes")):
            count, total = float(inside[column].sum()), float(frame[column].sum())
            rows.append({"classes": label, "who": who, "share": count / total if total else 0.0, "count": count})
    return pl.DataFrame(rows)


def _bars(numbers: list[int]) -> list[tuple[str, list[int]]]:
    """Each number on its own, or runs of numbers that each hold as many of them."""
    if len(numbers) <= MOST_BARS:
        return [(str(number), [number]) for number in numbers]
    step = -(-len(numbers) // MOST_BARS)
    runs = [numbers[begin : begin + step] for begin in range(0, len(numbers), step)]
    return [(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]), run) for run in runs]


__all__ = ["check_picture", "picture", "write_picture"]

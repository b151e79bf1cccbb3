"""Cells in another spelling or type; hashes and figures are made to fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import polars as pl

from attacks.mutants import Mutant, covered, forged, with_file, written
from attacks.mutants_bytes import arrow_bytes
from attacks.mutants_rows import ANOTHER
from attacks.victims import Files, Victim
from shoal.published.release import Release
from shoal.release.column_types import COUNT, NUMBER, TRUTH

TYPED = "the input had numbers of another type: every cell is written so"
Texts = Callable[[str], str]

# -- spelling --------------------------------------------------------------------------------------------------------

NUMBER_SPELLINGS: dict[str, Texts] = {
    "plus": lambda text: f"+{text}",
    "zero before": lambda text: f"0{text}",
    "point": lambda text: f"{text}.0" if "." not in text else f"{text}0",
    "no point": lambda text: text.removesuffix(".0") if text.endswith(".0") else f"{text}.",
    "power": lambda text: f"{text}e0",
    "space before": lambda text: f" {text}",
    "space after": lambda text: f"{text} ",
    "underscore": lambda text: f"{text[:1]}_{text[1:]}" if len(text) > 1 else f"0_{text}",
    "wide digits": lambda text: "".join(chr(0xFF10 + int(letter)) if letter.isdigit() else letter for letter in text),
    "hexadecimal": lambda text: hex(int(float(text))),
    "minus zero": lambda text: "-0",
    "minus zero with a point": lambda text: "-0.0",
    "not a number": lambda text: "nan",
    "infinite": lambda text: "inf",
    "a text": lambda text: "Alice",
    "a last digit": lambda text: f"{text}{'.' if '.' not in text else ''}00000000000000001",
}
INTERVAL_SPELLINGS: dict[str, Texts] = {
    "no space": lambda text: text.replace(", ", ","),
    "two spaces": lambda text: text.replace(", ", ",  "),
    "space inside": lambda text: text.replace("[", "[ "),
    "space after": lambda text: f"{text} ",
    "open": lambda text: text.replace("[", "("),
    "half open": lambda text: text.replace("]", "["),
    "swapped": lambda text: "[" + ", ".join(text[1:-1].split(", ")[::-1]) + "]",
    "one end": lambda text: "[" + text[1:-1].split(", ")[0] + "]",
    "one end twice": lambda text: "[" + ", ".join([text[1:-1].split(", ")[0]] * 2) + "]",
    "three ends": lambda text: text.replace("]", ", 99]"),
    "plus": lambda text: text.replace("[", "[+"),
    "zero before": lambda text: text.replace("[", "[0"),
    "point": lambda text: text.replace("]", ".0]") if "." not in text else text.replace("]", "0]"),
    "power": lambda text: text.replace("]", "e0]"),
    "minus zero": lambda text: "[-0, 5]" if "." not in text else "[-0.0, 0.5]",
    "a text": lambda text: "Alice",
    "endless": lambda text: "[-inf, inf]",
    "not closed": lambda text: text[:-1],
}
SET_SPELLINGS: dict[str, Texts] = {
    "swapped": lambda text: (
        "{" + ", ".join(text[1:-1].replace("\\,", "\0").split(", ")[::-1]).replace("\0", "\\,") + "}"
    ),
    "no space": lambda text: text.replace(", ", ","),
    "space inside": lambda text: text.replace("{", "{ "),
    "comma at the end": lambda text: text.replace("}", ", }"),
    "one twice": lambda text: "{Ada, " + text[1:] if text.startswith("{Ada") else "{Bo, Bo, Dee}",
    "escaped letter": lambda text: text.replace("{", "{\\"),
    "a single one": lambda text: "{Ada}",
    "none": lambda text: "{}",
    "not closed": lambda text: text[:-1],
}
TRUTH_SPELLINGS: dict[str, Texts] = {
    word: lambda text, word=word: word for word in ("True", "TRUE", "1", "0", "yes", "t", "Alice", " true", "null")
}


def spelling_mutants(victim: Victim) -> Iterator[Mutant]:
    """Cells of text files that say the same in another way, one cell of its kind or all that are equal."""
    if victim.form != "csv":
        return
    release = as_texts(victim.release)
    for table, frame in release.frames.items():
        for name in frame.columns:
            for word, cells in _respelt(victim, table, name, frame[name]):
                changed = frame.with_columns(pl.Series(name, cells, dtype=pl.String))
                yield Mutant(
                    f"spelling of {table}.{name} {word}",
                    lambda table=table, changed=changed: written(covered(release, **{table: changed}), "csv"),
                    _reason(victim, table, name, word),
                )


def as_texts(release: Release) -> Release:
    """A release as it is read from text files."""
    return replace(release, frames={name: frame.cast(pl.String) for name, frame in release.frames.items()})


def _reason(victim: Victim, table: str, name: str, word: str) -> str:
    if name == "town" and word == "equal: space inside":  # a category whose name begins with a space
        return ANOTHER
    return ""


def sort_of(victim: Victim, table: str, name: str) -> str:
    """What the cells of a column are, by what its type is in memory."""
    dtype = victim.release.frames[table].schema[name]
    if dtype == pl.Boolean:
        return TRUTH
    if dtype == pl.Int64:
        return COUNT
    return NUMBER if dtype == pl.Float64 else "text"


def _respelt(victim: Victim, table: str, name: str, cells: pl.Series) -> Iterator[tuple[str, list[str | None]]]:
    sort, known = (
        sort_of(victim, table, name),
        [text for text in cells.drop_nulls().unique().sort().to_list() if text != "*"],
    )
    spellings: dict[str, Texts] = {}
    if sort in (COUNT, NUMBER):
        spellings = NUMBER_SPELLINGS
    elif sort == TRUTH:
        spellings = TRUTH_SPELLINGS
    elif known and known[0].startswith("["):
        spellings = INTERVAL_SPELLINGS
    elif any(text.startswith("{") for text in known):
        spellings, known = SET_SPELLINGS, [text for text in known if text.startswith("{")]
    values = cells.to_list()
    for word, respell in spellings.items() if known else ():
        zero = "minus zero" in word and sort != "text" and ("0.0" in known or "0" in known)
        old = known[0] if not zero else next(text for text in ("0.0", "0") if text in known)
        if (new := respell(old)) == old:
            continue
        yield f"equal: {word}", [new if text == old else text for text in values]
        if sort in (COUNT, NUMBER):
            place = values.index(old)
            yield f"one: {word}", [*values[:place], new, *values[place + 1 :]]
            if word in ("point", "plus", "zero before", "power"):
                yield f"all: {word}", [None if text is None else respell(text) for text in values]


# -- types -----------------------------------------------------------------------------------------------------------


def type_mutants(victim: Victim) -> Iterator[Mutant]:
    """Columns of Parquet files in another type, and cells that only look alike."""
    if victim.form != "parquet":
        return
    for table, frame in victim.release.frames.items():
        for name, dtype in frame.schema.items():
            for other in (pl.String, pl.Float64, pl.Int64, pl.Boolean, pl.Date):
                cast = _cast(frame[name], other)
                if other == dtype or cast is None:
                    continue
                may = name == "note"  # a column without a kind
                changed = frame.with_columns(cast)
                yield Mutant(
                    f"type of {table}.{name} {other}",
                    forged(victim, lambda release, table=table, changed=changed: covered(release, **{table: changed})),
                    TYPED if may else "",
                )
            yield from _look_alikes(victim, table, name, frame)


def _cast(cells: pl.Series, dtype: type[pl.DataType]) -> pl.Series | None:
    """A column in another type, where there is a way and one back."""
    try:
        cast = cells.cast(dtype)
        return cast if cast.cast(cells.dtype).equals(cells, null_equal=True) else None
    except pl.exceptions.PolarsError:
        return None


def _look_alikes(victim: Victim, table: str, name: str, frame: pl.DataFrame) -> Iterator[Mutant]:
    cells = frame[name]
    if cells.dtype == pl.String and cells.null_count():
        for word, changed in (("all", cells.fill_null("")), ("one", cells.scatter(cells.is_null().arg_max(), ""))):
            filled = frame.with_columns(changed)
            yield Mutant(
                f"type of {table}.{name} {word} empty instead of missing",
                forged(victim, lambda release, filled=filled: covered(release, **{table: filled})),
            )
    if cells.dtype == pl.Float64 and (cells == 0).any():
        changed = frame.with_columns(cells.scatter((cells == 0).fill_null(value=False).arg_true(), -0.0))

        def make() -> Files:
            made = written(covered(victim.release, **{table: changed}), "parquet")
            return with_file(made, f"{table}.parquet", arrow_bytes(changed))

        yield Mutant(f"type of {table}.{name} minus zero", make)

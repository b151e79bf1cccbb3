"""Aliases: a person's value itself, or a word in its place that only the holder of the key can read."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.errors import ParameterError, Problems, ShoalWarning
from shoal.personal.base import ColumnPublisher, Shown
from shoal.personal.choices import CLEAR, SECOND, THIRD, Choices, given_tree
from shoal.personal.secret import Secret
from shoal.spec import ByName, ColumnName, Maybe, OneOf, Real, Whole, param
from shoal.table.clean import category_texts
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.numbering import value_codes
from shoal.table.prepare import Table
from shoal.table.schema import Nominal, Numeric
from shoal.table.spelling import normal_form

Ints = npt.NDArray[np.int64]
FEW_ALIASES = 4
"""How many aliases the rarest value has at least, where they are to be flat."""


@dataclass(frozen=True)
class Aliases(ColumnPublisher):
    """Show a sensitive value as each person chose: 1 the value, 2 its first alias, 3 its second alias.

    Aliases are random words. Which word stands for which value is the key; it stays with the holder, or with the
    trusted server that interprets results for researchers.

    Parameters
    ----------
    column
        The sensitive column, of categories.
    choice2
        What choice 2 shows: ``"alias"``, or ``"generalise"`` for the parent of the value in its hierarchy.
    default
        Choice of rows whose choice is missing, or of all rows if there is no choice column.
    rule
        Choices by value, or by node of the hierarchy, for rows whose choice is missing; goes before `default`.
    min_support
        How many rows must show a value in clear, at least, or people where they may have several; of a value that fewer
        chose to show, they are treated as choice 2.
    flatten
        How many times as often the most frequent alias may occur as the least frequent one, at most. Values get as many
        aliases as that takes, drawn without regard to choices 2 and 3. Without it, as published, every value has two.

    Guarantee
    ---------
    None by itself. Equal values have equal aliases, so whoever knows how frequent values are, or knows one person, can
    guess what an alias stands for; what models require is therefore judged as if every alias were known. With `flatten`
    no alias occurs more than `flatten` times as often as another, and a known person gives away that one alias.

    >>> import polars as pl, shoal
    >>> diseases = ["flu", "flu", "ulcer", "ulcer"]
    >>> frame = pl.DataFrame({"age": [31, 32, 33, 34], "disease": diseases, "show": [1, 2, 1, 3]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"], choice="show")
    >>> release = shoal.anonymize(frame, schema, shoal.Mdav(k=2), publish=Aliases("disease"), seed=7)
    >>> shown = release.table["disease"].to_list()
    >>> "flu" in shown, len(set(shown))
    (True, 4)

    References
    ----------
    Poovammal, Ponnavaikko, "Categorical grading based personalized privacy preservation against attacks", 2009.
    """

    name: ClassVar[str] = "aliases"
    title: ClassVar[str] = "sensitive categories as each person chose: the value, or a secret alias"
    form: ClassVar[Literal["aliases", "grades"]] = "aliases"

    column: str = param(ColumnName(), "the sensitive column, of categories")
    choice2: str = param(OneOf(("alias", "generalise")), "what choice 2 shows", default="alias")
    default: int | None = param(Maybe(Whole(1, 3)), "choice of rows that have none", default=None)
    rule: Mapping[str, int] | None = param(
        Maybe(ByName(Whole(1, 3))), "choices by value or node, for rows that have none", default=None
    )
    min_support: int = param(Whole(1), "rows that show a value in clear, at least", default=1)
    flatten: float | None = param(
        Maybe(Real(1)), "how many times as often one alias may occur as another", default=None
    )

    @property
    def _choices(self) -> Choices:
        return Choices(self.column, self.default, self.rule)

    def check(self, table: Table, problems: Problems) -> None:
        """Note a column of numbers, a hierarchy that is lacking, and choices that are none."""
        if not self.check_column(table, problems):
            return
        kind = table.schema.columns[self.column].kind
        if isinstance(kind, Numeric) or (kind is None and table.frame[self.column].dtype.is_numeric()):
            fix = "show numbers by Grades, or make the column nominal"
            problems.add(self.where, "the column holds numbers, which have no aliases", fix, error=ParameterError)
            return
        if self.choice2 == "generalise" and not (isinstance(kind, Nominal) and kind.hierarchy is not None):
            fix = 'give the column a hierarchy, or use choice2 = "alias"'
            problems.add(f"{self.where}: choice2", "the column has no hierarchy", fix, error=ParameterError)
        self._choices.check(table, self.where, problems)

    def show(self, table: Table, secret: Secret) -> Shown:
        """What each row shows, of a table all of whose rows are published."""
        texts = category_texts(table.frame[self.column])
        codes = value_codes(texts.to_frame())[self.column]
        values: list[str | None] = [*texts.drop_nulls().unique().sort(), None]
        choices = _supported(self._choices.of(table), codes, table.people, self.min_support)
        tree = given_tree(table, self.column)
        parents = [_parent(value, tree) for value in values] if self.choice2 == "generalise" else None
        slots = self._slots(codes, choices, parents is not None, secret)
        cells = np.array(values, dtype=object)[codes]
        if parents is not None:
            cells = np.where(choices == SECOND, np.array(parents, dtype=object)[codes], cells)
        named = _tokens(
            values, sorted(set(zip(codes[slots > 0], slots[slots > 0], strict=True))), _taken(table), secret
        )
        cells[slots > 0] = [named[pair] for pair in zip(codes[slots > 0], slots[slots > 0], strict=True)]
        shown = pl.Series(self.column, cells.tolist(), dtype=pl.String)
        stands_for = {token: (values[code],) for (code, _), token in named.items()}
        clear = sorted({cell for cell in cells[slots == 0] if cell is not None})
        return Shown(shown, Nominal(), stands_for, tuple(clear))

    def _slots(self, codes: Ints, choices: Ints, generalised: bool, secret: Secret) -> Ints:
        """Which alias of its value each row shows, from 1 on; 0 where it shows none."""
        hidden = choices == THIRD if generalised else choices != CLEAR
        if self.flatten is None:
            return np.where(hidden, choices - 1, 0)
        slots = np.zeros(len(codes), dtype=np.int64)
        rows = np.flatnonzero(hidden)
        rows = rows[secret.order(len(rows))]
        rows = rows[np.argsort(codes[rows], kind="stable")]
        counts = np.bincount(codes[rows])
        smallest = _smallest_alias(counts[counts > 0], self.flatten)
        if smallest == 1 and len(rows):
            what = f"{self.where}: rare values leave some aliases to a single row, so little can be learnt from them"
            warnings.warn(f"{what}; raise flatten, or group rare values", ShoalWarning, stacklevel=2)
        begin = 0
        for code in np.flatnonzero(counts):
            own = rows[begin : begin + counts[code]]
            sizes = _sizes(len(own), smallest, int(self.flatten * smallest), Secret.of(int(code), secret.key.hex()))
            slots[own] = np.repeat(np.arange(1, len(sizes) + 1), sizes)
            begin += len(own)
        return slots


def _smallest_alias(counts: Ints, ratio: float) -> int:
    """In how many rows an alias is at least, so that every count can be split and none is `ratio` times another.

    It is as large as can be while every value has several aliases: with one or two, sizes would tell the value. An
    alias for every row is always flat, and says nothing.
    """
    middle = int(counts.min()) / FEW_ALIASES if len(counts) else 1.0  # the size that those of the rarest value have
    for smallest in range(int(2 * middle / (1 + ratio)), 1, -1):
        if (-(-counts // int(ratio * smallest)) <= counts // smallest).all():
            return smallest
    return 1


def _sizes(count: int, smallest: int, largest: int, secret: Secret) -> Ints:
    """Rows of each alias of a value: drawn alike for all values, then mended one by one until they are `count`."""
    fewest, most = -(-count // largest), count // smallest
    n_aliases = min(max(round(2 * count / (smallest + largest)), fewest), most)
    draws = secret.uniform(n_aliases)
    sizes: Ints = smallest + (draws * (largest - smallest + 1)).astype(np.int64)
    order, missing = Secret.of(count, secret.key.hex()).order(n_aliases), count - int(sizes.sum())
    while missing:
        step = 1 if missing > 0 else -1
        movable = order[sizes[order] < largest if step > 0 else sizes[order] > smallest][: abs(missing)]
        sizes[movable] += step
        missing -= step * len(movable)
    return sizes


def _supported(choices: Ints, codes: Ints, people: Ints | None, least: int) -> Ints:
    """Choices, with 2 in place of 1 where too few rows, or people who have them, would show the value in clear."""
    clear = choices == CLEAR
    shown = codes[clear] if people is None else np.unique(np.stack([codes, people])[:, clear], axis=1)[0]
    counts = np.bincount(shown, minlength=int(codes.max(initial=0)) + 1)
    return np.where(clear & (counts[codes] < least), SECOND, choices)


def _parent(value: str | None, tree: Hierarchy | None) -> str | None:
    """What a value is generalised to; a missing one may be anything."""
    if tree is None:
        return value
    return tree.root if value is None else tree.path(value)[1] if value != tree.root else value


def _taken(table: Table) -> set[str]:
    """All that an alias must not be taken for: values of any column, and names of nodes."""
    texts = [name for name, dtype in table.frame.schema.items() if dtype == pl.String]
    found = {normal_form(text) for name in texts for text in table.frame[name].drop_nulls().unique()}
    for name in table.schema.sensitive:
        if name in table.frame.columns and (tree := given_tree(table, name)) is not None:
            found |= {normal_form(node) for node in tree.names}
    return found


def _tokens(
    values: list[str | None], pairs: list[tuple[int, int]], taken: set[str], secret: Secret
) -> dict[tuple[int, int], str]:
    """An alias for each value and number, all different."""
    named: dict[tuple[int, int], str] = {}
    used = set(taken)
    for code, number in pairs:
        attempt, token = 0, ""
        while not token or normal_form(token) in used:
            token, attempt = secret.token(values[code], int(number), attempt), attempt + 1
        used.add(normal_form(token))
        named[code, number] = token
    return named

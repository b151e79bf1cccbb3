"""The columns of a table: what role each plays and what kind of values it holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Self, TypeGuard

from shoal.display.cards import card
from shoal.errors import Problem, Problems, SchemaError, class_or_type, counted, some
from shoal.spec import checked_class
from shoal.table.days import Days, calendar_of
from shoal.table.hierarchy.builders import Rule
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.names import Names
from shoal.table.role_words import meant_role

ROLES = ("identifying", "person", "quasi", "sensitive", "neutral", "weight", "choice")
"""What a column can be: dropped; whose row it is; hidden in a group; protected; published as it is; how many people a
row of a survey stands for; each person's own choice."""
SINGLE_ROLES = ("person", "weight", "choice")
"""Roles that one column at most can have."""


@checked_class
@dataclass(frozen=True)
class Numeric:
    """Numbers; published as an interval, or as a node when there is a hierarchy."""

    hierarchy: Hierarchy | Rule | None = None

    def __post_init__(self) -> None:
        _check_hierarchy("Numeric", self.hierarchy)


@checked_class
@dataclass(frozen=True)
class Ordinal:
    """Categories in an order; published as a run of that order, or as a node when there is a hierarchy.

    The order is a list, the lowest first, or all days of a calendar: `Days("1920-01-01", "2020-12-31")`.
    """

    order: tuple[str, ...]
    hierarchy: Hierarchy | Rule | None = None

    def __init__(self, order: Iterable[object] | Days, hierarchy: Hierarchy | Rule | None = None) -> None:
        _check_hierarchy("Ordinal", hierarchy)
        if isinstance(order, Days):
            order = order.texts_of_days()
        if isinstance(order, str) or not isinstance(order, Iterable):
            got = "one text" if isinstance(order, str) else type(order).__name__
            raise SchemaError(Problem("Ordinal(order=)", f"needs a list of categories, got {got}"))
        object.__setattr__(self, "order", tuple(str(category) for category in order))
        object.__setattr__(self, "hierarchy", hierarchy)
        doubled = sorted(category for category, times in Counter(self.order).items() if times > 1)
        if doubled:
            raise SchemaError(Problem("Ordinal(order=)", f"lists categories more than once: {some(doubled)}"))
        if not self.order or "" in self.order or "*" in self.order:
            raise SchemaError(Problem("Ordinal(order=)", "needs at least one category, none of them empty or '*'"))
        known = set(self.order)
        runs = [category for category in self.order if _reads_as_run(category, known)]
        if runs:
            what = f"has categories that look like ranges of others: {some(runs)}"
            raise SchemaError(Problem("Ordinal(order=)", what, "rename them"))

    def __repr__(self) -> str:
        return f"Ordinal(order={self.calendar or self.order!r}, hierarchy={self.hierarchy!r})"

    @cached_property
    def ranks(self) -> Mapping[str, int]:
        """The place of each category, from 0; worked out once, since a calendar has many and blocks all ask."""
        return {category: rank for rank, category in enumerate(self.order)}

    @cached_property
    def calendar(self) -> Days | None:
        """The days that an order lists, one by one, if it does."""
        return calendar_of(self.order)

    def ends(self, categories: Iterable[str]) -> tuple[int, int] | tuple[None, None]:
        """The places of the lowest and the highest of some categories, if there are any."""
        ranks = [self.ranks[one] for one in set(categories)]
        return (min(ranks), max(ranks)) if ranks else (None, None)

    def width(self, categories: Iterable[str]) -> int:
        """How many places the lowest and the highest of some categories lie apart."""
        low, high = self.ends(categories)
        return 0 if low is None or high is None else high - low


@checked_class
@dataclass(frozen=True)
class Nominal:
    """Categories without an order; without a hierarchy they hang on a flat tree under `*`."""

    hierarchy: Hierarchy | Rule | None = None

    def __post_init__(self) -> None:
        _check_hierarchy("Nominal", self.hierarchy)


def _check_hierarchy(kind: str, hierarchy: object) -> None:
    if not isinstance(hierarchy, (Hierarchy, Rule, type(None))):
        what = f"needs a hierarchy or a rule that builds one, got {type(hierarchy).__name__}"
        fix = "read a file with shoal.Hierarchy.from_csv(path), or use a rule such as shoal.Prefixes(keep=(3, 1))"
        raise SchemaError(Problem(f"{kind}(hierarchy=)", what, fix))


def _reads_as_run(category: str, known: set[str]) -> bool:
    """Whether a category is spelt like a published run of two others, `[low, high]`."""
    if not (category.startswith("[") and category.endswith("]")):
        return False
    parts = category[1:-1].split(", ")
    return any({", ".join(parts[:cut]), ", ".join(parts[cut:])} <= known for cut in range(1, len(parts)))


Kind = Numeric | Ordinal | Nominal
KINDS: dict[str, type[Kind]] = {"numeric": Numeric, "ordinal": Ordinal, "nominal": Nominal}


def _described(kind: Kind | None) -> str:
    """How the values of a column are joined, in a word or two and without naming any."""
    hierarchy = None if kind is None else kind.hierarchy
    if isinstance(hierarchy, Hierarchy):
        return f"tree of {counted(len(hierarchy.leaves), 'value')}, height {hierarchy.height}"
    if isinstance(hierarchy, Rule):
        return type(hierarchy).__name__
    return f"order of {counted(len(kind.order), 'category', 'categories')}" if isinstance(kind, Ordinal) else ""


def kind_name(kind: Kind | None) -> str | None:
    """Name of a kind in recipes and manifests."""
    return next((name for name, known in KINDS.items() if isinstance(kind, known)), None)


def has_days(kind: Kind | None) -> TypeGuard[Ordinal]:
    """Whether the order of a column is a calendar: what is said of it begins and ends with days that are there."""
    return isinstance(kind, Ordinal) and kind.calendar is not None


@dataclass(frozen=True)
class Column:
    """One column: its name, role and kind; a kind of None means the values pass through as they are."""

    name: str
    role: str
    kind: Kind | None = None


@dataclass(frozen=True)
class Schema:
    """The columns of a table.

    Parameters
    ----------
    identifying
        Columns that name a person; never published.
    quasi
        Columns an attacker may know, with their kinds; published per group.
    sensitive
        Columns to protect; with kinds, or a plain list when no requirement needs one.
    neutral
        Columns published as they are.
    choice
        Each person's own choice of protection; never published.
    person
        Says whose row it is, where people have several; never published. Every promise then counts people, not rows.
    weight
        How many people of a population a row of a survey stands for; published as it is.
    rest
        What a column named nowhere is: ``"neutral"``, ``"drop"``, or an error (the default).

    Examples
    --------
    >>> Schema(quasi={"age": Numeric()}, sensitive=["disease"]).roles
    {'age': 'quasi', 'disease': 'sensitive'}
    """

    identifying: Sequence[str] = ()
    quasi: Mapping[str, Kind] = field(default_factory=dict)
    sensitive: Mapping[str, Kind | None] | Sequence[str] = ()
    neutral: Mapping[str, Kind | None] | Sequence[str] = ()
    choice: str | None = None
    rest: str | None = None
    person: str | None = None
    weight: str | None = None

    def __post_init__(self) -> None:
        problems = Problems()
        for role in ("identifying", "quasi", "sensitive", "neutral"):
            self._check_role(role, getattr(self, role), problems)
        for role in SINGLE_ROLES:
            if not isinstance(getattr(self, role), str | None):
                problems.add(f"schema.{role}", "needs the name of one column")
        if self.rest not in (None, "neutral", "drop"):
            problems.add("schema.rest", 'needs "neutral" or "drop"')
        problems.raise_if_any(SchemaError)
        taken: dict[str, str] = {}
        for column in self:
            if column.name in taken:
                roles = f"{taken[column.name]} and {column.role}"
                problems.add(f"column {column.name!r}", f"has two roles: {roles}", "keep one")
            taken[column.name] = column.role
        if not self.quasi:
            problems.add("schema", "has no quasi-identifier", "name at least one column an attacker may know")
        problems.raise_if_any(SchemaError)
        # One form for all ways to say the same, so that equal schemas are equal.
        object.__setattr__(self, "identifying", tuple(self.identifying))
        for role in ("quasi", "sensitive", "neutral"):
            columns = getattr(self, role)
            plain = dict(columns) if isinstance(columns, Mapping) else dict.fromkeys(columns)
            object.__setattr__(self, role, plain)

    @staticmethod
    def _check_role(role: str, columns: object, problems: Problems) -> None:
        if isinstance(columns, str) or not isinstance(columns, (Mapping, Sequence)):
            got = "one text" if isinstance(columns, str) else type(columns).__name__
            problems.add(f"schema.{role}", f"needs a list or a mapping of column names, got {got}")
            return
        if role == "quasi" and not isinstance(columns, Mapping):
            kinds = "write quasi={'age': shoal.Numeric(), 'sex': shoal.Nominal()}"
            fix = f"{kinds}, or begin with the proposal of shoal.profile(table).to_schema()"
            problems.add("schema.quasi", "needs a kind for every column", fix)
        if isinstance(columns, Mapping):
            if role == "identifying":
                columns = list(columns)
            else:
                for name, kind in columns.items():
                    if not (isinstance(kind, Kind) or (kind is None and role != "quasi")):
                        fix = "use shoal.Numeric(), shoal.Ordinal(...) or shoal.Nominal()"
                        got = "" if kind is None else f", but {class_or_type(kind)}"
                        problems.add(f"column {name!r}", f"has no kind{got}", fix)
        if not all(isinstance(name, str) for name in columns):
            problems.add(f"schema.{role}", "needs column names that are texts", "write them so, '0' for 0")

    def __new__(cls, *_: object, **given: object) -> Self:
        """Refuse roles that are none, in one error; all else is left to the dataclass."""
        problems, known = Problems(), [one.name for one in fields(cls)]
        for role in given:
            if role not in known:
                fix = meant_role(role, known) or f"roles: {', '.join(known)}"
                problems.add(f"Schema({role}=)", "is no role of columns", fix)
        problems.raise_if_any(SchemaError)
        return super().__new__(cls)

    def __iter__(self) -> Iterator[Column]:
        for name in self.identifying:
            yield Column(name, "identifying")
        for role in ("quasi", "sensitive", "neutral"):
            columns = getattr(self, role)
            for name in columns:
                yield Column(name, role, columns[name] if isinstance(columns, Mapping) else None)
        if self.person is not None:
            yield Column(self.person, "person")
        if self.weight is not None:
            yield Column(self.weight, "weight", Numeric())
        if self.choice is not None:
            yield Column(self.choice, "choice")

    @cached_property
    def roles(self) -> dict[str, str]:
        """Role of every named column."""
        return {column.name: column.role for column in self}

    @cached_property
    def columns(self) -> dict[str, Column]:
        """Every named column."""
        return {column.name: column for column in self}

    def n_published(self, names: Sequence[str]) -> int:
        """How many columns of a table are published, given the names of all."""
        candidates = names if self.rest == "neutral" else self.roles
        return sum(self.roles.get(name) not in ("identifying", "person", "choice") for name in candidates)

    def _repr_html_(self) -> str:
        rows = [(one.name, one.role, kind_name(one.kind) or "as it is", _described(one.kind)) for one in self]
        note = "" if self.rest is None else f"columns named nowhere: {self.rest}"
        return card("Schema", rows, ("column", "role", "kind", "hierarchy"), note)

    def fit(self, names: Sequence[str] | Names, problems: Problems) -> Schema:
        """Settle the roles of the columns a table has; note columns that only one of the two knows."""
        roles = self.roles
        table = names if isinstance(names, Names) else Names(names, written=roles)
        table.note_absent(roles, problems, "check the spelling or remove it from the schema")
        unnamed = [name for name in table.names if name not in roles]
        if not unnamed or not table.meet(roles):
            return self
        if self.rest is None:
            fix = 'give each a role, or say rest = "neutral" or rest = "drop"'
            problems.add("schema", f"columns of the table without a role: {table.listed(unnamed)}", fix)
            return self
        if self.rest == "drop":
            return self
        neutral: dict[str, Kind | None] = {**dict(self.neutral), **dict.fromkeys(unnamed)}  # type: ignore[arg-type]
        return replace(self, neutral=neutral)

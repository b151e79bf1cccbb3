"""A release: the published tables, the manifest, and how they reach a directory, all or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.check.release import Verdict
from shoal.disk.change import Change, changing
from shoal.disk.recovery import settle
from shoal.errors import ParameterError, Problem, Problems
from shoal.measure import MEASURES, measure, measure_all
from shoal.measure.base import Given
from shoal.measure.breaches import breaches_by_row
from shoal.measure.candidates import of_release
from shoal.measure.membership import Membership, membership
from shoal.measure.pair_error import pair_errors
from shoal.measure.pairing import refuse_another
from shoal.methods.groups import SliceColumns
from shoal.published.compared import ComparedWith
from shoal.published.parts import check_frame
from shoal.published.reading import check_directory, read_checked
from shoal.published.stored import read_database, write_checked, write_to_database
from shoal.published.writing import check_copy, check_places, write_files
from shoal.release.key import Key, key_path
from shoal.release.manifest import Manifest
from shoal.release.queries import Answers
from shoal.release.receipt import Receipt, check_receipt, receipt_path, warn_of_reuse
from shoal.release.sealed import KEY
from shoal.release.target import Target
from shoal.spec import OfType, OneOrMore, Whole, checked_call, find
from shoal.table.cells import are_cells, type_name
from shoal.table.frames import as_pandas, same, to_polars
from shoal.table.markers import Markers, complaint
from shoal.table.schema import Schema

if TYPE_CHECKING:
    import pandas
    import pyarrow
    from typing_extensions import TypeVar as TypeVarWithDefault

    from shoal.attack import Background, Outcomes
    from shoal.concerns import Concern
    from shoal.concerns.base import Looked
    from shoal.learning.released.utility import Utility
    from shoal.learning.scores import Learner
    from shoal.report.page import Page

    Frame = TypeVarWithDefault("Frame", default=Any)
else:
    Frame = TypeVar("Frame")  # a default has it from Python 3.13 on

ATTACKED = 1000
"""How many people the attacks of a report are tried on."""
_A_COLUMN = OfType(str, "'disease'")


@dataclass(frozen=True)
class _Missing:
    """Texts that stand for a missing cell."""

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        return None if value is None else complaint(value)


@dataclass(frozen=True)
class _Guards:
    """A series of polars, of cells."""

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        if isinstance(value, pl.Series):
            return None if are_cells(value.dtype) else f"needs texts, got a series of {type_name(value.dtype)}"
        return f"needs a series of polars, such as table['guard'], got {type(value).__name__}"


_public_call = checked_call(
    examples={"original": "the frame that was released"},
    needs={
        "schema": OfType(Schema, "shoal.Schema(quasi={...})"), "seed": Whole(0), "target": _A_COLUMN,
        "columns": _A_COLUMN, "table": OfType(str, "'table'"), "label": _A_COLUMN, "person": OneOrMore("'name'"),
        "key": OfType(Key, "shoal.Key.read(path, passphrase)"), "missing_values": _Missing(),
        "guards": _Guards(), "name": OfType(str, "'ncp'"), "format": OfType(str, "'csv'"),
        "folder": OfType((str, PathLike), "'release'"), "overwrite": OfType(bool, "True"),
    },
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class Release(Generic[Frame]):
    """What is published, and what it says about itself.

    `Release[pandas.DataFrame]` is, for editors and type checkers, a release of a frame of pandas.

    Attributes
    ----------
    frames
        The published tables by name, as polars frames; `table` is there but where every slice has its own.
    manifest
        What the release says about itself.
    labels
        For the holder alone, never written: the group of each input row, -1 where it was suppressed or dropped; None
        for a release that was read from files.
    receipt
        For the holder alone, written beside the release and never into it: seed, hash of the input, where every row
        went, figures against the input; None for a release that was read from files.
    """

    frames: dict[str, pl.DataFrame]
    manifest: Manifest
    labels: npt.NDArray[np.int64] | None = None
    receipt: Receipt | None = None
    _to_native: Callable[[pl.DataFrame], Any] = field(default=same, repr=False)
    _gathered: SliceColumns | None = field(default=None, repr=False)
    """How slicing gathered attributes, for the pictures of the holder."""
    key: Key | None = field(default=None, repr=False)
    """For the holder alone, written into an encrypted file: what aliases and grades stand for; None without such."""
    _places: npt.NDArray[np.int64] | None = field(default=None, repr=False)
    """For the holder alone, never written: the row of the table that shows each input row, -1 where none does."""
    _seen: Given | None = field(default=None, repr=False, compare=False)
    """The release as it was read back when it was made, so that its cells need not be read again."""
    _verdict: Verdict | None = field(default=None, repr=False, compare=False)
    """What it was found to keep when it was made."""
    _checked: str | None = field(default=None, repr=False, compare=False)
    """Fingerprint of the manifest that the tables alone were checked against when they were made, figures and all."""

    @property
    def table(self) -> Frame:
        """The published table, in the type of frame that was given; slices with their own tables side by side."""
        return self._as_given(self.to_polars())

    @property
    def tables(self) -> dict[str, Frame]:
        """All published tables by name, in the type of frame that was given."""
        return {name: self._as_given(frame) for name, frame in self.frames.items()}

    def _as_given(self, frame: pl.DataFrame) -> Frame:
        given: Frame = self._to_native(frame)
        return given

    @_public_call
    def to_polars(self, table: str | None = None) -> pl.DataFrame:
        """The published table as a polars frame, whatever frame was given.

        Parameters
        ----------
        table
            Which one, where a release has several: a name of `tables`; the one that `table` shows, if not given.
        """
        if table is not None and table not in self.frames:
            what = f"is no table of the release: {table!r}"
            raise ParameterError(Problem("table=", what, f"it has: {', '.join(self.frames)}"))
        if table is not None or "table" in self.frames:
            return self.frames[table or "table"]
        layout = self.manifest.layout
        return layout.laid_out.rows(self.frames, layout, Problems())

    @_public_call
    def to_pandas(self, table: str | None = None) -> pandas.DataFrame:
        """The published table as a pandas frame, whatever frame was given.

        Parameters
        ----------
        table
            Which one, where a release has several: a name of `tables`; the one that `table` shows, if not given.
        """
        return as_pandas(self.to_polars(table), "to_pandas()")

    @_public_call
    def to_arrow(self, table: str | None = None) -> pyarrow.Table:
        """The published table as a pyarrow table, whatever frame was given.

        Parameters
        ----------
        table
            Which one, where a release has several: a name of `tables`; the one that `table` shows, if not given.
        """
        return self.to_polars(table).to_arrow()

    def __repr__(self) -> str:
        rows, reached = self.manifest.rows, self.manifest.achieved
        of = "" if rows.left_out is None else f" of {rows.published + rows.left_out}"
        values = "".join(f", {name}={value:g}" for name, value in reached.items())
        return f"Release({rows.published}{of} rows, {self.manifest.recipe.method['name']}{values})"

    def _repr_html_(self) -> str:
        from shoal.concerns import concerns_of
        from shoal.report.card import release_card  # most releases are not made in a notebook

        # A notebook is often passed on with what it shows.
        return release_card(self.manifest, [concern.what for concern in concerns_of(self.looked_at().by_readers)])

    @_public_call
    def verify(
        self,
        *,
        population: pl.DataFrame | None = None,
        guards: pl.Series | None = None,
        schema: Schema | None = None,
        original: Any = None,
        missing_values: Markers = (),
        key: Key | None = None,
    ) -> Verdict:
        """Re-derive the promise from the published tables; raise `GuaranteeError` when it does not hold.

        Parameters
        ----------
        population
            People to compare with, by their quasi-identifiers, for promises that speak of a population.
        guards
            The node each person chose as a guard, in the order of the published rows, for promises that speak of them.
        schema
            The schema the release was made with: it knows where values of the population belong that are not published.
        original
            The input of the release, for promises that speak of everybody in it: those of slices. With the key, rows
            are compared with it, too.
        missing_values
            Texts that stand for a missing cell of the input, besides the empty text.
        key
            What aliases and grades stand for, for promises about such columns; that of the release, if it has it.
        """
        rows = None if original is None else to_polars(original)[0]
        compared = ComparedWith(
            population=population, guards=guards, schema=schema, original=rows, missing_values=missing_values,
            key=key or self.key, places=self._place_of,
        )  # fmt: skip
        if self.manifest.in_parts:
            compared.refuse_with_parts()
            return check_frame(self.frames, self.manifest)
        if key is not None:
            key.check_belongs(self.manifest)
        return compared.verdict(self.frames, self.manifest, claims=self.labels is None)

    @property
    def concerns(self) -> tuple[Concern, ...]:
        """What to look at though the promise is kept, the worst first; each with the lines of a recipe to change it.

        Sensitive values that are alike in a class, rows that neutral columns single out, published columns that look
        like identifiers, people with several rows, columns of which little is left.
        """
        from shoal.concerns import concerns_of

        return concerns_of(self.looked_at())

    def looked_at(self) -> Looked:
        """The release and what its holder knows of it, for what looks for concerns."""
        from shoal.concerns.base import Looked

        return Looked(self.given(), self._verdict or self.verify(), self.receipt)

    @_public_call
    def measure(
        self,
        name: str | None = None,
        *,
        label: str | None = None,
        original: Any = None,
        schema: Schema | None = None,
        missing_values: Markers = (),
        key: Key | None = None,
        population: Any = None,
        **parameters: Any,
    ) -> dict[str, float]:
        """Information loss, class sizes and risk, by name; or the figures of one measure that is asked for.

        Where the receipt is at hand, figures that compare with the input are there too, and those take the place of
        figures that the files alone can only bound.

        Parameters
        ----------
        name
            A measure, as `shoal measures` lists them: also one that no manifest has, be it of another package; or
            ``"all"`` that fit no model and can be worked out of what is given.
        label
            A published column to measure how well classes keep it apart (`cm:<column>`); sensitive categories are
            measured anyway.
        original
            The input of the release, whole, for a measure that compares the two.
        schema
            The schema the release was made with: it knows where values belong that are not published.
        missing_values
            Texts that stand for a missing cell of the input, besides the empty text.
        key
            What aliases and grades stand for, for measures of such columns; that of the release, if it has it.
        population
            A frame with the quasi-identifiers of everybody who may be in the release, for measures of risk.
        parameters
            Those of the measure that is asked for.
        """
        held = {} if self.receipt is None else {one.measure: one.value for one in self.receipt.against_input}
        if name is None:
            given = {"original": original, "schema": schema, "missing_values": missing_values or None, "key": key}
            _refuse_parameters(**given, population=population, **parameters)
            return measure(self.frames, self.manifest, label=label) | held
        rows = None if original is None else to_polars(original)[0]
        people = None if population is None else to_polars(population)[0]
        known = replace(self.given(rows, schema, missing_values, key), population=people)
        if name == "all":
            _refuse_parameters(label=label, **parameters)
            return measure_all(known) | held
        asked = parameters if label is None else {"label": label, **parameters}
        one = find(MEASURES, name, "measure").from_mapping(asked, f"measure {name}")
        held = {key: value for key, value in held.items() if key.partition(":")[0] == name}
        if held and original is None and one.needs == "original":
            return held
        if rows is not None and one.needs == "original":
            refuse_another(known)
        figures = one.figures(known)
        return figures | held if one.needs == "release" else figures

    def given(
        self,
        original: Any = None,
        schema: Schema | None = None,
        missing_values: Markers = (),
        key: Key | None = None,
    ) -> Given:
        """What measures work on: the release and its input; several that are worked out of one share what they read.

        Parameters
        ----------
        original
            The input of the release, whole.
        schema
            The schema the release was made with.
        missing_values
            Texts that stand for a missing cell of the input, besides the empty text.
        key
            What aliases and grades stand for; that of the release, if it has it.
        """
        rows = None if original is None else to_polars(original)[0]
        sha256 = None if self.receipt is None else self.receipt.input.of_frame
        known = self._seen is not None and self._seen.tables is self.frames
        return Given(
            self.frames, self.manifest, rows, schema, missing_values, self.labels, key or self.key, self._place_of,
            sha256, seen=self._seen if known else None,
        )  # fmt: skip

    @property
    def _place_of(self) -> npt.NDArray[np.int64] | None:
        """The published row of each row of the input, as far as it is known: of a fresh release, or by the receipt."""
        return self._places if self.receipt is None or self._places is not None else self.receipt.place_of

    @_public_call
    def breaches(
        self, *, epsilon: float = 0.0, relative: bool = False, theta: float = 1.0, key: Key | None = None
    ) -> Frame:
        """How much of its class every published row shares a near number with, or an unrelated category.

        A row for each published one, in the order of the published table, in the type of frame that was given: what
        says its class, its sensitive cells, ``proximity_breach:<column>`` for numbers, and for all others
        ``divergence_breach:<column>``. Columns that show aliases or grades have them only where the key is at hand.

        Parameters
        ----------
        epsilon
            Numbers at most this far apart are near.
        relative
            Whether epsilon is a share of the row's own number.
        theta
            Values are unrelated whose lowest common ancestor is at least this high; 1 is the height of the root.
        key
            What aliases and grades stand for; that of the release, if it has it.

        Examples
        --------
        >>> import polars as pl, shoal
        >>> frame = pl.DataFrame({"age": [21, 22, 23], "income": [100, 103, 200]})
        >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"income": shoal.Numeric()})
        >>> release = shoal.anonymize(frame, schema, shoal.Mondrian(k=3))
        >>> sorted(release.breaches(epsilon=5).select("income", "proximity_breach:income").rows())
        [(100, 0.666...), (103, 0.666...), (200, 0.333...)]
        """
        asked = {"proximity_breach": {"epsilon": epsilon, "relative": relative}, "divergence_breach": {"theta": theta}}
        measures = [MEASURES[name].from_mapping(values, "breaches") for name, values in asked.items()]
        given = Given(self.frames, self.manifest, key=key or self.key)
        return self._as_given(breaches_by_row(given, measures))  # type: ignore[arg-type]

    @_public_call
    def by_person(self, original: Any, *, schema: Schema | None = None, missing_values: Markers = ()) -> Frame:
        """What each person of the input risks and loses, row by row in its order, for the holder alone.

        ``class_size`` is how many share the published cells, 0 for a row that is not published; ``risk`` the chance to
        point at the right one of them; ``ncp`` what the cells of the row lose, where they say which values they cover;
        ``suda`` how much the person stands out in the input, and ``stands_out_by`` the fewest columns that do it.

        Parameters
        ----------
        original
            The input of the release, whole.
        schema
            The schema the release was made with.
        missing_values
            Texts that stand for a missing cell of the input, besides the empty text.

        Examples
        --------
        >>> import shoal
        >>> people, schema = shoal.sample.people(100, seed=1), shoal.sample.schema()
        >>> release = shoal.anonymize(people, schema, shoal.Mondrian(k=5), seed=1)
        >>> found = release.by_person(people, schema=schema)
        >>> found.columns, found["class_size"].min()
        (['row', 'class_size', 'risk', 'ncp', 'suda', 'stands_out_by'], 5)
        """
        from shoal.measure.by_person import by_person
        from shoal.published.whole_columns import whole_columns

        given = self.given(to_polars(original)[0], schema, missing_values)
        return self._as_given(by_person(given, whole_columns))

    @_public_call
    def attack(
        self,
        original: Any,
        name: str | None = None,
        *,
        background: Background | None = None,
        outside: Any = None,
        control: Any = None,
        schema: Schema | None = None,
        missing_values: Markers = (),
        person: str | Sequence[str] = (),
        key: Key | None = None,
        seed: int = 0,
        **parameters: Any,
    ) -> Outcomes:
        """Try what an adversary with a stated background gets out of the release: one attack, or all that can be tried.

        Every outcome has the success rate, a baseline, the advantage over it, 95 % intervals, and the positions of the
        rows most at risk. It is for the holder, who knows the truth that guesses are compared with.

        Parameters
        ----------
        original
            The input of the release, whole.
        name
            An attack, as `shoal attacks` lists them; all that can be tried, if not given.
        background
            What the attacker knows: which columns, how precisely, of how many people, and which other releases. All
            quasi-identifiers of everybody, exactly, if not given.
        outside
            A table that the attacker has, with people who may be in the release and what is known of them; a missing
            cell is not known. The people of the original are attacked, if not given.
        control
            People who are not in the release, for attacks that compare with such.
        schema
            The schema the release was made with: it knows where values belong that are not published, and which
            columns name people.
        missing_values
            Texts that stand for a missing cell, besides the empty text.
        person
            Columns that say whose row it is, of the original and of an outside table: people are counted then, not
            rows. Those that identify people in the schema tell who is who in an outside table, if not given.
        key
            What aliases and grades stand for, for attacks on such columns; that of the release, if it has it.
        seed
            Of all that is drawn: people, predicates, models. Same seed, same outcome.
        parameters
            Those of the attack that is asked for.

        Examples
        --------
        >>> import polars as pl, shoal
        >>> frame = pl.DataFrame({"age": [21, 22, 41, 42], "disease": ["flu", "flu", "flu", "ulcer"]})
        >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
        >>> release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2))
        >>> found = release.attack(frame, schema=schema)
        >>> found["linking"].success, found["homogeneity:disease"].success
        (0.5, 0.5)
        """
        from shoal.attack import Background, Holder, attack  # only who attacks waits for what they need to be loaded

        if not isinstance(background, Background | None):
            what = f"needs something like shoal.Background(...), got {type(background).__name__}"
            raise ParameterError(Problem("Release.attack(background=)", what))
        people = (person,) if isinstance(person, str) else tuple(person)
        holder = Holder(
            self.frames, self.manifest, original, background or Background(), outside, control, schema, missing_values,
            self.labels, self.receipt, key or self.key, people, seed, self._place_of,
        )  # fmt: skip
        return attack(holder, name, **parameters)

    def pictures(self) -> dict[str, bytes]:
        """Pictures for the holder alone, by file name: how slicing gathered its attributes. They show the input."""
        if self._gathered is None:
            return {}
        from shoal.report.columns import picture  # needs packages that only pictures need

        return picture(self._gathered.phi2, self._gathered.columns)

    @_public_call
    def report(
        self, *, name: str = "", original: Any = None, schema: Schema | None = None, missing_values: Markers = ()
    ) -> Page:
        """A page that a review board can read: what was promised, lost and left open; it shows itself in a notebook.

        With the input, or where the receipt is at hand, it is the holder's edition and must not be published; else the
        public one, a function of the release alone.

        Parameters
        ----------
        name
            What the release is called.
        original
            The input of the release, whole.
        schema
            The schema the release was made with.
        missing_values
            Texts that stand for a missing cell of the input, besides the empty text.
        """
        from shoal.report.facts import Facts
        from shoal.report.report import report

        rows = None if original is None else to_polars(original)[0]
        verdict = self.verify(original=original, schema=schema, missing_values=missing_values)
        given = self.given(rows, schema, missing_values)
        outcomes = () if rows is None else self._attacked(rows, schema, missing_values)
        figures = self.measure() | self._judged(given)
        return report(Facts(given, verdict, figures, self.receipt, schema, outcomes), name)

    def _judged(self, given: Given) -> dict[str, float]:
        """Figures of a report that manifest and receipt do not have; those beside the input where that is given."""
        found: dict[str, float] = {}
        for name in ("marketer", "ncp_bound", "sse_bound"):
            one = MEASURES[name]
            known = one.needs == "release" or (given.original is not None and given.schema is not None)
            told = given.tells_people or not one.counts_people
            if known and told and self.manifest.layout.shape in one.shapes:
                found |= one().figures(given)
        return found

    def _attacked(self, rows: pl.DataFrame, schema: Schema | None, missing_values: Markers) -> tuple[Any, ...]:
        """What attacks get, tried on some people of the input: enough for the intervals of a report."""
        from shoal.attack.base import Background

        background = Background(people=min(ATTACKED, rows.height))
        found = self.attack(rows, background=background, schema=schema, missing_values=missing_values)
        return tuple(found.values())

    def public(self) -> Release[Frame]:
        """The release as its receivers see it: without labels, receipt and key."""
        return replace(self, labels=None, receipt=None, key=None, _gathered=None, _places=None, _verdict=None)

    @_public_call
    def membership(
        self, original: Any, *, schema: Schema | None = None, missing_values: Markers = (), seed: int = 0
    ) -> Membership:
        """What a reader learns about who is in the table: the tuples the release may stand for, and fakes among them.

        Parameters
        ----------
        original
            The input of the release, whole.
        schema
            The schema the release was made with: it knows where values belong that are not published.
        missing_values
            Texts that stand for a missing cell of the input, besides the empty text.
        seed
            For estimates, where there are too many tuples to be counted.
        """
        rows = to_polars(original)[0]
        refuse_another(self.given(rows, schema, missing_values))
        products = of_release(self.frames, self.manifest, rows, schema=schema, missing_values=missing_values)
        return membership(products, seed=seed)

    @_public_call
    def pair_errors(
        self, original: Any, *, schema: Schema | None = None, missing_values: Markers = ()
    ) -> dict[tuple[str, str], float]:
        """How much of what every two attributes say of each other is lost: 0 for nothing, 1 at worst.

        Attributes are brought to few categories; generalised cells are spread evenly over what they cover, and parts
        of a bucket put together in every way.

        Parameters
        ----------
        original
            The input of the release, whole.
        schema
            The schema the release was made with: it knows where values belong that are not published.
        missing_values
            Texts that stand for a missing cell of the input, besides the empty text.
        """
        return pair_errors(self.given(to_polars(original)[0], schema, missing_values))

    @_public_call
    def utility(
        self,
        target: str,
        *,
        holdout: Any = None,
        original: Any = None,
        learners: Sequence[str | Learner] = ("c45", "logistic", "boosting", "bayes"),
        folds: int = 10,
        seed: int = 0,
        draws: int = 5,
        numbers: str = "midpoint",
        schema: Schema | None = None,
        missing_values: Markers = (),
        key: Key | None = None,
    ) -> Utility:
        """How well a column is predicted by what is learnt from the release.

        Models are trained on the release and tested on itself, by cross-validation, and on held-out rows, which are
        shown as the release would show them: each by the cells of the class that covers it, or of the nearest. Where
        the input is given, models that are trained on it stand beside them. Rows that the release was made of are
        refused as held-out rows; `shoal.utility` cuts a table and makes a release of each part to be learnt from.

        Parameters
        ----------
        target
            The column to predict from all others that are published: a sensitive or a neutral one.
        holdout
            Rows of the same columns as the input that are not in the release; where `schema` names a person, of people
            who have no rows in the input.
        original
            The input of the release, whole, to compare with.
        learners
            By name, or with their parameters: ``"c45"`` or ``C45(confidence=0.1)``. All but the first need the extra
            ``shoal[learning]``.
        folds
            Number of folds, for cross-validation and for the intervals.
        seed
            Of the folds, and of the tables that are drawn.
        draws
            Buckets and slices leave open which cells belong together: so many tables are drawn that could have been the
            one, and figures are means over them.
        numbers
            What is learnt from an interval: its ``"midpoint"``, or both its ``"ends"``.
        schema
            The schema the release was made with: it knows where values belong that are not published.
        missing_values
            Texts that stand for a missing cell of the input, besides the empty text.
        key
            What aliases stand for, where the target is published by some; that of the release, if it has it.
        """
        from shoal.learning.released.utility import Published, utility_of  # most releases are not learnt from here
        from shoal.learning.trials import Setting

        setting = Setting.checked(target, learners, folds=folds, seed=seed, draws=draws, numbers=numbers)
        published = Published(self.frames, self.manifest, setting, key or self.key)
        given = {"original": original, "holdout": holdout}
        frames = {name: None if frame is None else to_polars(frame)[0] for name, frame in given.items()}
        if frames["original"] is not None:
            refuse_another(self.given(frames["original"], schema, missing_values, key))
        return utility_of(published, **frames, schema=schema, missing_values=missing_values)

    @_public_call
    def expected_counts(self, *columns: str) -> Frame:
        """How many rows can be expected to have each combination of cells, in the type of frame that was given.

        Of columns that are published side by side this is what was counted. Buckets and slices leave open which of
        their cells belong together: then it is the mean over all ways to put them together, as likely each.

        Parameters
        ----------
        columns
            Which published columns; slices are asked by the names of the attributes.

        Examples
        --------
        >>> import polars as pl, shoal
        >>> frame = pl.DataFrame({"age": [23, 27], "disease": ["flu", "ulcer"]})
        >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
        >>> shoal.anonymize(frame, schema, shoal.Anatomy(l=2)).expected_counts("age", "disease").rows()
        [(23, 'flu', 0.5), (23, 'ulcer', 0.5), (27, 'flu', 0.5), (27, 'ulcer', 0.5)]
        """
        return self._as_given(Answers.of(self.frames, self.manifest.layout).expected_counts(columns))

    @_public_call
    def plausible_table(self, seed: int = 0) -> Frame:
        """A table that could have been the one published, in the type of frame that was given.

        Within every bucket, the parts that a release shows apart are put together as they are drawn. Figures of
        several such tables say how far an answer depends on what is not known.

        Parameters
        ----------
        seed
            Another seed, another table.
        """
        return self._as_given(Answers.of(self.frames, self.manifest.layout).plausible_table(seed))

    @_public_call
    def write(
        self,
        folder: str | Path,
        *,
        format: str = "csv",  # noqa: A002
        overwrite: bool = False,
        passphrase: str | None = None,
    ) -> Path:
        """Write tables and manifest into a new directory, and the receipt beside it, or nothing at all.

        The files are written beside their destination, checked there from their bytes, and moved in one step. The
        receipt, ``NAME.receipt.json``, is for the holder and readable by its owner alone: never publish it. Where
        sensitive columns show aliases or grades, their key goes into an encrypted file, ``NAME.key``.

        Parameters
        ----------
        folder
            The directory to make.
        format
            ``"csv"`` or ``"parquet"``.
        overwrite
            Whether an earlier release in that place may be replaced; anything else there is never touched.
        passphrase
            What the key is encrypted with, where there is one.
        """
        target = Path(folder)
        if self.manifest.in_parts:
            what = "is a release in parts, which is a directory already"
            raise ParameterError(Problem("write()", what, "copy that directory"))
        if self.key is not None and passphrase is None:
            what = "is not given: the key of the aliases and grades would be lost"
            raise ParameterError(Problem("passphrase=", what, "give the text that the key file is encrypted with"))
        settle(target)
        check_places(target, overwrite=overwrite, receipt=self.receipt is not None, key=self.key is not None)
        with changing(target) as change:
            self.stage(change, target, format, overwrite=overwrite, passphrase=passphrase)
        if self.receipt is not None:
            warn_of_reuse(self.receipt, target)
        return target

    @_public_call
    def write_database(self, uri: str, release: str, *, overwrite: bool = False) -> None:
        """Write tables and manifest to a database, in one transaction, and check them as they are read back.

        In PostgreSQL a schema is made, in SQLite tables whose names begin with that of the release. The receipt is not
        written: keep ``release.receipt.to_json()``. `shoal.read_release` reads it back, and ``shoal verify URI
        --release NAME`` checks it. A release in parts becomes one table, and is checked part by part.

        Parameters
        ----------
        uri
            The database, ``sqlite:///...`` or ``postgresql://...``; ``${NAME}`` from the environment.
        release
            What it is called there.
        overwrite
            Whether an earlier release of that name may be replaced; anything else there is never touched.

        Examples
        --------
        >>> import shoal, tempfile
        >>> release = shoal.anonymize(shoal.sample.people(60), shoal.sample.schema(), shoal.Mondrian(k=3))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     release.write_database(f"sqlite:///{folder}/releases.db", "people")
        ...     shoal.read_release(shoal.Target(f"sqlite:///{folder}/releases.db", "people")).verify().k
        3
        """
        if self.key is not None:
            what = "has aliases or grades, which a database cannot hold with what belongs to them"
            raise ParameterError(Problem("write_database()", what, "write it into a directory"))
        if self.manifest.in_parts and len(self.manifest.tables) > 1:
            what = "has several tables in parts, which are not written to a database"
            raise ParameterError(Problem("write_database()", what, "keep it in its directory"))
        if self.manifest.in_parts:
            write_to_database(Target(uri, release), self.manifest, self._parts(), overwrite=overwrite)
        else:
            write_checked(Target(uri, release), self.manifest, self.frames, overwrite=overwrite)

    def _parts(self) -> Iterator[pl.DataFrame]:
        """The rows of every part."""
        begin = 0
        for part in self.manifest.tables[0].parts:
            yield self.frames["table"].slice(begin, part.rows)
            begin += part.rows

    def stage(
        self, change: Change, target: Path, form: str, *, overwrite: bool = False, passphrase: str | None = None
    ) -> Path:
        """Add the release, its receipt and its key to a change of the disk; give the directory with its files."""

        def look() -> None:
            check_places(target, overwrite=overwrite, receipt=self.receipt is not None, key=self.key is not None)

        folder = change.directory(target, look)
        self.fill(folder, form)
        if self.receipt is not None:
            change.file(receipt_path(target), self.receipt.to_json().encode())
        if self.key is not None and passphrase is not None:
            change.file(key_path(target), KEY.sealed(self.key.to_bytes(), passphrase))
        return folder

    def fill(self, folder: Path, form: str = "csv") -> None:
        """Write tables and manifest into an empty directory, and check them there from their bytes."""
        manifest = write_files(folder, self.manifest, self.frames, form)
        if self._checked == manifest.fingerprint():
            check_copy(folder, manifest)
        else:
            check_directory(folder)


def _refuse_parameters(**given: Any) -> None:
    """Refuse what only a measure that is named can take."""
    problems = Problems()
    for key, value in given.items():
        if value is not None:
            problems.add(f"measure({key}=)", "is for one measure, and none is named", "name it, or leave this out")
    problems.raise_if_any(ParameterError)


@checked_call(
    examples={"folder": '"release"'},
    needs={
        "folder": OfType((str, PathLike, Target), "'release'"),
        "receipt": OfType((str, PathLike), "'release.receipt.json'"),
    },
)
def read_release(folder: str | Path | Target, receipt: str | Path | None = None) -> Release[pl.DataFrame]:
    """Read a release directory back, with numbers as numbers whatever the format of its files.

    Parameters
    ----------
    folder
        The directory; or a `Target`, for one in a database.
    receipt
        For the data holder: the receipt that was written beside it.
    """
    read = read_database(folder) if isinstance(folder, Target) else read_checked(Path(folder))
    release = Release(read.frames, read.manifest)
    if receipt is None:
        return release
    held = Receipt.read(receipt)
    check_receipt(held, release.manifest, str(receipt))
    return replace(release, receipt=held)

"""A release as a step of a scikit-learn pipeline (extra: ``shoal[learning]``)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.errors import ParameterError, Problem, ShoalError, counted
from shoal.machine.extras import load
from shoal.methods import METHODS
from shoal.methods.base import Method
from shoal.pipeline import anonymize
from shoal.privacy.base import Requirement
from shoal.publish.aggregate import Aggregate
from shoal.settings import Part, check_arguments
from shoal.spec import checked_call, find
from shoal.table.frames import to_polars
from shoal.table.names import Names
from shoal.table.prepare import kind_by_content, prepare
from shoal.table.schema import Kind, Nominal, Numeric, Ordinal, Schema

load("sklearn", extra="learning", what="shoal.sklearn")

from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin  # noqa: E402
from sklearn.utils import check_random_state  # noqa: E402
from sklearn.utils.validation import check_is_fitted, validate_data  # noqa: E402

MOST_PAIRS = 4_000_000
"""Rows times classes whose distances are held at a time."""
Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


class Anonymizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replace the quasi-identifiers of rows by averages of groups of at least k.

    Fitting makes a release of the rows, which is verified like any other and kept as `release_`. `fit_transform` shows
    every row by the cells that the release shows for it; `transform` shows a row that was fitted in the same way, and
    any other by the cells of the nearest class.

    It is for pipelines of the data holder: rows keep their order, and who knows the order of the input knows whose row
    each one is. To publish, write `release_`, which has an order of its own. The fitted object keeps the rows that it
    was fitted on: do not pass it on.

    Parameters
    ----------
    method
        How groups are formed: a name, such as ``"mdav"`` or ``"mondrian"``, or a method, such as ``Mdav(k=5)``. It must
        give the rows of a group equal cells and leave no row out.
    k
        Smallest group size, where the method is given by its name.
    schema
        Role and kind of every column of a frame. Without it, all columns are numbers and quasi-identifiers.
    require
        Models that every class must satisfy besides k, for columns of the schema.
    random_state
        A whole number or a `numpy.random.RandomState` makes the random choices of a method the same every time. They
        are drawn anew and kept secret if not given.

    Attributes
    ----------
    release_ : Release
        The release of the rows that were fitted, with its receipt.
    n_features_in_ : int
        Number of columns that were fitted.
    feature_names_in_ : ndarray of str
        Their names, where they are texts.

    Notes
    -----
    `release_` is verified: every row has the same quasi-identifier cells as at least k - 1 others, and what is required
    holds. `fit_transform` gives the same cells, in the order of the input. Of rows that were not fitted, nothing is
    promised but that their quasi-identifiers are replaced by cells that were published before: few of them may share a
    class. Sensitive and neutral columns of a frame pass as they are.

    >>> import numpy as np
    >>> from shoal.sklearn import Anonymizer
    >>> step = Anonymizer(k=2)
    >>> step.fit_transform(np.array([[25.0], [61.0], [27.0], [59.0]])).ravel().tolist()
    [26.0, 60.0, 26.0, 60.0]
    >>> step.transform(np.array([[40.0]])).ravel().tolist(), step.release_.verify().k
    ([26.0], 2)
    """

    @checked_call()
    def __init__(
        self,
        method: str | Method = "mdav",
        k: int = 5,
        schema: Schema | None = None,
        require: Sequence[Requirement] = (),
        random_state: Any = None,
    ) -> None:
        self.method = method
        self.k = k
        self.schema = schema
        self.require = require
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002, N803
        """Make a release of rows.

        Parameters
        ----------
        X
            An array of numbers, or with a schema a polars, pandas or pyarrow frame.
        y
            Not looked at.
        """
        self._fitted(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:  # noqa: ARG002, N803
        """Make a release of rows, and show each by its cells, in the order of the rows.

        Parameters
        ----------
        X
            An array of numbers, or with a schema a polars, pandas or pyarrow frame.
        y
            Not looked at.
        """
        frame = self._fitted(X)
        return self._shown(frame, self._places, X)

    def transform(self, X: Any) -> Any:  # noqa: N803
        """Show rows by cells of the release: those that were fitted by theirs, all others by the nearest.

        The distance to a class is the sum of squares over quasi-identifiers: differences of numbers and ranks as shares
        of the range of what was fitted; 1 for categories that differ, and where one of both is missing. Of fitted rows
        with the same quasi-identifiers in several classes, the class of the first is shown.

        Parameters
        ----------
        X
            Rows with the same columns.
        """
        check_is_fitted(self, "release_")
        frame = self._read(X, self._method(), reset=False)
        quasi = _comparable(self._table.read_quasi(frame, (), "X"))
        known = quasi.join(self._known, on=quasi.columns, how="left", nulls_equal=True, maintain_order="left")["place"]
        places = known.fill_null(-1).to_numpy().copy()
        unknown = np.flatnonzero(places < 0)
        places[unknown] = self._nearest(quasi[unknown])
        return self._shown(frame, places, X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns that are shown: those of the input, or with a schema the published ones.

        Parameters
        ----------
        input_features
            As scikit-learn has it: names of the input, where it has none.
        """
        check_is_fitted(self, "release_")
        if self.schema is None:
            return super().get_feature_names_out(input_features)
        return np.array(self.release_.frames["table"].columns, dtype=object)

    def _method(self) -> Method:
        """The method that is meant; it must give every row cells of a group."""
        parts: list[Part] = [
            ("method", self.method, str | Method, None, '"mdav" or shoal.Mdav(k=5)'),
            ("schema", self.schema, Schema | None, None, "shoal.Schema(quasi=...)"),
        ]
        check_arguments(parts, missing_values=(), threads=None)  # before the table is read, which they describe
        method = self.method
        meant: Any = find(METHODS, method, "method") if isinstance(method, str) else method
        if getattr(meant, "protects", "cells") != "cells":
            fix = "use one that gives the rows of a group equal cells, such as mdav"
            raise ParameterError(Problem("method=", f"{meant.name} shows quasi-identifiers as they are", fix))
        made: Method = meant.from_mapping({"k": self.k}, "method") if isinstance(method, str) else meant
        return made

    def _read(self, X: Any, method: Method, *, reset: bool) -> pl.DataFrame:  # noqa: N803
        """The rows as a frame; scikit-learn checks arrays, Shoal checks frames against the schema."""
        if self.schema is not None:
            frame = to_polars(X)[0]  # says what is wrong with a frame
            validate_data(self, X, reset=reset, skip_check_array=True)
            return frame
        least = getattr(method, "min_group_size", 1) if reset else 1
        try:
            array = validate_data(self, X, reset=reset, dtype=np.float64, ensure_min_samples=least)
        except (TypeError, ValueError) as error:
            if (problem := _without_cells(X, str(error))) is None:
                raise
        else:
            problem = None
        if problem is not None:
            raise ParameterError(problem)  # outside the handler: what scikit-learn raised may hold a cell
        names = getattr(self, "feature_names_in_", [f"x{place}" for place in range(array.shape[1])])
        return pl.DataFrame({name: array[:, place] for place, name in enumerate(names)})

    def _fitted(self, X: Any) -> pl.DataFrame:  # noqa: N803
        """Make the release, and keep what shows rows by it."""
        method = self._method()
        frame = self._read(X, method, reset=True)
        schema = Schema(quasi=dict.fromkeys(frame.columns, Numeric())) if self.schema is None else self.schema
        release = anonymize(
            frame, schema, method, require=self.require, publish=Aggregate(), seed=self._seed(), progress=False
        )
        left_out = release.manifest.rows.left_out
        if left_out:
            fix = "use one that leaves none out, such as mdav"
            raise ParameterError(Problem("method=", f"{method.name} left out {counted(left_out, 'row')}", fix))
        assert release._places is not None  # noqa: S101  only slices have none
        self.release_, self._places = release, release._places
        self._table = prepare(frame, schema)
        quasi = _comparable(self._table.frame.select(list(self._table.quasi)))
        placed = quasi.with_columns(place=pl.Series(self._places))
        self._known = placed.unique(quasi.columns, keep="first", maintain_order=True)
        self._units = [_unit(kind, quasi[name]) for name, kind in self._table.quasi.items()]
        return frame

    def _seed(self) -> int | None:
        """A seed for the release; None for one that is drawn and secret."""
        if self.random_state is None or isinstance(self.random_state, int):
            return self.random_state
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _shown(self, frame: pl.DataFrame, places: Places, X: Any) -> Any:  # noqa: N803
        """Rows with the cells of published rows for their quasi-identifiers."""
        published = self.release_.frames["table"]
        cells = [name for column in self.release_.manifest.layout.quasi for name in column.columns]
        if self.schema is None:
            return published.select(cells)[places].cast(pl.Float64).to_numpy()
        passed = frame.select(name for name in published.columns if name not in cells)
        shown = pl.concat([published.select(cells)[places], passed], how="horizontal")
        found = to_polars(X)[1](shown.select(published.columns))
        if hasattr(X, "index") and hasattr(found, "index"):  # of pandas: rows are joined by it, and types are its own
            found.index = X.index
            for place, name in enumerate(map(str, X.columns)):
                if name in passed.columns:
                    found[name] = X.iloc[:, place].array.copy()
        return found

    def _nearest(self, quasi: pl.DataFrame) -> Places:
        """A published row of the class that is nearest to each row; of several the first that is published."""
        published = self.release_.frames["table"].select(quasi.columns).with_row_index("place")
        heads = published.unique(quasi.columns, keep="first", maintain_order=True)
        found = np.zeros(quasi.height, dtype=np.int64)
        step = max(1, MOST_PAIRS // max(heads.height, 1))
        for begin in range(0, quasi.height, step):
            rows = quasi[begin : begin + step]
            distance = np.zeros((rows.height, heads.height))
            for (name, kind), unit in zip(self._table.quasi.items(), self._units, strict=True):
                distance += _gaps(kind, rows[name], heads[name], unit) ** 2
            found[begin : begin + step] = np.argmin(distance, axis=1)
        return heads["place"].cast(pl.Int64).to_numpy()[found]


def _without_cells(X: Any, said: str) -> Problem | None:  # noqa: N803
    """What to say where scikit-learn may show cells, in words that its own checks know; None where it shows none."""
    fix = "give schema=, with the role and the kind of every column"
    if not isinstance(X, np.ndarray | list | tuple):
        with suppress(ShoalError):
            frame = to_polars(X)[0]
            other = (one for one in frame if one.dtype != pl.Boolean and not isinstance(kind_by_content(one), Numeric))
            texts = [series.name for series in other]
            what = f"columns that are not numbers: {Names.of(frame).listed(texts)}"
            return Problem("X", what, fix) if texts else None
    if "could not convert" in said:
        return Problem("X", "has cells that are not numbers", fix)
    if "Complex data" in said:
        return Problem("X", "Complex data not supported", "give real and imaginary parts as columns of their own")
    if "Reshape your data" in said:
        what = f"needs rows and columns, got {counted(np.ndim(X), 'dimension')}"
        return Problem("X", what, "Reshape your data: X.reshape(-1, 1) has one column, X.reshape(1, -1) one row")
    return None


def _comparable(quasi: pl.DataFrame) -> pl.DataFrame:
    """Numbers in one type, whether all of them are whole or not."""
    return quasi.with_columns(pl.col(pl.Int64).cast(pl.Float64))


def _unit(kind: Kind, values: pl.Series) -> float:
    """What counts as a difference of 1: the range of numbers or ranks."""
    if isinstance(kind, Ordinal):
        return float(max(len(kind.order) - 1, 1))
    known = values.drop_nulls().to_numpy()
    return float(np.ptp(known)) or 1.0 if isinstance(kind, Numeric) and len(known) else 1.0


def _gaps(kind: Kind, values: pl.Series, cells: pl.Series, unit: float) -> Floats:
    """How far values are from the cells of classes: a line for each value, a column for each class."""
    if isinstance(kind, Nominal):
        codes = {text: code for code, text in enumerate([None, *cells.drop_nulls().unique().to_list()])}
        value, cell = (np.array([codes.get(one, -1) for one in series]) for series in (values, cells))
        differ: Floats = (value[:, None] != cell).astype(np.float64)
        return differ
    if isinstance(kind, Ordinal):
        value, cell = (
            np.array([kind.ranks.get(one, np.nan) for one in series], dtype=float) for series in (values, cells)
        )
    else:
        value, cell = (series.cast(pl.Float64).to_numpy() for series in (values, cells))
    gap: Floats = np.abs(value[:, None] - cell) / unit
    found: Floats = np.where(np.isnan(gap), np.isnan(value)[:, None] != np.isnan(cell), gap)
    return found


__all__ = ["Anonymizer"]

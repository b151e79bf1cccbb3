"""The people of a release and what they are bound to, as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.cluster.signatures import Signature
from shoal.methods.groups import Labels
from shoal.methods.m_invariance import MInvariance
from shoal.series.state import SeriesState, Value
from shoal.table.clean import category_texts
from shoal.table.numbers import number_text
from shoal.table.prepare import Table
from shoal.table.schema import Numeric


@dataclass(frozen=True, repr=False)
class Coded:
    """Sensitive values as places in `domain`: all that rows have now, and all that were ever published.

    `digests` is the keyed hash of each row's id, `bound` the place among `signatures` of what its person is bound to,
    -1 for somebody new.
    """

    digests: list[bytes]
    domain: tuple[Value, ...]
    codes: Labels
    signatures: tuple[Signature, ...]
    bound: Labels

    @classmethod
    def of(cls, table: Table, method: MInvariance, state: SeriesState) -> Coded:
        """Look everybody up."""
        digests = state.digests(category_texts(table.frame[method.id]).to_list())
        known = state.known()
        kept = [state.signatures[state.signature_of[known[one]]] if one in known else None for one in digests]
        texts = value_texts(table, method.column)
        values = {*texts, *(value for signature in state.signatures for value in signature)}
        domain = tuple(sorted(values, key=lambda value: (value is None, value or "")))
        code_of = {value: code for code, value in enumerate(domain)}
        # Numbered by their values, so that the order of the state decides nothing.
        binding = {tuple(sorted(code_of[value] for value in one)): one for one in set(kept) if one is not None}
        place_of = {binding[signature]: place for place, signature in enumerate(sorted(binding))}
        return cls(
            digests,
            domain,
            np.array([code_of[text] for text in texts], dtype=np.int64),
            tuple(sorted(binding)),
            np.array([-1 if one is None else place_of[one] for one in kept], dtype=np.int64),
        )

    def named(self, signature: Signature) -> tuple[Value, ...]:
        """A signature by its values."""
        return tuple(self.domain[code] for code in signature)


def value_texts(table: Table, column: str) -> Sequence[Value]:
    """A sensitive column as texts that stay the same from one table to the next, whatever type the others make it."""
    series = table.frame[column]
    if not isinstance(table.schema.columns[column].kind, Numeric):
        return category_texts(series).to_list()
    text_of = {number: number_text(number) for number in series.drop_nulls().unique().to_list()}
    return [None if number is None else text_of[number] for number in series.to_list()]

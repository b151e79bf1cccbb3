"""A table that is in memory grouped block by block, on all cores."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from shoal.engines.bins import Binned, Bins
from shoal.engines.blocks import Blocks
from shoal.engines.counting import binned, histograms, sensitive_counts
from shoal.engines.cuts import Cuts, Ints, Wanted, find_cuts
from shoal.engines.facts import bins_of, whole_of
from shoal.engines.grouping import grouped
from shoal.engines.ordering import content_order
from shoal.methods.groups import Groups
from shoal.privacy.base import Classes, ColumnRequirement
from shoal.progress import SILENT, Progress
from shoal.release.description import Asked
from shoal.settings import limited_threads
from shoal.table.prepare import Table


@dataclass(frozen=True)
class InMemory:
    """Counts the rows of a table that is at hand."""

    columns: Sequence[Binned]
    bins: Bins
    codes: Mapping[str, Ints]
    """The sensitive values of every row, as numbers, where something is required of them."""
    n_values: Mapping[str, int]

    def histograms(self, cuts: Cuts, nodes: Sequence[int]) -> list[Ints]:
        """Of each column, how many rows of each node are in each bin."""
        return histograms(cuts, nodes, self.bins, self.columns)

    def sensitive(self, cuts: Cuts, nodes: Sequence[int]) -> Mapping[str, Ints]:
        """Of each sensitive column, how often each value is in each node."""
        return sensitive_counts(cuts, nodes, self.bins, self.codes, self.n_values)


def grouped_in_blocks(table: Table, asked: Asked, blocks: Blocks, seed: int, told: Progress) -> Groups:
    """The classes of a table, block by block; one of a single block is grouped as without blocks."""
    told.stage("cutting")
    block_of = _blocks_of(table, asked, blocks)
    sizes = np.bincount(block_of)
    if len(sizes) == 1:
        return grouped(table, asked, seed, told)
    whole, order = whole_of(table), content_order(table.frame, table.schema)
    rows = np.split(order[np.argsort(block_of[order], kind="stable")], np.cumsum(sizes)[:-1])
    told.stage("grouping", table.n_rows)

    def one(number: int) -> Groups:
        with limited_threads(1):
            block = replace(table, frame=table.frame[rows[number]], kept=table.kept[rows[number]], whole=whole)
            return grouped(block, asked, seed, SILENT, block=number)

    found = []
    with ThreadPoolExecutor(min(blocks.workers or os.cpu_count() or 1, len(sizes))) as pool:
        for groups in pool.map(one, range(len(sizes))):
            found.append(groups)
            told.advance(len(groups.labels))
    return _together(found, rows)


def _blocks_of(table: Table, asked: Asked, blocks: Blocks) -> Ints:
    """The block of each row, from 0."""
    require = (*asked.own(table), *asked.require)
    names = dict.fromkeys(one.column for one in require if isinstance(one, ColumnRequirement))
    sensitive = {name: table.sensitive[name] for name in names}
    columns = bins_of(table)
    bins = binned(columns, table.frame)
    codes = {name: values.codes for name, values in sensitive.items()}
    counting = InMemory(columns, bins, codes, {name: len(values.counts) for name, values in sensitive.items()})
    by_column = tuple(one for one in require if isinstance(one, ColumnRequirement))
    wanted = Wanted(blocks.rows, asked.method.min_group_size, by_column if table.people is None else (), sensitive)
    cuts = find_cuts(columns, wanted, counting)
    while True:
        block_of = cuts.blocks_of(bins)
        if table.people is None:
            return block_of
        lowest = np.full(table.n_people, len(cuts.blocks), dtype=np.int64)
        np.minimum.at(lowest, table.people, block_of)
        block_of = lowest[table.people]
        if len(cuts.blocks) == 1:
            return block_of
        used, places = np.unique(block_of, return_inverse=True)
        classes = Classes(places, table.sensitive, people=table.people)
        fits = classes.sizes >= asked.method.min_group_size
        for one in require:
            fits &= one.satisfied(classes)
        bad = np.ones(len(cuts.blocks), dtype=np.bool_)  # also one whose people are all elsewhere
        bad[used] = ~fits
        if not bad.any():
            return block_of
        cuts.join(cuts.blocks[int(np.flatnonzero(bad)[0])])


def _together(found: Sequence[Groups], rows: Sequence[Ints]) -> Groups:
    """The groups of all blocks, numbered on."""
    labels = np.full(sum(len(one) for one in rows), -1, dtype=np.int64)
    centred = all(groups.centres is not None for groups in found)
    centres, n_groups = [], 0
    for groups, place in zip(found, rows, strict=True):
        labels[place] = np.where(groups.labels >= 0, groups.labels + n_groups, -1)
        n_groups += groups.n_groups
        if groups.centres is not None:
            centres.append(place[groups.centres])
    return Groups(labels, {"blocks": len(rows)}, np.concatenate(centres) if centred else None)

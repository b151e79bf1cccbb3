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
from shoal.engines.description import Asked
from shoal.engines.facts import bins_of, whole_of
from shoal.engines.grouping import grouped, required
from shoal.engines.ordering import content_order
from shoal.errors import InfeasibleError
from shoal.methods.groups import Groups
from shoal.methods.slicing import Slicing
from shoal.privacy.base import Classes, ColumnRequirement
from shoal.progress import SILENT, Progress
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
    cutting = _Cutting.of(table, asked, blocks)
    cutting.bring_people_together(table, asked)
    if len(cutting.cuts.blocks) == 1:
        return grouped(table, asked, seed, told)
    method, whole, order = asked.method, whole_of(table), content_order(table.frame, table.schema)
    sliced = isinstance(method, Slicing)  # whether a block will do, counts do not tell
    if isinstance(method, Slicing):
        whole = replace(whole, gathered=method.gathered(table))

    def one(node: int, number: int, rows: Ints) -> Groups | None:
        block = replace(table, frame=table.frame[rows], kept=table.kept[rows], whole=whole)
        try:
            with limited_threads(1):
                return grouped(block, asked, seed, SILENT, block=node if sliced else number)
        except InfeasibleError:
            if sliced:
                return None
            raise

    done: dict[int, Groups | None] = {}
    while len(nodes := cutting.cuts.blocks) > 1:
        rows = dict(zip(nodes, cutting.rows_of_blocks(table, order), strict=True))
        lacking = [node for node in nodes if node not in done]
        told.stage("grouping", sum(len(rows[node]) for node in lacking))
        with ThreadPoolExecutor(min(blocks.workers or os.cpu_count() or 1, len(lacking))) as pool:
            arguments = zip(*((node, nodes.index(node), rows[node]) for node in lacking), strict=True)
            for node, groups in zip(lacking, pool.map(one, *arguments), strict=True):
                done[node] = groups
                told.advance(len(rows[node]))
        bad = next((node for node in nodes if done[node] is None), None)
        if bad is None:
            return _together([groups for node in nodes if (groups := done[node]) is not None], list(rows.values()))
        cutting.cuts.join(bad)  # with its neighbour it may do
        done = {node: groups for node, groups in done.items() if node in cutting.cuts.blocks}
    return grouped(table, asked, seed, told)


@dataclass
class _Cutting:
    """Where a table is cut, and which block each of its rows is in."""

    cuts: Cuts
    bins: Bins

    @classmethod
    def of(cls, table: Table, asked: Asked, blocks: Blocks) -> _Cutting:
        """Cut a table so that every block can keep what is required, as far as counts of rows tell."""
        by_column = tuple(one for one in required(table, asked) if isinstance(one, ColumnRequirement))
        sensitive = {one.column: table.sensitive[one.column] for one in by_column}
        columns = bins_of(table)
        bins = binned(columns, table.frame)
        codes = {name: values.codes for name, values in sensitive.items()}
        counting = InMemory(columns, bins, codes, {name: len(values.counts) for name, values in sensitive.items()})
        wanted = Wanted(blocks.rows, asked.method.min_group_size, by_column if table.people is None else (), sensitive)
        return cls(find_cuts(columns, wanted, counting), bins)

    def block_of(self, table: Table) -> Ints:
        """The block of each row, from 0: the first of those that rows of its person would be in."""
        block_of = self.cuts.blocks_of(self.bins)
        if table.people is None:
            return block_of
        lowest = np.full(table.n_people, len(self.cuts.blocks), dtype=np.int64)
        np.minimum.at(lowest, table.people, block_of)
        return lowest[table.people]

    def rows_of_blocks(self, table: Table, order: Ints) -> list[Ints]:
        """The rows of each block, in an order of all of them."""
        block_of = self.block_of(table)
        sizes = np.bincount(block_of, minlength=len(self.cuts.blocks))
        return np.split(order[np.argsort(block_of[order], kind="stable")], np.cumsum(sizes)[:-1])

    def bring_people_together(self, table: Table, asked: Asked) -> None:
        """Join blocks that have too few people to keep what is required with their neighbours."""
        while table.people is not None and len(self.cuts.blocks) > 1:
            used, places = np.unique(self.block_of(table), return_inverse=True)
            by_rows = {name: replace(values, people=None) for name, values in table.sensitive.items()}
            classes = Classes(places, table.sensitive, people=table.people)
            fits = classes.sizes >= asked.method.min_group_size
            for one in required(table, asked):
                fits &= one.satisfied(classes)
                if asked.method.protects == "links":  # buckets are made of rows
                    fits &= one.satisfied(Classes(places, by_rows))
            bad = np.ones(len(self.cuts.blocks), dtype=np.bool_)  # also one whose people are all elsewhere
            bad[used] = ~fits
            if not bad.any():
                return
            self.cuts.join(self.cuts.blocks[int(np.flatnonzero(bad)[0])])


def _together(found: Sequence[Groups], rows: Sequence[Ints]) -> Groups:
    """The groups of all blocks, numbered on; which attributes stay together is the same in all."""
    labels = np.full(sum(len(one) for one in rows), -1, dtype=np.int64)
    centred = all(groups.centres is not None for groups in found)
    centres, n_groups = [], 0
    for groups, place in zip(found, rows, strict=True):
        labels[place] = np.where(groups.labels >= 0, groups.labels + n_groups, -1)
        n_groups += groups.n_groups
        if groups.centres is not None:
            centres.append(place[groups.centres])
    return Groups(labels, {"blocks": len(rows)}, np.concatenate(centres) if centred else None, found[0].slices)

"""Refinement, slowly: every step is judged by the loss of its groups before and after, worked out from their rows."""

from math import fsum, inf, log

from shoal import Nominal, Numeric
from twins import mdav
from twins.trees import leaves_below, meet

LEAST = 1e-9
POINT_TRIES, MIXED_TRIES, EVERY, EVERY_K = 38, 100, 15, 3
MOST, OTHER, FAR, DIVIDED = 4, 0.2, 0.5, 120


class Refinement:
    """A partition on its way to less loss; `loss` gives that of a list of rows, `near` the rows a row looks at."""

    def __init__(self, loss, labels, k, turns, near, *, every=True):
        self.loss_of, self.k, self.turns, self.near, self.every = loss, k, turns, near, every
        self.groups = [[row for row, label in enumerate(labels) if label == g] for g in range(max(labels) + 1)]
        self.groups += [[] for _ in range(sum(map(len, self.groups)) // k - len(self.groups))]
        self.room = [max(2 * k - 1, len(group)) for group in self.groups]
        self.chained, self.known = set(), {}
        self.n_rows = len(labels)
        self.wake(turns)

    # -- what is asked

    def loss(self, rows):
        key = tuple(sorted(rows))
        if key not in self.known:
            self.known[key] = self.loss_of(list(key)) if key else 0.0
        return self.known[key]

    def where(self, row):
        return next((g for g, group in enumerate(self.groups) if row in group), -1)

    def without(self, g, out, into):
        return [row for row in self.groups[g] if row != out] + ([into] if into >= 0 else [])

    def change(self, g, out, into):
        return self.loss(self.without(g, out, into)) - self.loss(self.groups[g])

    def may(self, g, out, into):
        return self.k <= len(self.without(g, out, into)) <= self.room[g]

    def seen(self, row, every):
        """Groups a row looks at, each once."""
        found = range(len(self.groups)) if every else dict.fromkeys(self.where(other) for other in self.near[row])
        return [g for g in found if g != self.where(row) and self.groups[g]]

    def put(self, row, g):
        here = self.where(row)
        self.groups[here].remove(row)
        self.groups[g] = sorted([*self.groups[g], row])

    def wake(self, rows):
        self.chained |= set(rows)

    # -- steps

    def step(self, row, back, there):
        here = self.where(row)
        self.put(row, there)
        if back >= 0:
            self.put(back, here)

    def best_step(self, row):
        here, best, found = self.where(row), -LEAST, None
        for there in self.seen(row, self.every):
            for back in (-1, *self.groups[there]):
                if self.may(here, row, back) and self.may(there, back, row):
                    gain = self.change(here, row, back) + self.change(there, back, row)
                    if gain < best - LEAST or (found is None and gain < best):
                        best, found = gain, (back, there)
        return found

    def turn(self):
        steps = 0
        for row in self.turns:
            while (found := self.best_step(row)) is not None:
                steps += 1
                here = self.where(row)
                self.step(row, *found)
                self.wake(self.groups[here] + self.groups[found[1]])
        return steps

    # -- chains

    def best_chain(self, row):
        here, best, found = self.where(row), -LEAST, None
        leaving = self.change(here, row, -1)
        for there in self.seen(row, False):
            so_far, other = -LEAST, None
            for one in self.groups[there]:
                if self.may(there, one, row):
                    gain = leaving + self.change(there, one, row)
                    if gain < so_far - LEAST or (other is None and gain < so_far):
                        so_far, other = gain, one
            if other is None:
                continue
            for last in self.seen(other, False):
                if last == here:
                    continue
                gain, third = self.best_end(row, other, last, so_far - leaving)
                if gain < best - LEAST or (found is None and gain < best):
                    best, found = gain, (other, last, third)
        return found

    def best_end(self, row, other, last, ousting):
        here = self.where(row)
        best, back = inf, -1
        for third in (-1, *self.groups[last]):
            if not (self.may(here, row, third) and self.may(last, third, other)):
                continue
            gain = ousting + self.change(here, row, third) + self.change(last, third, other)
            if gain < best - LEAST:
                best, back = gain, third
        return best, back

    def pull(self):
        chains = 0
        for row in self.turns:
            if row not in self.chained or self.change(self.where(row), row, -1) >= -LEAST:
                continue
            found = self.best_chain(row)
            if found is None:
                self.chained.discard(row)
                continue
            chains += 1
            other, last, third = found
            here, there = self.where(row), self.where(other)
            self.step(row, other, there)
            self.step(other, third, last)
            self.wake(self.groups[here] + self.groups[there] + self.groups[last])
        return chains

    # -- whole groups

    def dissolve(self, g):
        before, rows = [list(group) for group in self.groups], list(self.groups[g])
        for row in rows:
            best, found = inf, None
            for other in self.seen(row, self.every):
                if self.may(other, -1, row):
                    added = self.change(other, -1, row)
                    if found is None or added < best - LEAST:
                        best, found = added, other
            if found is None:
                self.groups = before
                return False
            self.put(row, found)
        return self.keep(before, rows)

    def split(self, g, empty):
        before, rows = [list(group) for group in self.groups], list(self.groups[g])
        for _ in range(self.k):
            best, who = inf, None
            for row in self.groups[g]:
                added = self.change(g, row, -1) + self.change(empty, -1, row)
                if who is None or added < best - LEAST:
                    best, who = added, row
            self.put(who, empty)
        return self.keep(before, rows)

    def keep(self, before, rows):
        """Whether a change of whole groups lowered the loss; if not, it is undone."""
        if fsum(map(self.loss, self.groups)) - fsum(map(self.loss, before)) < -LEAST:
            for row in rows:
                self.wake(self.groups[self.where(row)])
            return True
        self.groups = before
        return False

    def regroup(self):
        changed = 0
        for g in range(len(self.groups)):
            while len(self.groups[g]) >= 2 * self.k and [] in self.groups:
                if not self.split(g, self.groups.index([])):
                    break
                changed += 1
            if 0 < len(self.groups[g]) < 2 * self.k:
                changed += self.dissolve(g)
        return changed

    # -- the whole

    def descend(self, *, divides):
        if divides:
            self.regroup()
        while True:
            while self.turn() or self.pull():
                pass
            if not self.regroup():
                return

    def anneal(self, rounds, heat, rng, *, divides, points):
        n_groups, total = sum(map(bool, self.groups)), self.total()
        each = POINT_TRIES if points else max(MIXED_TRIES // (self.k + 1), 1)
        tries = rounds * len(self.turns) * (DIVIDED // self.k if divides else each)
        if not tries or n_groups < 2 or total <= 0:
            return
        hot, cold = heat
        cooling = (cold / hot) ** (1 / tries)
        if divides:
            self.divide_all(tries, hot, cooling, rng)
        else:
            self.swap_all(tries, hot * total / len(self.turns), cooling, rng, points=points)
        self.wake(self.turns)

    def swap_all(self, tries, heat, cooling, rng, *, points):
        """Try steps into near groups, the one that adds least; of points, also divide groups."""
        draws, spare, every = rng.random((tries, 2)), self.spare(), max(EVERY, EVERY_K * self.k)
        if points:
            around = rng.integers(tries, size=tries // every)
            divisions = zip(around, *self.drawn(len(around), rng), strict=True)
        for i, (pick, luck) in enumerate(draws):
            heat *= cooling
            if points and i % every == every - 1:
                at, draw, picks = next(divisions)
                spare = self.divide(
                    self.turns[at % len(self.turns)], draw, picks, lambda *_, warm=heat: warm, spare, self.loss
                )
            row = self.turns[i % len(self.turns)]
            here, there = self.where(row), self.where(self.near[row][int(pick * len(self.near[row]))])
            if here == there:
                continue
            best, found = -heat * log(1 - luck), None
            for back in (-1, *self.groups[there]):
                if self.may(here, row, back) and self.may(there, back, row):
                    added = self.change(here, row, back) + self.change(there, back, row)
                    if added < best - LEAST:
                        best, found = added, back
            if found is not None:
                self.step(row, found, there)

    # -- groups divided anew

    def spare(self):
        return self.groups.index([]) if [] in self.groups else None

    def drawn(self, tries, rng):
        return rng.random((tries, 3)).tolist(), rng.random((tries, MOST + 1, 4)).tolist()

    def divide_all(self, tries, heat, cooling, rng):
        spare = self.spare()
        for i, (draw, picks) in enumerate(zip(*self.drawn(tries, rng), strict=True)):
            heat *= cooling
            row, warm = self.turns[i % len(self.turns)], heat
            spare = self.divide(row, draw, picks, lambda lost, n, warm=warm: warm * lost / n, spare, self.share)

    def share(self, group):
        return self.loss(group) / len(group)

    def divide(self, row, draw, picks, heat_of, spare, grows_by):
        """Put groups together and divide them, if that is taken; the spare group afterwards."""
        many, other, chance = draw
        chosen = self.put_together(row, many, picks)
        if len(chosen) < 2:
            return spare
        rows = [row for g in chosen for row in self.groups[g]]
        lost = sum(self.loss(self.groups[g]) for g in chosen)
        most = lost - heat_of(lost, len(chosen)) * log(1.0 - chance)
        homes = list(chosen)
        if other < OTHER and len(rows) <= (len(chosen) - 1) * (2 * self.k - 1):
            homes.pop()
        elif other >= 1 - OTHER and len(rows) >= (len(chosen) + 1) * self.k and spare is not None:
            homes.append(spare)
        made = self.grow_all(rows, homes, picks, most, grows_by)
        if made is None or sorted(made) == sorted(sorted(self.groups[g]) for g in chosen):
            return spare
        if sum(map(self.loss, made)) >= most:
            return spare
        for g in chosen:
            self.groups[g] = []
        for g, group in zip(homes, made, strict=True):
            self.groups[g] = group
        if len(homes) == len(chosen):
            return spare
        return chosen[-1] if len(homes) < len(chosen) else None

    def put_together(self, row, many, pick):
        chosen = []
        for i in range(2 + int(many * (MOST - 1))):
            g = self.where(row)
            if i:
                beside = self.groups[chosen[int(pick[i][0] * len(chosen))]]
                near = self.near[beside[int(pick[i][1] * len(beside))]]
                g = self.where(near[int(pick[i][2] * len(near))])
            if len(self.groups[g]) < 2 * self.k and g not in chosen:
                chosen.append(g)
            elif not chosen:
                return []
        return chosen

    def grow_all(self, rows, homes, pick, most, grows_by):
        """New groups, each grown from a row by those that add least; None once they lose as much as they may.

        Free rows stand in the order that comes of this: who joins changes places with the last of them.
        """

        def take(at):
            free[at], free[-1] = free[-1], free[at]
            return free.pop()

        def added(group, row):
            return grows_by([*group, row]) - grows_by(group)

        made, free = [], list(rows)
        for g in range(len(homes)):
            seed = pick[g][3]
            if g and seed < FAR:
                at, farthest = 0, -1.0
                for i, row in enumerate(free):
                    if added(made[-1], row) * self.scale(made[-1], grows_by) > farthest + LEAST:
                        at, farthest = i, added(made[-1], row) * self.scale(made[-1], grows_by)
            else:
                at = int((seed if g == 0 else (seed - FAR) / (1 - FAR)) * len(free))
            group = [take(at)]
            while len(group) < self.k:
                best, who = inf, None
                for i, row in enumerate(free):
                    if added(group, row) < best - LEAST:
                        best, who = added(group, row), i
                group.append(take(who))
            made.append(group)
            if sum(map(self.loss, made)) >= most:
                return None
        for row in free:
            best, where = inf, None
            for group, home in zip(made, homes, strict=True):
                added = self.loss([*group, row]) - self.loss(group)
                if len(group) < self.room[home] and added < best - LEAST:
                    best, where = added, group
            where.append(row)
            if sum(map(self.loss, made)) >= most:
                return None
        return [sorted(group) for group in made]

    def scale(self, group, grows_by):
        """What makes a squared distance of what a further row adds to a squared error."""
        return (len(group) + 1) / len(group) if grows_by == self.loss else 1.0

    def total(self):
        return fsum(map(self.loss, self.groups))

    def labels(self):
        full = [group for group in self.groups if group]
        number = {row: g for g, group in enumerate(full) for row in group}
        return [number.get(row, -1) for row in range(self.n_rows)]


def refine(loss, labels, k, turns, near, *, every=True, rounds=0, heat=None, rng=None, divides=False, points=False):
    """Labels after refinement."""
    search = Refinement(loss, labels, k, turns, near, every=every)
    best, least = list(labels), search.total()
    for some in (0, rounds) if rounds else (0,):
        search.anneal(some, heat, rng, divides=divides, points=points)
        search.descend(divides=divides)
        if search.total() < least - LEAST:
            best, least = search.labels(), search.total()
    return best


# -- the two losses ---------------------------------------------------------------------------------------------------


def squared_error(rows, kinds):
    """The loss of a list of rows around their average record."""
    points, axes = mdav.space(rows, kinds)
    return lambda group: mdav.error(group, points, axes)


def turns(rows, kinds, labels):
    """Rows in groups, those far from the average record first."""
    points, axes = mdav.space(rows, kinds)
    inside = [row for row, label in enumerate(labels) if label >= 0]
    middle = mdav.average_of(inside, points, axes)
    return sorted(inside, key=lambda row: (-mdav.distance2(points[row], middle, axes), row))


def open_cells(rows, columns, kinds, *, sets, labels=None):
    """The loss of a list of rows: what their cells leave open of every column, as wide as those in groups make it."""
    everyone = [row for place, row in enumerate(rows) if labels is None or labels[place] >= 0]

    def share(values, everything, column, kind):
        sort, measure = column
        present = [value for value in values if value is not None]
        if len(present) < len(values):
            return 1.0 if present else 0.0
        if sort == "line":
            known = [value for value in everything if value is not None]
            width = max(known) - min(known) if isinstance(kind, Numeric) else measure
            return (max(present) - min(present)) / width if width else 0.0
        if sets and isinstance(kind, Nominal) and kind.hierarchy is None:
            domain = {value for value in everything if value is not None}
            return (len(set(present)) - 1) / (len(domain) - 1) if len(set(present)) > 1 else 0.0
        node = meet(measure, present)
        return 0.0 if node in measure.leaves else len(leaves_below(measure, node)) / len(measure.leaves)

    def loss(group):
        by_column = zip(zip(*rows, strict=True), zip(*everyone, strict=True), columns, kinds, strict=True)
        return len(group) * sum(share([cells[row] for row in group], *what) for cells, *what in by_column)

    return loss

"""r-cellular clustering, step by step from the definition: every ball looked at anew in every step."""

from math import frexp, inf, ldexp, sqrt

from shoal import Nominal, Numeric, Ordinal
from twins.mdav import number_axis
from twins.r_gather import least, radius2


def unit_scale(rows, kinds, facility, standardize):
    """Units in a distance of 1, a power of two such that all sums stay whole numbers of 62 bits."""
    widest = 0.0
    for j, kind in enumerate(kinds):
        column = [row[j] for row in rows]
        present = [x for x in column if x is not None]
        holes = len(present) < len(column)
        if isinstance(kind, Nominal):
            widest += 1.0
        elif isinstance(kind, Ordinal):
            top = len(kind.order) - 1
            far = max(present, default=0) ** 2 / len(kind.order) ** 2
            widest += max(far, (top**2 / len(kind.order) ** 2 if top else 1.0) if holes else 0.0)
        else:
            assert isinstance(kind, Numeric)
            span = max(present, default=0) - min(present, default=0)
            spread = (span * span if not standardize else number_axis(column, 1.0)[1].gap) if span else 0.0
            widest += max(spread, (spread or 1.0) if holes else 0.0)
    power = frexp(sqrt(widest) + facility)[1]
    return ldexp(1.0, min(50, 61 - len(rows).bit_length()) - power)


def r_cellular(d2, k, facility, scale):
    """Labels and centres."""
    distance = [[round(sqrt(x) * scale) for x in row] for row in d2]
    price = round(facility * scale)
    paid, witness, balls = offers(distance, k, price)
    labels = choose(distance, paid, witness, balls)
    labels = repair(d2, distance, labels, balls, k, price, scale)
    found = sorted((middle(d2, members(labels, g)), g) for g in set(labels))
    number = {g: i for i, (_, g) in enumerate(found)}
    return [number[g] for g in labels], [centre for centre, _ in found]


def members(labels, g):
    """Rows of a group."""
    return [row for row, label in enumerate(labels) if label == g]


def middle(d2, rows):
    """The row whose farthest is nearest."""
    return min(rows, key=lambda row: (max(d2[row][other] for other in rows), row))


def offers(distance, k, price):
    """Raise all offers together; who is in a ball that is paid for stops."""
    n, now = len(distance), 0
    balls = [(c, r) for c in range(n) for r in sorted(set(distance[c])) if sum(x <= r for x in distance[c]) >= k]
    paid, witness, found = [None] * n, [None] * n, []
    while None in paid:
        soonest = (inf,)
        for c, r in balls:
            inside = [i for i in range(n) if distance[c][i] <= r]
            paying = [i for i in inside if paid[i] is None]
            if paying:
                given = sum(max(0, paid[i] - r) for i in inside if paid[i] is not None)
                time = max(now, r + -((given - price) // len(paying)))
                soonest = min(soonest, (time, c, r))
        now, c, r = soonest
        for i in range(n):
            if distance[c][i] <= r and paid[i] is None:
                paid[i], witness[i] = now, len(found)
        found.append((c, r))
    return paid, witness, found


def choose(distance, paid, witness, balls):
    """Open balls from the largest on, unless somebody gave to an open one as well; the ball of every row."""
    gave = [{i for i, x in enumerate(distance[c]) if x <= r < paid[i]} for c, r in balls]
    opened, target = [], {}
    for ball in sorted(range(len(balls)), key=lambda ball: (-balls[ball][1], ball)):
        rivals = [other for other in opened if gave[other] & gave[ball]]
        if rivals:
            target[ball] = min(rivals, key=lambda other: (distance[balls[ball][0]][balls[other][0]], other))
        else:
            target[ball] = ball
            opened.append(ball)
    mine = {row: ball for ball in opened for row in gave[ball]}
    return [mine.get(row, target[witness[row]]) for row in range(len(paid))]


def repair(d2, distance, labels, balls, k, price, scale):
    """Bring groups up to size, those around the largest balls first."""
    labels = list(labels)
    centre = {g: middle(d2, members(labels, g)) for g in set(labels)}
    radius = {g: round(sqrt(max(d2[c][row] for row in members(labels, g))) * scale) for g, c in centre.items()}
    for g in sorted(centre, key=lambda g: (-balls[g][1], g)):
        if not 0 < labels.count(g) < k:
            continue
        rise, borrowed, wide = borrow(distance, labels, g, centre, radius, k, price)
        options = [(rise, -1, borrowed, wide)] if borrowed else []
        options += join(distance, labels, g, centre, radius, price)
        _, other, what, wide = min(options, key=lambda option: option[:2])
        if other < 0:
            radius[g] = wide
            for row in what:
                labels[row] = g
        else:
            labels = [other if label == g else label for label in labels]
            centre[other], radius[other] = what, wide
    return labels


def borrow(distance, labels, g, centre, radius, k, price):
    """By how much the cost rises if a group borrows the nearest rows that others can spare, these, and the radius."""
    size = {h: labels.count(h) for h in centre}
    spare = {h: size[h] - k if size[h] >= k else size[h] for h in centre}
    rows = []
    for row in sorted(range(len(labels)), key=lambda row: (distance[centre[g]][row], row)):
        if labels[row] != g and spare[labels[row]] > 0 and len(rows) < k - size[g]:
            spare[labels[row]] -= 1
            rows.append(row)
    if len(rows) < k - size[g]:
        return inf, None, None
    wide = max(radius[g], *(distance[centre[g]][row] for row in rows))
    used_up = sum(0 < size[h] < k and spare[h] == 0 for h in centre)
    rise = k * wide - size[g] * radius[g] - sum(radius[labels[row]] for row in rows) - price * used_up
    return rise, rows, wide


def join(distance, labels, g, centre, radius, price):
    """For every other group: by how much the cost rises if they are joined, around the better of their centres."""
    mine, options = members(labels, g), []
    for h in set(labels) - {g}:
        rows = members(labels, h)
        theirs = max(radius[h], *(distance[centre[h]][row] for row in mine)), centre[h]
        ours = max(radius[g], *(distance[centre[g]][row] for row in rows)), centre[g]
        wide, c = theirs if theirs[0] <= ours[0] else ours
        rise = (len(mine) + len(rows)) * wide - len(mine) * radius[g] - len(rows) * radius[h] - price
        options.append((rise, h, c, wide))
    return options


def cost(d2, labels, centres, facility):
    """What groups cost: every row the radius of its group, every group the price."""
    return sum(
        facility + labels.count(g) * sqrt(max(d2[c][row] for row in members(labels, g))) for g, c in enumerate(centres)
    )


def least_cost(d2, k, facility):
    """The least cost of any partition, whatever the centres."""
    return least(
        len(d2), k, lambda group: facility + len(group) * sqrt(radius2(d2, group)), lambda one, rest: one + rest
    )

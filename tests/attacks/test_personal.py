"""Attacks on personalised publishing: each succeeds on the published scheme and fails on the hardened one."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest
import scipy

import shoal
from support import realdata

N = 2000
RNG = np.random.default_rng(5)
DISEASES = ("flu", "cold", "gout", "ulcer", "asthma", "rash")
SHARES = np.array([0.35, 0.25, 0.16, 0.12, 0.08, 0.04])
PEOPLE = pl.DataFrame(
    {
        "age": RNG.integers(18, 90, N),
        "zip": RNG.integers(10000, 10400, N).astype(str),
        "disease": RNG.choice(DISEASES, N, p=SHARES),
        "income": RNG.integers(10_000, 90_000, N),
    }
).with_row_index("person")
SCHEMA = shoal.Schema(
    identifying=["person"],
    quasi={"age": shoal.Numeric(), "zip": shoal.Nominal()},
    sensitive={"disease": shoal.Nominal(), "income": shoal.Numeric()},
)


def published(method=None, *, seed=1, aliases=(), grades=()):
    return _published(method or shoal.Personal(), seed, *(tuple(dict(more).items()) for more in (aliases, grades)))


@cache
def _published(method, seed, aliases, grades):
    hiding = [
        shoal.Aliases("disease", **{"default": 2, **dict(aliases)}),
        shoal.Grades("income", **{"quantiles": 1, **dict(grades)}),
    ]
    return shoal.anonymize(PEOPLE, SCHEMA, method, publish=hiding, seed=seed)


# -- grades ----------------------------------------------------------------------------------------------------------


def true_pairs(release):
    """Value and grade of everybody, from the key: what the attacker wants, and some of which he knows."""
    values = release.key.by_name["income"].values
    pairs = {(value, cell) for cell, several in values.items() for value in several}
    return np.array(sorted(pairs))


def by_two_points(known, grades):
    """Everything in a category from two people whose value is known: a line."""
    (x1, y1), (x2, y2) = known
    return x1 + (grades - y1) * (x2 - x1) / (y2 - y1)


def test_two_known_people_undo_linear_grades():
    pairs = true_pairs(published())
    inside = pairs[pairs[:, 1] < 1.998]
    found = by_two_points(inside[[100, 900]], inside[:, 1])
    assert np.abs(found - inside[:, 0]).max() < 1e-3


def test_two_known_people_do_not_undo_random_grades():
    pairs = true_pairs(published(grades={"variant": "random"}))
    found = by_two_points(pairs[[100, 900]], pairs[:, 1])
    assert np.median(np.abs(found - pairs[:, 0])) > 300
    assert (np.abs(found - pairs[:, 0]) < 1).mean() < 0.02


@pytest.mark.parametrize("n_known", [2, 10, 50])
def test_known_people_bound_a_random_grade_by_their_neighbours(n_known):
    """What is stated: with k known people a value is left open within about 1 / (k + 1) of the range."""
    pairs = true_pairs(published(grades={"variant": "random"}))
    rng = np.random.default_rng(n_known)
    widths = []
    for _ in range(40):
        known = np.sort(rng.choice(len(pairs), n_known, replace=False))
        ends = np.concatenate([[10_000], pairs[known, 0], [90_000]])
        others = np.setdiff1d(np.arange(len(pairs)), known)
        place = np.searchsorted(known, others)
        widths.append((ends[place + 1] - ends[place]).mean())
    share = np.mean(widths) / 80_000
    assert 0.7 / (n_known + 1) < share < 2.5 / (n_known + 1)


# -- aliases ---------------------------------------------------------------------------------------------------------


def by_frequency(release):
    """The share of people whose disease is told by matching aliases and diseases by how frequent they are.

    The attacker knows the shares of the diseases in public, and that every disease has so many aliases in proportion.
    """
    counts = Counter(release.table["disease"])
    ranked = [cell for cell, _ in counts.most_common()]
    expected = np.cumsum(SHARES) * len(PEOPLE)
    guess, seen = {}, 0
    for cell in ranked:
        guess[cell] = DISEASES[min(int(np.searchsorted(expected, seen + counts[cell] / 2)), len(DISEASES) - 1)]
        seen += counts[cell]
    truth = {cell: values[0] for cell, values in release.key.by_name["disease"].values.items()}
    return sum(counts[cell] for cell in counts if guess[cell] == truth[cell]) / len(PEOPLE)


def test_frequencies_tell_published_aliases():
    assert by_frequency(published()) > 0.95


def test_frequencies_do_not_tell_flat_aliases():
    """No better than by the shares alone: about the sum of their squares, over many draws."""
    told = [by_frequency(published(seed=seed, aliases={"flatten": 1.5})) for seed in range(6)]
    assert np.mean(told) < 0.3
    assert by_frequency(published()) > 2 * np.mean(told)


def by_one_known_person(release):
    """The largest share of people who are told when the disease of one person is known, who has the same alias."""
    counts = Counter(release.table["disease"])
    return max(counts.values()) / len(PEOPLE)


def test_one_known_person_tells_all_who_share_the_alias():
    assert by_one_known_person(published()) > 0.3
    assert by_one_known_person(published(aliases={"flatten": 1.5})) < 0.06


# -- aliases that were split, put together again ----------------------------------------------------------------------

EVEN = np.array([0.2, 0.19, 0.18, 0.16, 0.15, 0.12])
MANY = 5000


def even_people():
    """People among whom no disease is much rarer than another: what flat aliases are best for."""
    rng = np.random.default_rng(7)
    ages, zips = rng.integers(18, 90, MANY), rng.integers(10000, 10400, MANY).astype(str)
    return pl.DataFrame({"age": ages, "zip": zips, "disease": rng.choice(DISEASES, MANY, p=EVEN)})


def in_classes(release):
    """The class or the bucket of every published alias, and the alias."""
    if "sensitive" in release.frames:
        table = release.frames["sensitive"]
        rows = np.repeat(np.arange(table.height), table["count"])
        return table["bucket"].to_numpy()[rows], table["disease"].to_numpy()[rows]
    classes = release.table.select(pl.struct(release.manifest.layout.cell_columns).rank("dense")).to_series()
    return classes.to_numpy(), release.table["disease"].to_numpy()


def regrouped(release):
    """The share of people whose alias is put together with others of its value, by which aliases meet in classes.

    Aliases of one value meet the same others, and seldom each other. The attacker, who knows how many values there are,
    looks at the leading eigenvectors of how often aliases meet, and puts those together that are near each other.
    """
    classes, cells = in_classes(release)
    aliases, alias = np.unique(cells, return_inverse=True)
    counts = np.zeros((int(classes.max()) + 1, len(aliases)))
    np.add.at(counts, (classes.astype(int), alias), 1)
    meet = counts.T @ counts
    np.fill_diagonal(meet, 0)
    often = np.sqrt(meet.sum(axis=1))
    strengths, vectors = np.linalg.eigh(meet / np.outer(often, often))
    leading = np.argsort(-np.abs(strengths))[: len(DISEASES)]
    points = vectors[:, leading] * strengths[leading] / often[:, None]
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    hierarchy = scipy.cluster.hierarchy
    found = hierarchy.fcluster(hierarchy.linkage(points, "ward"), len(DISEASES), "maxclust")
    truth = release.key.by_name["disease"].values
    shares = np.zeros((len(DISEASES), len(DISEASES)))
    for place, cell in enumerate(aliases):
        shares[found[place] - 1, DISEASES.index(truth[cell][0])] += counts[:, place].sum()
    return shares[scipy.optimize.linear_sum_assignment(-shares)].sum() / MANY


SPLIT = {
    "anatomy": (shoal.Anatomy(l=2), []),
    "l = k": (shoal.Mdav(k=3), [shoal.LDiversity("disease", l=3)]),
    "l above k / 2": (shoal.Mdav(k=4), [shoal.LDiversity("disease", l=3)]),
    "alpha k below 2": (shoal.Mdav(k=4), [shoal.AlphaK("disease", alpha=0.26)]),
}


def split_release(method, require):
    schema = replace(SCHEMA, identifying=(), sensitive={"disease": shoal.Nominal()})
    aliases = shoal.Aliases("disease", default=2, flatten=1.5)
    return shoal.anonymize(even_people(), schema, method, require=require, publish=aliases, seed=1 << 80)


@pytest.mark.parametrize(("name", "share"), [*zip(SPLIT, (1, 1, 0.8, 1), strict=True)])
def test_split_aliases_are_put_together_where_classes_keep_values_apart(name, share):
    """And whoever asks for them is warned."""
    with pytest.warns(shoal.ShoalWarning, match="those of one value hardly ever meet in classes this diverse"):
        release = split_release(*SPLIT[name])
    assert regrouped(release) >= share


def test_split_aliases_are_not_put_together_in_classes_with_room():
    """About as well as with classes that nothing is required of: groups of nothing fit nearly as often."""
    with_l = regrouped(split_release(shoal.Mdav(k=10), [shoal.LDiversity("disease", l=3)]))
    without = regrouped(split_release(shoal.Mdav(k=10), []))
    assert max(with_l, without) < 0.5


@pytest.mark.parametrize(
    ("method", "require"),
    [
        (shoal.Mdav(k=10), [shoal.LDiversity("disease", l=3)]),
        (shoal.Mdav(k=3), [shoal.LDiversity("disease", l=3), shoal.KAnonymity(k=6)]),
        (shoal.Slicing(l=2, k=10, sensitive_apart=True), []),
        (shoal.Personal(), []),
    ],
)
def test_aliases_that_are_not_split_in_vain_do_not_warn(method, require):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        split_release(method, require)
    assert not [one for one in said if "hardly ever meet" in str(one.message)]


def by_profile(release, column, public):
    """The share of people who are told by the likeliest value of their alias, given the quasi-identifiers of its rows.

    The attacker knows from other people how often each value goes with each quasi-identifier.
    """
    table, truth = release.table, {cell: values[0] for cell, values in release.key.by_name[column].values.items()}
    aliases, values = sorted(truth), sorted(set(truth.values()))
    likely = np.zeros((len(aliases), len(values)))
    for one in release.manifest.layout.quasi:
        known = sorted({*table[one.name].cast(pl.String), *public[one.name]})
        seen, expected = np.zeros((len(aliases), len(known))), np.full((len(values), len(known)), 0.5)
        for frame, rows, counts in ((table, aliases, seen), (public, values, expected)):
            for value, quasi, n in frame.group_by(column, pl.col(one.name).cast(pl.String)).len().iter_rows():
                if value in rows:
                    counts[rows.index(value), known.index(quasi)] += n
        likely += seen @ np.log(expected / expected.sum(axis=1, keepdims=True)).T
    guess = dict(zip(aliases, np.array(values)[likely.argmax(axis=1)], strict=True))
    return np.mean([guess[cell] == truth[cell] for cell in table[column]])


def test_quasi_identifiers_tell_which_aliases_belong_together():
    """Adult: 860 flat aliases of 13 occupations, each in 28 to 42 rows; what other people do is public."""
    names = [name for name in realdata.ADULT_QUASI if name != "occupation"]
    quasi = {name: shoal.Numeric() if name == "age" else shoal.Nominal() for name in names}
    schema = shoal.Schema(quasi=quasi, sensitive={"occupation": shoal.Nominal()}, rest="drop")
    people = realdata.adult().filter(pl.len().over("occupation") >= 100)
    aliases = shoal.Aliases("occupation", default=2, flatten=1.5)
    release = shoal.anonymize(people, schema, shoal.Personal(), publish=aliases, seed=1 << 80)
    told = by_profile(release, "occupation", realdata.adult_test())
    assert told > 0.94
    assert people["occupation"].value_counts()["count"].max() / people.height < 0.14


# -- linkage ---------------------------------------------------------------------------------------------------------


def found_alone(release):
    """The share of people whose quasi-identifiers nobody else shows."""
    sizes = release.table.group_by(release.manifest.layout.cell_columns).len()["len"]
    return (sizes == 1).sum() / release.manifest.rows.published


def test_clear_quasi_identifiers_find_people_one_by_one():
    release = published()
    assert found_alone(release) > 0.9
    assert release.manifest.measures["prosecutor_max"] == 1
    assert "no k-anonymity" in release.verify().reading


def test_on_top_of_groups_nobody_is_found_alone():
    release = published(shoal.Mondrian(k=5))
    assert found_alone(release) == 0
    assert release.verify().k >= 5


def test_two_tables_with_one_seed_share_no_alias():
    """Else what is known of one release tells the other."""
    schema, aliases = SCHEMA, shoal.Aliases("disease", default=2)
    hiding = [aliases, shoal.Grades("income", quantiles=1, variant="random")]
    one, other = (
        shoal.anonymize(frame, schema, shoal.Personal(), publish=hiding, seed=1 << 100)
        for frame in (PEOPLE[: N // 2], PEOPLE[N // 2 :])
    )
    assert not set(one.table["disease"]) & set(other.table["disease"])


def test_a_seed_that_can_be_tried_out_warns():
    with pytest.warns(shoal.ShoalWarning, match="who tries all of them finds the key"):
        published(seed=20240915)

"""Membership disclosure: worked examples, a slow twin for every way of publishing, and the estimate."""

from __future__ import annotations

import itertools
import tracemalloc
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Nominal, Numeric, ParameterError
from shoal.measure.candidates import of_release, products_of_buckets, products_of_slices
from shoal.measure.covered import products_of_cells
from shoal.measure.membership import Membership, for_figures, membership
from shoal.measure.products import Component, Lists, Products
from shoal.methods.groups import Groups
from shoal.publish.generalize import Generalize
from shoal.release.shapes import SHAPES
from shoal.table.prepare import prepare
from shoal.testing import KIND_MIXES, tables
from support.pairwise import examples
from support.series_example import FIRST, TWO
from support.series_example import SCHEMA as YEARLY
from support.series_example import table as series_table
from support.slicing_example import ROWS, SCHEMA
from twins import membership as twin

BUCKETS = pl.Series([1, 1, 1, 1, 2, 2, 2, 2])


def products(classes, originals):
    """Products from one set per class and component."""
    n_components = len(classes[0])
    components = []
    for j in range(n_components):
        pairs = np.array([(b, value) for b, one in enumerate(classes) for value in one[j]], dtype=np.int64)
        sets, numbers = pairs.reshape(-1, 2).T
        components.append(Component.of_pairs(sets, numbers, np.arange(len(classes))))
    return Products(tuple(components), np.array(sorted(originals), dtype=np.int64).reshape(-1, n_components))


def sliced(columns, buckets=BUCKETS, rows=ROWS):
    return products_of_slices(buckets, [rows.select(names) for names in columns], rows)


def counted(found):
    assert found.exact
    assert found.error == 0
    return found.candidates, found.original_matches, found.fake_matches


class TestWorkedExample:
    def test_two_slices(self):
        found = membership(sliced([["Age", "Sex"], ["Zip", "Disease"]]))
        assert (found.originals, found.candidates, found.fakes) == (8, 28, 20)
        assert found.ratio == 2.5
        assert found.chance == pytest.approx(8 / 28)
        assert (found.original_matches, found.fake_matches) == ({1: 8}, {1: 20})

    def test_one_attribute_per_slice(self):
        found = membership(sliced([["Age"], ["Sex"], ["Zip"], ["Disease"]]))
        assert (found.originals, found.candidates, found.fakes) == (8, 72, 64)

    def test_everything_in_one_slice_has_no_fakes(self):
        found = membership(sliced([ROWS.columns]))
        assert (found.originals, found.candidates, found.fakes, found.chance) == (8, 8, 0, 1.0)
        assert found.fake_matches == {}

    def test_bucketization(self):
        """Four lines of quasi-identifiers by three diseases, twice."""
        marked = ROWS.with_columns(BUCKETS.alias("bucket"))
        counts = marked.group_by("bucket", "Disease").agg(pl.len().alias("count"))
        found = membership(products_of_buckets(marked.select("bucket", "Age", "Sex", "Zip"), counts, ROWS))
        assert (found.originals, found.candidates, found.fakes) == (8, 24, 16)

    def test_generalisation(self):
        """Rows 1, 2, 3, 5: ages 22 to 54 are four, two sexes, all four zips, two diseases: 64. The others: ages 52 to
        64 are four, two sexes, three zips, three diseases: 72. Both: two ages, two sexes, three zips, dyspepsia: 12."""
        table = prepare(ROWS, SCHEMA)
        shown = Generalize().publish(table, Groups(np.array([0, 0, 0, 1, 0, 1, 1, 1])))
        found = membership(products_of_cells(shown.tables["table"], shown.layout, table.frame))
        assert (found.originals, found.candidates, found.fakes) == (8, 64 + 72 - 12, 116)
        assert (found.original_matches, found.fake_matches) == ({1: 8}, {1: 104, 2: 12})

    def test_overlapping_slices_agree_on_what_they_share(self):
        """Disease in both: bucket 1 has one, two and one with one, two and one; bucket 2 one, one and one with one, two
        and one."""
        found = membership(sliced([["Age", "Sex", "Disease"], ["Zip", "Disease"]]))
        assert (found.originals, found.candidates) == (8, (1 * 1 + 2 * 2 + 1 * 1) + (1 * 1 + 1 * 2 + 1 * 1))

    def test_as_a_frame(self):
        table = prepare(ROWS, SCHEMA)
        shown = Generalize().publish(table, Groups(np.array([0, 0, 0, 1, 0, 1, 1, 1])))
        frame = membership(products_of_cells(shown.tables["table"], shown.layout, table.frame)).to_frame()
        assert frame.rows() == [(1, 8, 104.0), (2, 0, 12.0)]
        assert frame.columns == ["matching_classes", "originals", "fakes"]


@st.composite
def class_sets(draw, smallest=0):
    """A few classes of small sets, and originals of which some are in no class."""
    n_components, n_values = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    sets = st.sets(st.integers(0, n_values - 1), min_size=smallest)
    one = st.tuples(*[sets] * n_components)
    row = st.tuples(*[st.integers(-1, n_values)] * n_components)
    return draw(st.lists(one, min_size=1, max_size=7)), draw(st.sets(row, max_size=12))


class TestCounting:
    @given(class_sets())
    @settings(max_examples=examples(60))
    def test_like_the_twin(self, case):
        classes, originals = case
        found = membership(products(classes, originals))
        assert counted(found) == twin.figures(twin.of_products(classes), originals)
        assert found.fakes == sum(found.fake_matches.values())

    @pytest.mark.parametrize("listed", [0, 1])
    @given(case=class_sets())
    @settings(max_examples=examples(40))
    def test_coarse_lists_change_nothing(self, listed, case):
        """Without room, all classes are one list; with little, neighbouring values share theirs."""
        classes, originals = case
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("shoal.measure.membership.LISTED", listed)
            patch.setattr("shoal.measure.membership.FEWEST", 0)
            found = membership(products(classes, originals))
        assert counted(found) == twin.figures(twin.of_products(classes), originals)

    def test_lists_are_as_fine_as_the_room(self):
        """Sets of 64 and 66 values; two values share a list: 32 + 33 entries; four do: 16 + 17."""
        wide = Component(np.array([0, 0]), np.array([1, 2]), np.array([0, 70]), np.array([63, 71]))
        assert [Lists.of(wide, most).shift for most in (200, 130, 129, 65, 64, 33, 2)] == [0, 0, 1, 1, 2, 2, 63]
        assert Lists.of(wide, 64).listed.tolist() == [0, 1] * 16 + [1]

    def test_any_number_of_threads(self, n_threads):
        rng = np.random.default_rng(5)
        classes = [[set(rng.integers(0, 9, 4).tolist()) for _ in range(4)] for _ in range(40)]
        product = products(classes, {tuple(rng.integers(0, 9, 4).tolist()) for _ in range(50)})
        found = []
        for threads in (1, 2):
            n_threads(threads)
            found.append((membership(product), membership(product, most=0, draws=1000)))
        assert found[0] == found[1]

    def test_no_class_holds_anything(self):
        found = membership(products([({1}, set())], {(1, 1), (2, 2)}))
        assert (found.originals, found.candidates, found.chance, found.original_matches) == (2, 0, 0.0, {0: 2})


class TestEstimate:
    @given(class_sets(smallest=1), st.integers(0, 10**6))
    @settings(max_examples=examples(60))
    def test_within_five_standard_errors(self, case, seed):
        classes, originals = case
        found = membership(products(classes, originals), most=0, draws=2000, seed=seed)
        candidates, of_originals, of_fakes = twin.figures(twin.of_products(classes), originals)
        assert not found.exact
        assert found.original_matches == of_originals
        assert abs(found.candidates - candidates) <= 5 * found.error + 1e-9
        assert found.candidates - found.fakes == pytest.approx(sum(n for m, n in of_originals.items() if m))
        assert sum(found.fake_matches.values()) == pytest.approx(found.fakes)
        assert set(found.fake_matches) <= set(of_fakes) | {1}

    def test_unbiased(self):
        """The mean of many estimates is nearer than any of them: 300 seeds, error of the mean a seventeenth."""
        classes = [({0, 1, 2}, {0, 1}), ({1, 2, 3}, {1, 2}), ({2}, {0, 1, 2, 3})]
        product, truth = products(classes, {(2, 1), (9, 9)}), membership(products(classes, {(2, 1), (9, 9)}))
        found = [membership(product, most=0, draws=200, seed=seed) for seed in range(300)]
        errors = np.array([one.error for one in found])
        assert abs(np.mean([one.fakes for one in found]) - truth.fakes) <= 4 * errors.mean() / np.sqrt(300)
        assert np.std([one.fakes for one in found]) <= 1.2 * errors.mean()

    def test_a_seed_gives_the_same_figures(self):
        product = products([({0, 1, 2}, {0, 1}), ({1, 2, 3}, {1, 2})], {(2, 1)})
        one, two, other = (membership(product, most=0, draws=500, seed=seed) for seed in (3, 3, 4))
        assert one == two
        assert one != other

    def test_what_no_draw_meets_is_not_called_certain(self):
        """One fake among many originals: where it is not drawn, the error says that it may be there."""
        originals = {(value,) for value in range(1, 1000)}
        found = membership(products([(set(range(1000)),)], originals), most=0, draws=2, seed=1)
        assert (found.fakes, found.error) == (1.0, 1.0)

    def test_no_fakes(self):
        found = membership(products([({0, 1},), ({1},)], {(0,), (1,)}), most=0)
        assert (found.candidates, found.fakes, found.error, found.fake_matches) == (2, 0, 0, {})

    def test_originals_drawn_for_figures(self):
        """Two classes that share a third of their tuples; half of the originals are in one, a sixth in both."""
        classes = [(set(range(300)), set(range(10))), (set(range(200, 500)), set(range(10)))]
        product = products(classes, {(value, value % 10) for value in range(-100, 500)})
        counted = membership(product)
        same = for_figures(product, most=0, draws=600, seed=1)
        assert same == membership(product, most=0, draws=600, seed=1), "there are no more originals than draws"
        found = [for_figures(product, most=0, draws=400, seed=seed) for seed in range(40)]
        fakes = np.array([one.fakes for one in found])
        assert {one.originals for one in found} == {600}
        assert len({one.original_matches[2] for one in found}) > 1
        assert fakes.mean() == pytest.approx(counted.fakes, abs=4 * fakes.std() / np.sqrt(40))
        assert found[0].error == pytest.approx(fakes.std(), rel=0.5)
        matched = [one.original_matches[1] for one in found]
        assert np.mean(matched) == pytest.approx(counted.original_matches[1], rel=0.03)

    def test_more_tuples_than_whole_numbers_can_count(self):
        """Two thousand classes of fifteen components; no two share a value of the first, so that all is known."""
        product = wide_products(2000)
        found = membership(product, draws=20_000)
        assert product.volume > 2**64
        assert found.candidates == pytest.approx(product.volume, rel=1e-3)
        assert found.original_matches == {1: 2000}
        assert set(found.fake_matches) == {1}

    def test_memory_grows_with_the_rows(self):
        peaks = []
        for n_classes in (2000, 4000):
            product = wide_products(n_classes)
            tracemalloc.start()
            membership(product, draws=1000)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        assert peaks[1] < 2.3 * peaks[0]

    def test_more_tuples_than_floats_can_count(self):
        wide = Component(np.array([0]), np.array([1]), np.array([0]), np.array([10**6 - 1]))
        found = membership(Products((wide,) * 60, np.zeros((1, 60), dtype=np.int64)), draws=10)
        assert (found.candidates, found.error, found.ratio, found.chance) == (np.inf, np.inf, np.inf, 0.0)


def wide_products(n_classes):
    """Classes of 25 rows and fifteen components, no value of the first in two of them; one original in each."""
    rng, sets, classes = np.random.default_rng(1), np.repeat(np.arange(n_classes), 25), np.arange(n_classes)
    columns = [np.arange(len(sets)), *rng.integers(0, 10**6, (14, len(sets)))]
    parts = tuple(Component.of_pairs(sets, column, classes) for column in columns)
    return Products(parts, np.stack([part.at(classes, part.sizes - 1) for part in parts], axis=1))


VALUES = {"a": st.integers(0, 2), "b": st.sampled_from(["x", "y", None]), "c": st.sampled_from([0.5, 1.0, None])}


@st.composite
def slicings(draw):
    """Rows, their buckets, and which columns are in which slice, some in several."""
    n_rows = draw(st.integers(1, 9))
    row = st.fixed_dictionaries({**VALUES, "d": st.integers(0, 3)})
    frame = pl.DataFrame(
        draw(st.lists(row, min_size=n_rows, max_size=n_rows)),
        schema={"a": pl.Int64, "b": pl.String, "c": pl.Float64, "d": pl.Int64},
    )
    buckets = draw(st.lists(st.integers(1, 3), min_size=n_rows, max_size=n_rows))
    home = {name: draw(st.sets(st.integers(0, 2), min_size=1, max_size=2)) for name in frame.columns}
    columns = [[name for name in frame.columns if place in home[name]] for place in range(3)]
    return frame, buckets, [names for names in columns if names]


class TestSlices:
    @given(slicings())
    @settings(max_examples=examples(50))
    def test_like_the_twin(self, case):
        frame, buckets, columns = case
        names = list(dict.fromkeys(name for one in columns for name in one))
        found = membership(products_of_slices(pl.Series(buckets), [frame.select(one) for one in columns], frame))
        classes = twin.of_slices(buckets, [(one, frame.select(one).rows()) for one in columns])
        assert counted(found) == twin.figures(classes, frame.select(names).rows())

    @given(slicings(), st.randoms(use_true_random=False))
    @settings(max_examples=examples(40))
    def test_files_in_any_order_and_as_text(self, case, random):
        """Every slice shuffled by itself, each value as a CSV file writes it."""
        frame, buckets, columns = case
        wide = products_of_slices(pl.Series(buckets), [frame.select(one) for one in columns], frame)
        bucket, files = [], []
        for names in columns:
            order = random.sample(range(frame.height), frame.height)
            bucket.append(pl.Series([str(buckets[place]) for place in order]))
            files.append(frame.select(pl.col(names).cast(pl.String).fill_null(""))[order])
        assert membership(products_of_slices(bucket, files, frame)) == membership(wide)

    def test_rows_that_were_not_published(self):
        found = membership(sliced([["Age", "Sex"], ["Zip", "Disease"]], BUCKETS[:4], ROWS[:4]))
        part = products_of_slices(BUCKETS[:4], [ROWS[:4].select("Age", "Sex"), ROWS[:4].select("Zip", "Disease")], ROWS)
        whole = membership(part)
        assert (whole.originals, whole.original_matches) == (8, {0: 4, 1: 4})
        assert (whole.candidates, whole.fakes, whole.chance) == (found.candidates, found.fakes, found.chance)

    def test_types_that_only_look_different(self):
        days = pl.Series("day", ["2020-01-01", "2021-05-05"]).str.to_date()
        original = pl.DataFrame([days, pl.Series("grade", ["a", ""]), pl.Series("yes", [True, False])])
        shown = [
            pl.DataFrame({"day": ["2020-01-01", "2021-05-05"]}),
            pl.DataFrame({"grade": pl.Series(["a", None], dtype=pl.Categorical)}),
            pl.DataFrame({"yes": ["true", "false"]}),
        ]
        found = membership(products_of_slices(pl.Series(["1", "1"]), shown, original))
        assert counted(found) == (8, {1: 2}, {1: 6})

    def test_numbers_that_only_look_alike_as_floats(self):
        original = pl.DataFrame({"a": [2**53, 2**53 + 1]})
        found = membership(
            products_of_slices(pl.Series([1, 2]), [pl.DataFrame({"a": original["a"].cast(str)})], original)
        )
        assert counted(found) == (2, {1: 2}, {})

    def test_wrong_slices_are_named_all_at_once(self):
        with pytest.raises(ParameterError, match=r"(?s)slice 1: has 1 column and 8 rows for 2 .*slice 2: .* lacks: b"):
            products_of_slices([BUCKETS[:2], BUCKETS], [ROWS.select("Age"), ROWS.select(b="Age")], ROWS)
        with pytest.raises(ParameterError, match="got 1 series of buckets for 2 slices"):
            products_of_slices([BUCKETS], [ROWS.select("Age"), ROWS.select("Sex")], ROWS)
        with pytest.raises(ParameterError, match="table sensitive: has no column 'bucket'"):
            products_of_buckets(ROWS.with_columns(bucket=1), ROWS, ROWS)

    def test_overlaps_beyond_bounds_are_refused(self, monkeypatch):
        monkeypatch.setattr("shoal.measure.candidates.MOST_PARTS", 5)
        with pytest.raises(ParameterError, match="the slices share 'Disease' and divide the buckets into 6 parts"):
            sliced([["Age", "Sex", "Disease"], ["Zip", "Disease"]])


class TestCells:
    @pytest.mark.parametrize("mix", KIND_MIXES)
    @given(data=st.data())
    @settings(max_examples=examples(8))
    def test_like_the_twin(self, mix, data):
        case = data.draw(tables(mix, min_rows=2, max_rows=8))
        table = prepare(case.frame, case.schema)
        chosen = data.draw(st.lists(st.integers(0, 2), min_size=table.n_rows, max_size=table.n_rows))
        labels = np.unique(chosen, return_inverse=True)[1].astype(np.int64) - data.draw(st.integers(0, 1))
        if labels.max() < 0:
            labels += 1
        sets = data.draw(st.booleans())
        hierarchies = {name: table.hierarchy(name) for name in table.quasi}
        classes = twin.of_groups(table.frame, table.quasi, ["disease", "note"], labels.tolist(), hierarchies, sets=sets)
        expected = twin.figures(classes, table.frame.select(*table.quasi, "disease", "note").rows())
        for shape in ("text", "typed", "classes"):
            shown = Generalize(shape=shape, sets=sets).publish(table, Groups(labels))
            manifest = described(shown.layout, table)
            found = membership(of_release(shown.tables, manifest, case.frame, schema=case.schema))
            assert counted(found) == expected, shape


def described(layout, table):
    """As much of a manifest as is looked at."""
    return SimpleNamespace(
        layout=layout, rows=SimpleNamespace(published=table.n_input - 1, left_out=1),
        recipe=SimpleNamespace(missing="keep", normalise=False),
    )  # fmt: skip


class TestReleases:
    frame = pl.DataFrame(
        {
            "age": [21, 22, 22, 35, None, 36, 60, 61, 64, 70],
            "town": ["Ulm", "Ulm", "Bern", "Bern", "Graz", "Graz", "Linz", "Linz", "Ulm", "Bern"],
            "disease": ["flu", "ulcer", "flu", "flu", "colic", None, "flu", "flu", "ulcer", "ulcer"],
            "cost": [1.5, 2.0, 2.5, 2.5, 8.0, 8.0, 1.5, 2.0, 2.0, 1.5],
        }
    )
    tree = shoal.Hierarchy.from_tree({"German": ["Ulm"], "Alpine": ["Bern", "Graz", "Linz"]}, root="any")
    schema = shoal.Schema(
        quasi={"age": Numeric(), "town": Nominal(tree)}, sensitive={"disease": Nominal()}, neutral=["cost"]
    )  # fmt: skip

    @pytest.mark.parametrize("files", ["csv", "parquet"])
    @pytest.mark.parametrize("shape", ["text", "typed", "classes"])
    def test_from_files_as_from_memory(self, tmp_path, shape, files):
        release = shoal.anonymize(self.frame, self.schema, shoal.Mondrian(k=2), publish=Generalize(shape=shape))
        back = shoal.read_release(release.write(tmp_path / "out", format=files))
        found = membership(of_release(release.frames, release.manifest, self.frame, schema=self.schema))
        texts = self.frame.cast(pl.String)
        assert membership(of_release(back.frames, back.manifest, texts, schema=self.schema)) == found
        hierarchies = {"age": None, "town": self.tree}
        classes = twin.of_groups(
            self.frame, self.schema.quasi, ["disease", "cost"], release.labels.tolist(), hierarchies, sets=False
        )
        assert counted(found) == twin.figures(classes, self.frame.rows())

    def test_a_repeated_release(self):
        """Age 20 with two values, one of them a counterfeit's; ages 40 and 60 with two others."""
        one = shoal.republish(FIRST, YEARLY, TWO, seed=3)
        second = FIRST.filter(pl.col("name").is_in(["a", "c"])).vstack(series_table(e=(60, "bronchitis")))
        two = shoal.republish(second, YEARLY, TWO, previous=one.release, state=one.state, seed=3).release
        assert two.manifest.rows.counterfeits == 1
        found = membership(of_release(two.frames, two.manifest, second))
        assert counted(found) == (1 * 2 + 2 * 2, {1: 3}, {1: 3})

    def test_trees_need_the_schema(self):
        release = shoal.anonymize(self.frame, self.schema, shoal.Mondrian(k=10))
        with pytest.raises(ParameterError, match=r"column 'town' has values with no known place.*give the schema"):
            of_release(release.frames, release.manifest, self.frame)
        assert of_release(release.frames, release.manifest, self.frame, schema=self.schema).n_classes == 1

    def test_spellings_are_merged_as_they_were(self):
        """Original and release are compared by the spelling that is published."""
        frame = self.frame.with_columns(disease=pl.col("disease").replace({"flu": "Flu "}))
        frame[0, "disease"] = "FLU"
        schema = shoal.Schema(quasi=self.schema.quasi, sensitive={"disease": Nominal()}, rest="drop")
        plain, merged = (
            shoal.anonymize(one, schema, shoal.Mondrian(k=2), normalise=normalise)
            for one, normalise in ((self.frame, False), (frame, True))
        )
        assert merged.receipt.merged == {"disease": 1}
        of_plain = membership(of_release(plain.frames, plain.manifest, self.frame, schema=schema))
        of_merged = membership(of_release(merged.frames, merged.manifest, frame, schema=schema))
        assert counted(of_merged) == counted(of_plain)
        assert 0 not in of_merged.original_matches

    def test_rules_are_grown_again(self):
        kinds = {"age": Numeric(shoal.Quantiles(parts=(4, 2))), "town": Nominal()}
        schema = shoal.Schema(quasi=kinds, sensitive=["disease"], rest="neutral")
        release = shoal.anonymize(self.frame, schema, shoal.Mondrian(k=3))
        found = membership(of_release(release.frames, release.manifest, self.frame, schema=schema))
        assert set(found.original_matches) >= {1}
        assert 0 not in found.original_matches

    @pytest.mark.parametrize("publish", [shoal.Aggregate(), shoal.Centres()])
    def test_averages_say_nothing_about_values(self, publish):
        frame = self.frame.select("age", "disease")
        schema = shoal.Schema(quasi={"age": Numeric()}, sensitive=["disease"])
        release = shoal.anonymize(frame, schema, shoal.Mdav(k=2), publish=publish)
        with pytest.raises(ParameterError, match="does not say which values its rows may have had"):
            of_release(release.frames, release.manifest, frame)

    def test_another_input_is_refused(self):
        release = shoal.anonymize(self.frame, self.schema, shoal.Mondrian(k=2))
        with pytest.raises(
            ParameterError, match=r"(?s)has 9 rows, but the release was made from 10.*has no column cost"
        ):
            of_release(release.frames, release.manifest, self.frame[:9].drop("cost"))

    def test_an_input_with_other_categories_is_refused_without_naming_them(self):
        frame = self.frame.select(grade=pl.col("town"))
        schema = shoal.Schema(quasi={"grade": shoal.Ordinal(["Ulm", "Bern", "Graz", "Linz"])})
        release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2))
        other = frame.with_columns(grade=pl.col("grade").replace("Graz", "Secret"))
        for known, raised, message in (
            (None, ParameterError, "column 'grade' has values with no known place in its order; give the schema with"),
            (schema, shoal.SchemaError, "column 'grade': 2 cells are not in its order, at rows 5, 6"),
        ):
            with pytest.raises(raised, match=message) as error:
                of_release(release.frames, release.manifest, other, schema=known)
            assert "Secret" not in str(error.value)

    def test_orders_need_the_schema_where_cells_leave_categories_out(self):
        """Of [Ulm, Linz] the manifest names the ends; what lies between them is not the public's to know."""
        frame = self.frame.select(grade=pl.col("town"))
        schema = shoal.Schema(quasi={"grade": shoal.Ordinal(["Ulm", "Bern", "Graz", "Linz"])})
        release = shoal.anonymize(frame, schema, shoal.Mondrian(k=10))
        assert release.manifest.layout.quasi[0].order == ("Ulm", "Linz")
        with pytest.raises(ParameterError, match=r"column 'grade' has values with no known place.*give the schema"):
            of_release(release.frames, release.manifest, frame)
        found = membership(of_release(release.frames, release.manifest, frame, schema=schema))
        assert counted(found) == (4, {1: 4}, {})


class TestShapesOfBuckets:
    def release(self, shape, slices=()):
        pairs = [SimpleNamespace(attributes=names, columns=shown) for names, shown in slices]
        kinds = {"Age": "numeric", "Sex": "nominal", "Zip": "numeric"}
        quasi = [SimpleNamespace(name=name, kind=kind, form="raw") for name, kind in kinds.items()]
        passed = [SimpleNamespace(name="Disease", role="sensitive", kind="nominal")]
        layout = SimpleNamespace(shape=shape, laid_out=SHAPES[shape], quasi=quasi, passed=passed, slices=pairs)
        return SimpleNamespace(
            layout=layout, rows=SimpleNamespace(published=8, left_out=0), recipe=SimpleNamespace(normalise=False)
        )

    def test_buckets(self):
        shown = ROWS.with_columns(BUCKETS.alias("bucket"))
        counts = shown.group_by("bucket", "Disease").agg(pl.len().alias("count"))
        tables = {"table": shown.drop("Disease"), "sensitive": counts}
        assert membership(of_release(tables, self.release("buckets"), ROWS)).candidates == 24

    def test_slices_in_files_and_in_one_table(self):
        slices = [(("Age", "Sex"), ("Age", "Sex")), (("Zip", "Disease"), ("Zip", "Disease"))]
        wide = ROWS.with_columns(BUCKETS.alias("bucket"))
        files = {
            "slice_1": wide.select("bucket", "Age", "Sex"),
            "slice_2": wide.select("bucket", "Zip", "Disease")[::-1],
        }
        for shown in ({"table": wide}, files):
            assert membership(of_release(shown, self.release("slices", slices), ROWS)).candidates == 28

    def test_an_attribute_shown_twice(self):
        slices = [(("Age", "Sex", "Disease"), ("Age", "Sex", "Disease")), (("Zip", "Disease"), ("Zip", "Disease_2"))]
        wide = ROWS.with_columns(BUCKETS.alias("bucket"), Disease_2=pl.col("Disease"))
        assert membership(of_release({"table": wide}, self.release("slices", slices), ROWS)).candidates == 10


class TestGeneralisedSlices:
    @pytest.mark.parametrize("mix", KIND_MIXES)
    @given(data=st.data())
    @settings(max_examples=examples(8))
    def test_like_the_twin(self, mix, data):
        """Every row shows the cell of its group in each column; who is in which bucket is another matter."""
        case = data.draw(tables(mix, min_rows=2, max_rows=7))
        table, sets = prepare(case.frame, case.schema), data.draw(st.booleans())
        numbers = st.lists(st.integers(0, 2), min_size=table.n_rows, max_size=table.n_rows)
        labels = np.unique(data.draw(numbers), return_inverse=True)[1].astype(np.int64)
        buckets, home = data.draw(numbers), {name: data.draw(st.integers(0, 1)) for name in [*table.quasi, "disease"]}
        shown = Generalize(sets=sets).publish(table, Groups(labels))
        slices = [[name for name in home if home[name] == place] for place in (0, 1) if place in home.values()]
        layout = SimpleNamespace(
            shape="slices", quasi=shown.layout.quasi, passed=shown.layout.passed,
            slices=[SimpleNamespace(attributes=names, columns=names) for names in slices],
        )  # fmt: skip
        wide = {"table": shown.tables["table"].with_columns(pl.Series("bucket", buckets))}
        found = membership(of_release(wide, described(layout, table), case.frame, schema=case.schema))
        covers = {"disease": [{value} for value in table.frame["disease"]]}
        for name, kind in table.quasi.items():
            values, hierarchy = table.frame[name].to_list(), table.hierarchy(name)
            groups = [[value for value, at in zip(values, labels, strict=True) if at == label] for label in labels]
            covers[name] = [twin.covered(group, kind, hierarchy, set(values), sets=sets) for group in groups]
        classes = []
        for bucket in set(buckets):
            rows = [row for row, at in enumerate(buckets) if at == bucket]
            sliced_ = [
                {t for row in rows for t in itertools.product(*(covers[name][row] for name in one))} for one in slices
            ]
            classes.append({sum(parts, ()) for parts in itertools.product(*sliced_)})
        originals = table.frame.select(name for one in slices for name in one).rows()
        assert counted(found) == twin.figures(classes, originals)

    def test_cells_that_cover_too_much_are_refused(self, monkeypatch):
        monkeypatch.setattr("shoal.measure.covered.MOST_VALUES", 30)
        table = prepare(ROWS, SCHEMA)
        shown = Generalize().publish(table, Groups(np.zeros(8, dtype=np.int64)))
        slices = [SimpleNamespace(attributes=ROWS.columns, columns=ROWS.columns)]
        layout = SimpleNamespace(shape="slices", quasi=shown.layout.quasi, passed=shown.layout.passed, slices=slices)
        wide = {"table": shown.tables["table"].with_columns(bucket=1)}
        with pytest.raises(ParameterError, match=r"the cells of 'Sex' cover 48 combinations, more than 30; generalise"):
            of_release(wide, described(layout, table), ROWS)


@pytest.mark.parametrize(("name", "value"), [("most", -1), ("draws", 1), ("seed", -1), ("draws", 2.5)])
def test_wrong_parameters_are_refused(name, value):
    with pytest.raises(ParameterError, match=rf"membership\({name}=\): needs a whole number"):
        membership(products([({1},)], {(1,)}), **{name: value})


def test_figures_of_nothing():
    nothing = Membership(0, 0, 0, exact=True, error=0.0, original_matches={}, fake_matches={})
    assert (nothing.ratio, nothing.chance, nothing.to_frame().height) == (0.0, 0.0, 0)


def test_rows_that_a_missing_cell_kept_out_have_values_of_their_own():
    people, schema = shoal.sample.people(120, seed=1), shoal.sample.schema()
    release = shoal.anonymize(people, schema, shoal.Mondrian(k=3), seed=0, missing="drop")
    assert release.manifest.rows.shown < 120
    assert release.membership(people, schema=schema).original_matches[0]
    assert release.pair_errors(people, schema=schema)
    assert release.attack(people, "linking", schema=schema)["linking"].n == 120

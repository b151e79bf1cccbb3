"""Schemas: roles and kinds, clashes and misspelt columns, and what becomes of columns named nowhere."""

from __future__ import annotations

import pytest

from shoal import Flat, Hierarchy, Nominal, Numeric, Ordinal, Schema, SchemaError
from shoal.errors import Problems
from shoal.table.schema import KINDS, Column, kind_name

FULL = Schema(
    identifying=["name"],
    quasi={"age": Numeric(), "grade": Ordinal(["low", "high"])},
    sensitive={"disease": Nominal()},
    neutral=["ward"],
    choice="wish",
)


def fitted(schema, names):
    problems = Problems()
    found = schema.fit(names, problems)
    problems.raise_if_any(SchemaError)
    return found


class TestRoles:
    def test_every_column_has_its_role_and_kind(self):
        assert list(FULL) == [
            Column("name", "identifying"),
            Column("age", "quasi", Numeric()),
            Column("grade", "quasi", Ordinal(["low", "high"])),
            Column("disease", "sensitive", Nominal()),
            Column("ward", "neutral"),
            Column("wish", "choice"),
        ]
        assert FULL.columns["disease"] == Column("disease", "sensitive", Nominal())

    def test_lists_and_mappings_say_the_same(self):
        mapped = Schema(
            identifying={"name": None},
            quasi={"age": Numeric()},
            sensitive={"disease": None},
            neutral={"ward": None, "note": None},
        )
        listed = Schema(
            identifying=("name",), quasi={"age": Numeric()}, sensitive=["disease"], neutral=("ward", "note")
        )
        assert mapped == listed

    def test_a_mapping_changed_later_does_not_change_the_schema(self):
        kinds = {"age": Numeric()}
        schema = Schema(quasi=kinds)
        kinds["sex"] = Nominal()
        assert schema.roles == {"age": "quasi"}

    @pytest.mark.parametrize(
        ("roles", "message"),
        [
            ({"identifying": ["age"]}, "column 'age': has two roles: identifying and quasi; keep one"),
            ({"sensitive": ["a", "a"]}, "column 'a': has two roles: sensitive and sensitive"),
            ({"sensitive": ["a"], "neutral": {"a": None}}, "column 'a': has two roles: sensitive and neutral"),
            ({"choice": "age"}, "column 'age': has two roles: quasi and choice"),
            ({"quasi": {}}, "schema: has no quasi-identifier; name at least one"),
            ({"quasi": ["age"]}, r"schema.quasi: needs a kind for every column; write quasi=\{'age': shoal.Numeric"),
            ({"quasi": ["age"]}, r"schema.quasi: .*, or begin with .* shoal.profile\(table\).to_schema\(\)"),
            ({"quasi": {0: Numeric()}}, "schema.quasi: needs column names that are texts; write them so, '0' for 0"),
            ({"quasi": {"age": None}}, "column 'age': has no kind; use shoal.Numeric"),
            ({"quasi": {"age": Numeric}}, "column 'age': has no kind, but the class Numeric itself; use shoal.Numeric"),
            ({"sensitive": {"disease": "nominal"}}, "column 'disease': has no kind, but str; use shoal.Numeric"),
            ({"quasi": "age"}, "schema.quasi: needs a list or a mapping of column names, got one text"),
            ({"neutral": 3}, "schema.neutral: needs a list or a mapping of column names, got int"),
            ({"identifying": "name"}, "schema.identifying: needs a list or a mapping"),
            ({"neutral": [3]}, "schema.neutral: needs column names that are texts"),
            ({"quasi": {3: Numeric()}}, "schema.quasi: needs column names that are texts"),
            ({"choice": ["a", "b"]}, "schema.choice: needs the name of one column"),
            ({"rest": "keep"}, 'schema.rest: needs "neutral" or "drop"'),
        ],
        ids=str,
    )
    def test_what_is_refused(self, roles, message):
        with pytest.raises(SchemaError, match=f"^{message}"):
            Schema(**{"quasi": {"age": Numeric()}, **roles})

    def test_all_problems_come_in_one_error(self):
        with pytest.raises(SchemaError, match=r"(?s)4 problems:.*identifying.*'a': has no kind.*schema.choice.*rest"):
            Schema(identifying="name", quasi={"a": None}, choice=3, rest="no")
        with pytest.raises(SchemaError, match=r"(?s)3 problems:.*'a': has two.*'b': has two.*no quasi"):
            Schema(identifying=["a", "b"], sensitive=["a"], neutral=["b"])


class TestKinds:
    def test_names(self):
        assert [kind_name(kind) for kind in (Numeric(), Ordinal(["a"]), Nominal(), None)] == [*KINDS, None]

    def test_an_order_is_of_texts(self):
        assert Ordinal([1, 2]).order == ("1", "2")
        assert Ordinal(iter("ab")) == Ordinal(("a", "b"))

    @pytest.mark.parametrize(
        ("order", "message"),
        [
            ("low", "needs a list of categories, got one text"),
            (None, "needs a list of categories, got NoneType"),
            ([], "needs at least one category"),
            (["a", ""], r"none of them empty or '\*'"),
            (["a", "*"], r"none of them empty or '\*'"),
            (["b", "a", "b", "a", 1, "1"], "lists categories more than once: 1, a, b"),
        ],
        ids=str,
    )
    def test_orders_that_are_none(self, order, message):
        with pytest.raises(SchemaError, match=rf"Ordinal\(order=\): .*{message}"):
            Ordinal(order)

    @pytest.mark.parametrize("kind", [Numeric, Nominal, lambda tree: Ordinal(["a"], tree)])
    def test_what_is_no_hierarchy(self, kind):
        for fits in (None, Flat(), Hierarchy.flat("a")):
            assert kind(fits).hierarchy == fits
        for wrong in ("tree.csv", Flat, {"a": "b"}, [("a", "*")]):
            with pytest.raises(
                SchemaError, match=r"\(hierarchy=\): needs a hierarchy or a rule .* got \w+; read a file"
            ):
                kind(wrong)


class TestFit:
    names = ("ward", "age", "grade", "disease", "name", "wish")

    def test_a_table_that_fits(self):
        assert fitted(FULL, self.names) == FULL

    def test_a_column_the_table_lacks_gets_the_near_match_among_those_without_a_role(self):
        message = "column 'age': quasi in the schema, but not in the table; did you mean 'agee'?"
        with pytest.raises(SchemaError, match=message) as caught:
            fitted(FULL, ["ward", "agee", "grade", "disease", "name", "wish"])
        assert [problem.where for problem in caught.value.problems] == ["column 'age'", "schema"]

    def test_a_column_that_is_nowhere_near(self):
        with pytest.raises(
            SchemaError, match=r"'age': quasi in the .*; check the spelling or remove it from the schema"
        ):
            fitted(FULL, self.names[:1] + self.names[2:])

    def test_columns_without_a_role_are_refused_by_default(self):
        with pytest.raises(
            SchemaError, match="columns of the table without a role: zip, x; give each a role, or say rest"
        ):
            fitted(FULL, [*self.names, "zip", "x"])

    @pytest.mark.parametrize("neutral", [["ward"], {"ward": Numeric()}], ids=str)
    def test_the_rest_may_be_neutral(self, neutral):
        schema = Schema(quasi={"age": Numeric()}, neutral=neutral, rest="neutral")
        found = fitted(schema, ["zip", "age", "ward"])
        assert found.roles == {"age": "quasi", "ward": "neutral", "zip": "neutral"}
        assert found.columns["ward"] == schema.columns["ward"]
        assert schema.roles == {"age": "quasi", "ward": "neutral"}, "the schema itself is as it was"

    def test_the_rest_may_be_dropped(self):
        schema = Schema(quasi={"age": Numeric()}, rest="drop")
        assert fitted(schema, ["zip", "age"]).roles == {"age": "quasi"}

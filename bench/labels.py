"""The labelled columns: what a privacy practitioner would say of each column of tables at hand, invented or on disk.

Of tables on disk (`SHOAL_DATA`) only the names of columns and the answers stand here; their cells are read from there.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from codebooks import CODEBOOKS, LOOKED_AT
from data import DATA
from drawn import Draw
from invented import TABLES
from registers import FRESH, SEEN

DIVISOR = 3
"""One column in three is held out: it is scored, and nobody looks at it while the rules are made."""

# A line is: columns | role | kind | hierarchy; answers that are as good are parted by a slash.
ON_DISK: dict[str, tuple[str, str]] = {
    "adult": ("adult/adult.csv.gz", """
        age hours-per-week | quasi | numeric |
        workclass marital-status occupation relationship race sex native-country | quasi | nominal |
        education | quasi | ordinal/nominal |
        education-num | quasi | numeric/ordinal |
        fnlwgt | weight | numeric |
        capital-gain capital-loss | sensitive | numeric |
        income | sensitive | ordinal/nominal |"""),
    "census-income": ("census-income-kdd/census_income_kdd.csv.gz", """
        age weeks_worked_in_year num_persons_worked_for_employer | quasi | numeric/ordinal |
        class_of_worker marital_stat major_industry_code major_occupation_code race | quasi | nominal |
        hispanic_origin sex | quasi | nominal |
        detailed_industry_recode detailed_occupation_recode | quasi | nominal | prefixes/none
        education enroll_in_edu_inst_last_wk full_or_part_time_employment_stat | quasi | nominal/ordinal |
        wage_per_hour capital_gains capital_losses dividends_from_stocks | sensitive | numeric |
        member_of_a_labor_union | sensitive | nominal |
        reason_for_unemployment tax_filer_stat veterans_benefits | quasi/sensitive | nominal |
        region_of_previous_residence state_of_previous_residence | quasi | nominal |
        detailed_household_and_family_stat detailed_household_summary_in_household | quasi | nominal |
        instance_weight | weight | numeric |
        migration_code_change_in_msa migration_code-change_in_reg migration_code-move_within_reg | quasi | nominal |
        live_in_this_house_1_year_ago migration_prev_res_in_sunbelt family_members_under_18 | quasi | nominal |
        country_of_birth_father country_of_birth_mother country_of_birth_self citizenship | quasi | nominal |
        own_business_or_self_employed | quasi | nominal |
        fill_inc_questionnaire_for_veteran's_admin | quasi | nominal |
        year | quasi/neutral | nominal/numeric/ordinal |
        income_gt_50k | sensitive | ordinal/nominal |"""),
    "casc": ("casc/census.csv", """
        AFNLWGT | weight | numeric |
        AGI EMCONTRB FEDTAX PTOTVAL STATETAX TAXINC | sensitive/quasi | numeric |
        POTHVAL INTVAL PEARNVAL FICA WSALVAL ERNVAL | sensitive/quasi | numeric |"""),
    "free1": ("worked-examples/sdcmicro_free1.csv.gz", """
        REGION COMPCODE OCCUCODE | quasi | nominal | prefixes/none
        SEX MARSTAT KINDPERS ETNI PRIOCCU POSLABM POSLABLY POSFACT KINDFACT TENURE FTPTIME | quasi | nominal |
        REGJOBC ADDJOB JOBFIND | quasi | nominal |
        AGE NUMYOUNG NUMOLD | quasi | numeric |
        AGEYOUNG | quasi | numeric/nominal |
        EDUC1 EDUC2 | quasi | nominal/ordinal/numeric |
        RECBEN RECUNBEN RECODBEN RECBILL RECSOSEC RECPENS | sensitive/quasi | nominal |
        WEIGHT | weight | numeric |
        INCOME MONEY ASSETS DEBTS | sensitive | numeric |"""),
    "testdata": ("worked-examples/sdcmicro_testdata.csv", """
        urbrur roof walls water electcon relat sex hhcivil | quasi | nominal |
        age | quasi | numeric |
        expend income savings | sensitive | numeric |
        ori_hid | identifying | |
        sampling_weight | neutral/weight | /numeric | /none
        household_weights | weight | numeric |"""),
    "pums-california": ("worked-examples/pums_california_1000.csv", """
        age | quasi | numeric |
        sex race married | quasi | nominal |
        educ | quasi | ordinal/numeric/nominal |
        income | sensitive | numeric |"""),
    "hospital": ("worked-examples/hospital_extended.csv", """
        name | identifying | |
        age | quasi | numeric |
        gender city | quasi | nominal |
        religion disease | sensitive | nominal |"""),
    "t-closeness": ("worked-examples/arx_test2.csv", """
        ZIPCode | quasi | nominal | prefixes
        Age | quasi | numeric |
        Salary | sensitive | numeric |
        Disease | sensitive | nominal |"""),
}  # fmt: skip
SAMPLE = """
    name | identifying | |
    birth_date | identifying/quasi | /nominal | /dates
    age | quasi | numeric |
    sex occupation marital_status | quasi | nominal |
    postcode | quasi | nominal | prefixes
    education | quasi | ordinal |
    income | sensitive | numeric |
    disease | sensitive | nominal |
    choice | choice | |"""
NARROW = 20_000
"""Rows that are read of a long table: roles hang on shares, not on how many rows there are."""


@dataclass(frozen=True)
class Label:
    """The right answers for one column, each a set of answers that are as good."""

    table: str
    column: str
    role: frozenset[str]
    kind: frozenset[str]
    hierarchy: frozenset[str]

    @property
    def codebook(self) -> bool:
        """Whether the name of the column is that of a public codebook."""
        return self.table in CODEBOOKS

    @property
    def fresh(self) -> bool:
        """Whether the column is of a table that no rule was made for."""
        return self.table in FRESH

    @property
    def held_out(self) -> bool:
        """Whether the column belongs to the third that the rules were made without."""
        if self.table in FRESH:
            return True
        known = self.table in LOOKED_AT or self.table in SEEN
        return not known and zlib.crc32(f"{self.table}/{self.column}".encode()) % DIVISOR == 0


def label(table: str, column: str, role: str, kind: str, hierarchy: str) -> Label:
    """One label, its answers parted by bars or slashes."""
    parts = [frozenset(text.strip().replace("/", "|").split("|")) for text in (role, kind, hierarchy)]
    return Label(table, column, *parts)


def labels_in(table: str, text: str) -> Iterator[Label]:
    """The labels of one table as they are written above; no hierarchy is none."""
    for line in text.strip().splitlines():
        columns, role, kind, hierarchy = (part.strip() for part in line.split("|"))
        for column in columns.split():
            yield label(table, column, role, kind, hierarchy or "none")


def invented(name: str) -> tuple[pl.DataFrame, list[Label]]:
    """An invented table with its labels."""
    rows, make = TABLES[name]
    lines = list(make(Draw(name, rows)))
    frame = pl.DataFrame({column: cells for column, _, _, _, cells in lines}, schema_overrides={}, strict=False)
    return frame, [label(name, *line[:4]) for line in lines]


def on_disk(name: str) -> tuple[pl.DataFrame, list[Label]] | None:
    """A table of `SHOAL_DATA` with its labels; nothing where it is not there."""
    place, text = ON_DISK[name]
    path = DATA / place
    if not path.exists():
        return None
    separator = ";" if "arx" in place else ","
    return pl.read_csv(path, infer_schema=False, separator=separator).head(NARROW), list(labels_in(name, text))


def sample() -> tuple[pl.DataFrame, list[Label]]:
    """The built-in sample with its labels."""
    from shoal.sample import people

    return people(5000, 1), list(labels_in("sample", SAMPLE))


def everything() -> Iterator[tuple[pl.DataFrame, list[Label]]]:
    """All labelled tables that are at hand."""
    yield sample()
    for name in TABLES:
        yield invented(name)
    for name in ON_DISK:
        found = on_disk(name)
        if found is not None:
            yield found

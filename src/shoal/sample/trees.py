"""The trees, rules and roles of the sample's columns."""

from __future__ import annotations

from typing import Final

from shoal.table.hierarchy.builders import Dates, Prefixes, Rule
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.schema import Nominal, Numeric, Ordinal, Schema

EDUCATION: Final = {
    "School": ["Primary school", "Lower secondary", "Upper secondary"],
    "Vocational": ["Apprenticeship", "Technical college"],
    "Higher": ["Bachelor", "Master", "Doctorate"],
}
OCCUPATION: Final = {
    "Health and teaching": ["Nurse", "Physician", "Teacher"],
    "Office and technology": ["Accountant", "Clerk", "Engineer", "Programmer"],
    "Trades and transport": ["Electrician", "Carpenter", "Driver"],
    "Services": ["Cook", "Shop assistant", "Cleaner"],
    "Not employed": ["Student", "Jobseeker", "Retired"],
}
# By law, not by household: the separated still have a spouse.
MARITAL_STATUS: Final = {
    "Has a spouse": ["Married", "Civil partnership", "Separated"],
    "Has no spouse": ["Single", "Divorced", "Widowed"],
}
DISEASE: Final = {
    "Long-term illness": {
        "Circulation": ["Hypertension", "Heart failure"],
        "Metabolism": ["Diabetes", "Thyroid disorder"],
        "Joints and back": ["Arthritis", "Back pain"],
        "Tumour": ["Breast cancer", "Lung cancer"],
    },
    "Infection": {
        "Airway infection": ["Influenza", "Pneumonia"],
        "Blood-borne infection": ["HIV infection", "Hepatitis C"],
    },
    "Mental illness": {
        "Mood and anxiety": ["Depression", "Anxiety disorder"],
        "Addiction": ["Alcohol dependence", "Opioid dependence"],
    },
}

EDUCATION_ORDER: Final = tuple(level for levels in EDUCATION.values() for level in levels)
"""The levels of education, lowest first."""


def hierarchies() -> dict[str, Hierarchy | Rule]:
    """Every hierarchy of the sample, by column.

    The trees are concrete; the rules of `postcode` (district, region, province) and `birth_date` grow over whatever
    values a table has. `schema` leaves out two of them: it takes `education` by its order and drops `birth_date`.

    Examples
    --------
    >>> hierarchies()["disease"].path("Hepatitis C")
    ('Hepatitis C', 'Blood-borne infection', 'Infection', '*')
    """
    return {
        "birth_date": Dates(),
        "postcode": Prefixes(keep=(3, 2, 1)),
        "education": Hierarchy.from_tree(EDUCATION, column="education"),
        "occupation": Hierarchy.from_tree(OCCUPATION, column="occupation"),
        "marital_status": Hierarchy.from_tree(MARITAL_STATUS, column="marital_status"),
        "disease": Hierarchy.from_tree(DISEASE, column="disease"),
    }


def schema() -> Schema:
    """Roles and kinds of the sample's columns.

    Examples
    --------
    >>> list(schema().quasi)
    ['age', 'sex', 'postcode', 'education', 'occupation', 'marital_status']
    """
    trees = hierarchies()
    return Schema(
        # The day of birth all but names a person, and says nothing useful that the age does not: it is dropped, and
        # the age is what hides in a group. Publishing both would let the finer of the two undo the coarser.
        identifying=["name", "birth_date"],
        quasi={
            "age": Numeric(),
            "sex": Nominal(),
            "postcode": Nominal(trees["postcode"]),
            "education": Ordinal(EDUCATION_ORDER),
            "occupation": Nominal(trees["occupation"]),
            "marital_status": Nominal(trees["marital_status"]),
        },
        sensitive={"income": Numeric(), "disease": Nominal(trees["disease"])},
        choice="choice",
    )

"""Hierarchies of Adult's categories, and the order of its degrees: our own, so that the file alone is enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shoal.table.hierarchy.tree import Hierarchy

DEGREES = (
    "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college",
    "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
)  # fmt: skip
"""Values of education, lowest first: the order of `education-num`."""
Branches = Mapping[str, Sequence[str]]

_EDUCATION: Mapping[str, Branches] = {
    "School": {
        "Primary school": DEGREES[:4],
        "Secondary school": DEGREES[4:9],
    },
    "After school": {
        "College": DEGREES[9:12],
        "University": DEGREES[12:],
    },
}
_BRANCHES: Mapping[str, Branches] = {
    "workclass": {
        "Government": ("Federal-gov", "Local-gov", "State-gov"),
        "Self-employed": ("Self-emp-inc", "Self-emp-not-inc"),
        "Employed by others": ("Private",),
        "Unpaid": ("Never-worked", "Without-pay"),
    },
    "marital-status": {
        "Married": ("Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent"),
        "Alone": ("Divorced", "Never-married", "Separated", "Widowed"),
    },
    "occupation": {
        "Office": ("Adm-clerical", "Exec-managerial", "Prof-specialty", "Sales", "Tech-support"),
        "Manual": ("Craft-repair", "Farming-fishing", "Handlers-cleaners", "Machine-op-inspct", "Transport-moving"),
        "Services": ("Armed-Forces", "Other-service", "Priv-house-serv", "Protective-serv"),
    },
    "native-country": {
        "Asia": (
            "Cambodia", "China", "Hong", "India", "Iran", "Japan", "Laos", "Philippines", "South", "Taiwan", "Thailand",
            "Vietnam",
        ),  # South is taken for South Korea
        "Europe": (
            "England", "France", "Germany", "Greece", "Holand-Netherlands", "Hungary", "Ireland", "Italy", "Poland",
            "Portugal", "Scotland", "Yugoslavia",
        ),
        "North America": (
            "Canada", "Cuba", "Dominican-Republic", "El-Salvador", "Guatemala", "Haiti", "Honduras", "Jamaica",
            "Mexico", "Nicaragua", "Outlying-US(Guam-USVI-etc)", "Puerto-Rico", "Trinadad&Tobago", "United-States",
        ),
        "South America": ("Columbia", "Ecuador", "Peru"),
    },
}  # fmt: skip
_FLAT: Mapping[str, Sequence[str]] = {
    "race": ("Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"),
    "relationship": ("Husband", "Not-in-family", "Other-relative", "Own-child", "Unmarried", "Wife"),
    "sex": ("Female", "Male"),
    "income": ("<=50K", ">50K"),
}


def paths_of(column: str) -> list[tuple[str, ...]]:
    """The way of every value of a category of Adult up to the root."""
    if column in _FLAT:
        return [(value, "*") for value in _FLAT[column]]
    if column in _BRANCHES:
        return [(value, branch, "*") for branch, values in _BRANCHES[column].items() for value in values]
    return [
        (value, inner, outer, "*")
        for outer, branches in _EDUCATION.items()
        for inner, values in branches.items()
        for value in values
    ]


def tree_of(column: str) -> Hierarchy:
    """The hierarchy of a category of Adult.

    >>> tree_of("education").lowest_common(["Bachelors", "Doctorate"])
    'University'
    """
    return Hierarchy(paths_of(column), column=column)

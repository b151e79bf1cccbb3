"""Which role the evidence of a column speaks for, why, and how sure that is: its content first, its name second."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.table.cells import are_cells, type_name
from shoal.table.profile.evidence import MOSTLY, Evidence
from shoal.table.profile.shapes import HOLDS
from shoal.table.profile.words import (
    AGE,
    BODIES,
    CONTACTS,
    HALF_NAMES,
    HOUSEHOLDS,
    ISSUED,
    MEASURES,
    NAMED,
    NAMES,
    NUMBERED,
    PERSONS,
    QUASI,
    RECORDS,
    SENSITIVE,
    STUDIES,
    SURVEYED,
    TEXTS,
    UNITS,
    WEIGHTS,
    plain,
    words,
)

TELLING = 0.1
"""From this share of values that occur once, a column of numbers is a danger worth naming."""
HIGH, MEDIUM, LOW = "high", "medium", "low"
"""How sure: the values say it, or values and name do; the name or the look of the values says it; nothing does."""


@dataclass(frozen=True)
class Proposal:
    """A role, the reason, and how sure it is."""

    role: str
    why: str
    confidence: str
    person: int = 0
    """How well it would say whose row it is: 0 not at all, 1 by its values, 2 by its name, 3 by both."""


def role_of(seen: Evidence) -> Proposal:
    """Propose a role, and the reason; the first rule that speaks decides."""
    for rule in (
        _by_type, _by_pattern, _by_choice, _by_constant, _by_text, _by_number_of_a_person, _by_name_of_a_person,
        _by_weight, _by_vocabulary, _by_age, _by_school_class, _by_sensitive_name, _by_quasi_name, _by_unit,
        _by_number, _by_uniqueness,
    ):  # fmt: skip
        proposed = rule(seen)
        if proposed:
            return proposed
    return Proposal("quasi", "No sign whether others know it; in doubt, a column is a quasi-identifier", LOW)


_NAMES_A_PERSON = {
    "e-mail": "an e-mail address",
    "phone": "a telephone number",
    "national id": "a national identity number",
    "URL": "an internet page",
    "internet address": "an internet address",
    "account number": "the number of an account or a card",
}


def _by_type(seen: Evidence) -> Proposal | None:
    if are_cells(seen.dtype):
        return None
    kind = type_name(seen.dtype)
    why = f"It holds values of type {kind}, which cannot be generalised unless they are converted to text"
    return Proposal("identifying", why, HIGH)


def _by_pattern(seen: Evidence) -> Proposal | None:
    if seen.pattern in ("ICD code", "ATC code"):
        what = "a code of an illness" if seen.pattern == "ICD code" else "a code of a drug"
        return Proposal("sensitive", f"At least {HOLDS:.0%} of its values have the shape of {what}", HIGH)
    if seen.pattern == "date" and not seen.says(NAMES):
        why = f"At least {HOLDS:.0%} of its values have the shape of a date, which others may know"
        return Proposal("quasi", why, HIGH)
    if seen.pattern == "postcode":
        why = f"At least {HOLDS:.0%} of its values have the shape of a postcode, which others may know"
        return Proposal("quasi", why, HIGH)
    if seen.pattern not in _NAMES_A_PERSON:
        return None
    if seen.pattern == "phone" and seen.says(PERSONS):
        return None
    # Digits in groups are codes of something else where few of them stand in many rows and the name says of what.
    if seen.pattern in ("phone", "national id") and seen.n_distinct < 0.1 * seen.n_present and _else(seen):
        return None
    person = 2 if seen.pattern == "national id" else 1
    why = f"At least {HOLDS:.0%} of its values have the shape of {_NAMES_A_PERSON[seen.pattern]}"
    return Proposal("identifying", why, HIGH, person + (person > 1 and seen.says(PERSONS) is not None))


def _else(seen: Evidence) -> str | None:
    return seen.says(SENSITIVE) or seen.says(QUASI) or seen.says(UNITS)


def _by_choice(seen: Evidence) -> Proposal | None:
    small = seen.whole and seen.look.length == 1 and seen.look.numbers.span < 10
    if seen.name == "choice" and seen.n_distinct <= 5 and small:
        return Proposal("choice", f"It is called choice and holds {seen.n_distinct} small whole numbers", HIGH)
    return None


def _by_constant(seen: Evidence) -> Proposal | None:
    # What is private of everybody stays so, and names are never published.
    if not seen.constant or seen.says(NAMES) or (seen.n_present and seen.says(SENSITIVE)):
        return None
    named = (seen.says(PERSONS) or _numbered_person(seen)) if seen.n_present and not seen.flags else None
    if named:
        why = f"All rows have the same value, and its name says {named!r}, which is the number of a person"
        return Proposal("identifying", why, MEDIUM, 2)
    if _one_code(seen):
        return Proposal("identifying", "All rows have the same code: no use, but it may name a person", LOW)
    what = "All rows have the same value" if seen.n_present else "All cells are missing"
    return Proposal("neutral", f"{what}: it singles out nobody, and can be published as it is", HIGH)


def _one_code(seen: Evidence) -> bool:
    """Whether a constant looks like the number of somebody; to leave it out loses nothing."""
    long = seen.look.form_digits >= (9 if seen.numeric else 5)
    return seen.coded and long and not seen.says(UNITS) and not seen.says(STUDIES)


def _by_text(seen: Evidence) -> Proposal | None:
    """Sentences, names and addresses, by their look."""
    if seen.numeric or seen.banded:
        return None
    if seen.look.holds("titled name") or (seen.given_names and not seen.says(QUASI) and not seen.says(SENSITIVE)):
        return Proposal("identifying", "Its values look like names of people", MEDIUM)
    if seen.handful:
        return None
    varied = seen.n_distinct > 0.3 * seen.n_present and seen.n_distinct >= 10
    if seen.look.shares["sentence"] >= MOSTLY and seen.mostly_unique:
        return Proposal("identifying", "It holds free text, nearly all different, which can name anybody", HIGH)
    if word := seen.says(TEXTS):
        return Proposal("identifying", f"Its name says {word!r}: free text can name anybody", MEDIUM)
    if not varied or seen.says(QUASI) or seen.says(SENSITIVE):
        return None
    for shape in ("name of a person", "street address"):
        if seen.look.holds(shape):
            return Proposal("identifying", f"At least {HOLDS:.0%} of its values have the shape of a {shape}", MEDIUM)
    return None


def _by_number_of_a_person(seen: Evidence) -> Proposal | None:
    """Numbers that are given to persons or records, by name or look."""
    if seen.flags or seen.banded:
        return None
    once = f"{seen.once_share:.0%} of its values occur once"
    given = seen.assigned
    named = None if _topics(seen) else seen.says(PERSONS) or _numbered_person(seen)
    household, record = seen.says(HOUSEHOLDS), seen.says(RECORDS)
    if named and not household and not (seen.n_distinct <= 2 and seen.n_present > 40):
        why = f"Its name says {named!r}, which is the number of a person"
        return Proposal("identifying", f"{why}; {once}", HIGH if given else MEDIUM, 3 if given else 2)
    if seen.handful or not (word := household or record or seen.says(NUMBERED)):
        return None
    # Amounts and measurements are no numbers of anybody, nor are numbers with decimals.
    if not given and (seen.money or (seen.numeric and not seen.whole) or (seen.measured and not seen.says(NUMBERED))):
        return None
    varied = not seen.measured and seen.n_distinct > 0.3 * seen.n_present
    if not (given or varied or seen.mostly_unique or seen.says(NUMBERED)):
        return None
    what = "household" if household else "record" if record else "number"
    unit = seen.says(UNITS)
    issued = seen.says(ISSUED)  # to a person, though it is a record of its own
    person = 1 if not household and (issued or not record) and not unit else 0
    why = f"Its name says {word!r}, the number of a {what}" if what != "number" else f"Its name says {word!r}"
    if (unit or _else(seen)) and not given and not seen.mostly_unique:
        return None
    return Proposal("identifying", f"{why}, and {once}", HIGH if given else MEDIUM, person)


def _topics(seen: Evidence) -> bool:
    """Whether the subjects of a column are what books, lessons or letters are about: a few words, not people."""
    words_only = not seen.numeric and seen.look.shares["letters and digits"] < MOSTLY and seen.look.length > 3
    return seen.says(PERSONS) == "subject" and seen.handful and words_only


_PEOPLE = frozenset(
    [
        "patient",
        "person",
        "customer",
        "member",
        "client",
        "subject",
        "student",
        "pupil",
        "employee",
        "emp",
        "user",
        "respondent",
        "participant",
        "worker",
        "insured",
        "subscriber",
        "beneficiary",
        "paciente",
        "persona",
        "cliente",
        "alumno",
        "empleado",
        "kunde",
        "patienten",
        "schuler",
        "mitarbeiter",
        "applicant",
    ]
)


def _numbered_person(seen: Evidence) -> str | None:
    """Find a word for a person beside one for a number: `patient_nbr`."""
    found = words(seen.name)
    who = next((word for word in found if word in _PEOPLE), None)
    number = seen.says(NUMBERED)
    return f"{who} {number}" if who and number else None


def _by_name_of_a_person(seen: Evidence) -> Proposal | None:
    if seen.flags or seen.banded or seen.pattern in ("date", "postcode"):
        return None
    if word := seen.says(NAMES) or seen.says(CONTACTS):
        # What names people has many values; a handful under the name of a contact says how somebody is reached.
        if not (seen.handful and seen.n_distinct <= 5 and not seen.says(NAMES)):
            person = 0 if seen.says(NAMES) else 1
            return Proposal("identifying", f"Its name says {word!r}, which names a person or can", MEDIUM, person)
        return None
    if (word := seen.says(HALF_NAMES)) and seen.look.holds("capitalised words") and seen.n_distinct >= 5:
        why = f"Its name says {word!r} above capitalised words, which are names of people"
        return Proposal("identifying", why, MEDIUM)
    word, other = seen.says(NAMED), seen.says(SENSITIVE) or seen.says(QUASI) or seen.says(UNITS)
    if not word or seen.measured or (seen.handful and seen.numeric) or (word in ("id", "account") and seen.handful):
        return None
    if not other:
        return Proposal("identifying", f"Its name says {word!r}, which names a person or can", MEDIUM)
    if seen.mostly_unique and not (seen.numeric and seen.money):
        once = f"{seen.once_share:.0%} of its values occur once"
        return Proposal("identifying", f"Its name says {word!r} and {once}", MEDIUM)
    return None


def _by_weight(seen: Evidence) -> Proposal | None:
    word = seen.says(WEIGHTS)
    if not word or not seen.numeric or seen.says(BODIES) or seen.look.numbers.low < 0:
        return None
    numbers = seen.look.numbers
    # Weights of bodies lie close together, those of surveys far apart.
    bodily = 30 <= numbers.middle <= 230 and numbers.high <= 3.5 * numbers.middle and seen.n_distinct > 12
    if bodily and not seen.says(SURVEYED):
        return None
    why = (
        f"Its name says {word!r} and its numbers are not those of bodies: how many people a row of a survey stands for"
    )
    return Proposal("weight", why, HIGH if seen.says(SURVEYED) else MEDIUM)


def _by_vocabulary(seen: Evidence) -> Proposal | None:
    if seen.vocabulary is None:
        return None
    role, title = seen.vocabulary.role, seen.vocabulary.title
    if role == "quasi" and (word := seen.says(SENSITIVE)) and not seen.says(QUASI):
        return Proposal("sensitive", f"Its name says {word!r}, which people expect to stay private", MEDIUM)
    what = "which others know of a person" if role == "quasi" else "which people expect to stay private"
    return Proposal(role, f"Its values are {title}, {what}", HIGH)


def _by_age(seen: Evidence) -> Proposal | None:
    numbers = seen.look.numbers
    if (word := seen.says(AGE)) and (seen.banded or (seen.numeric and numbers.low >= 0 and numbers.high <= 130)):
        return Proposal("quasi", f"Its name says {word!r} and its values are ages, which others know of a person", HIGH)
    return None


def _by_school_class(seen: Evidence) -> Proposal | None:
    """Classes such as 5a and 10b, which everybody at a school knows; other columns of this name hold outcomes."""
    short = seen.look.holds("letters and digits") and seen.look.runs_share >= HOLDS and seen.look.length <= 3
    if plain(seen.name) != "class" or not seen.handful or not short:
        return None
    return Proposal("quasi", "Its values look like classes of a school, which others know of a pupil", MEDIUM)


def _by_sensitive_name(seen: Evidence) -> Proposal | None:
    if (word := seen.says(SENSITIVE)) and seen.none_comes_twice:
        why = f"Its name says {word!r}, but so many whole numbers of which none comes twice were given out to rows"
        return Proposal("identifying", why, MEDIUM)
    if reason := seen.money:
        return Proposal("sensitive", f"{reason}; people expect it to stay private", MEDIUM)
    if not word:
        return None
    once = f"{seen.once_share:.0%} of its values occur once"
    free = f", though {once} and free text can name a person" if seen.mostly_unique and not seen.numeric else ""
    return Proposal("sensitive", f"Its name says {word!r}, which people expect to stay private{free}", MEDIUM)


def _by_quasi_name(seen: Evidence) -> Proposal | None:
    word = seen.says(QUASI)
    return Proposal("quasi", f"Its name says {word!r}, which others know of a person", MEDIUM) if word else None


def _by_unit(seen: Evidence) -> Proposal | None:
    """Many numbers with a unit: texts to a program, and each of them would be published or hidden as a whole."""
    if not seen.look.holds("number with a unit") or not (seen.assigned or seen.mostly_unique):
        return None
    why = "Its values are numbers with a unit, which are read as texts; to publish them, leave the unit out"
    return Proposal("identifying", why, MEDIUM)


def _by_number(seen: Evidence) -> Proposal | None:
    """What only looks like numbers of persons or records."""
    if not (given := seen.assigned):
        return None
    person = 0 if seen.says(UNITS) else 1
    return Proposal("identifying", f"{seen.n_distinct:,} distinct values look like {given}", MEDIUM, person)


def _by_uniqueness(seen: Evidence) -> Proposal | None:
    once = f"{seen.once_share:.0%} of its values occur once"
    padded = seen.look.shares["leading zero"] > 0
    if seen.mostly_unique and (not seen.numeric or padded) and not seen.mixed and not seen.banded:
        return Proposal("identifying", f"{once} and it is not a known demographic column or measurement", MEDIUM)
    if seen.numeric and not seen.jagged and (seen.says(MEASURES) or seen.once_share >= TELLING):
        what = once if seen.once_share >= TELLING else "It is a measurement"
        why = f"{what}: as neutral, its exact numbers could be linked; as a quasi-identifier they are generalised"
        return Proposal("quasi", why, LOW)
    return None

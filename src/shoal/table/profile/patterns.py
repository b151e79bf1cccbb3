"""What the name of a column says and what its values look like: the evidence behind a proposed role.

Names are compared word by word, never by substring ("age" is not in "package"). Shapes are regular expressions over
the distinct values, weighted by how often each occurs, so that a column costs what its distinct values cost.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import polars as pl

HOLDS = 0.95
"""Share of the present values that must have a shape for the column to have it."""

MOSTLY = 0.5
"""A column is mostly unique when more than this share of its values occurs once."""

MARKERS = frozenset(
    {"?", "??", "-", "--", "---", ".", "..", "*", "na", "n/a", "n.a.", "#n/a", "<na>", "nan", "\\n", "null", "(null)"}
    | {"nil", "none", "unknown", "unk", "missing", "not available", "not known"}
)
"""Texts, in lower case, that often stand for a missing cell."""


def _phrases(text: str) -> frozenset[tuple[str, ...]]:
    """Comma-separated phrases as tuples of words."""
    return frozenset(tuple(phrase.split()) for phrase in text.split(","))


NAMING = _phrases(
    "surname, forename, firstname, lastname, fullname, middlename, username, nickname, maiden name, birth name,"
    "first name, last name, family name, given name, full name, email, e mail, mail, phone, telephone, tel, mobile,"
    "cellphone, fax, ssn, social security, passport, patientid, personid, customerid, userid, uuid, guid, dni, nie,"
    "nif, nino, nin, nhs, mrn, medical record, pesel, cpf, aadhaar, bsn, personnummer, iban, case number,"
    "record number, policy number, card number, member number, identity number, licence plate, license plate, login,"
    "street, url, website, photo, signature, fingerprint, comment, note, notes, remark, remarks, free text, freetext"
)
"""Names of columns that name a person, or free text that can."""

NAMING_WEAKLY = _phrases("name, id, identifier, account, address, ip")
"""Names a person, unless another word says what else it names ("country_name")."""

SENSITIVE = _phrases(
    "disease, diagnosis, diagnoses, diagnostic, icd, illness, symptom, income, salary, salaries, wage, earning,"
    "religion, religious, faith, hiv, aids, medication, medicine, drug, prescription, treatment, therapy, health,"
    "disability, disabled, crime, criminal, offence, offense, conviction, arrest, debt, loan, credit, wealth,"
    "asset, saving, political, politics, vote, party membership, trade union, labor union, labour union, sexual,"
    "orientation, pregnancy, pregnant, abortion, mental, depression, suicide, alcohol, genetic, genotype, cancer,"
    "tumor, tumour, cause of death"
)

POSTAL = _phrases(
    "zip, zipcode, postcode, postal, postalcode, post code, pincode, pin code, plz, postleitzahl, cep, eircode"
)

QUASI = POSTAL | _phrases(
    "age, sex, gender, city, town, village, municipality, county, district, state, province, region, area, location,"
    "country, nationality, citizenship, native, latitude, longitude, lat, lon, lng, birth, birthday, birthdate,"
    "birthplace, born, dob, education, educ, schooling, degree, qualification, occupation, job, profession, employment,"
    "industry, marital, marstat, marriage, married, race, ethnic, ethnicity, hispanic, language, workclass,"
    "relationship, household, family, children, hour, veteran, migration"
)

CODES = POSTAL | _phrases("code, recode, id, identifier, icd")
"""Names of columns whose numbers are codes."""

CATEGORIES = _phrases(
    "sex, gender, race, ethnic, ethnicity, hispanic, marital, marstat, married, country, nationality, citizenship,"
    "native, region, state, province, county, district, city, occupation, job, profession, industry, workclass,"
    "relationship, religion, disease, diagnosis, veteran, language"
)
"""Names of columns whose whole numbers stand for categories."""

MEASURES = _phrases(
    "weight, wgt, fnlwgt, wt, height, bmi, amount, price, cost, expenditure, expend, tax, value, total, sum, mean,"
    "average, score, rate, ratio, percent, pct, temperature, pressure, cholesterol, glucose, dose, duration, length,"
    "width, size, count, distance, balance, gain, loss, concentration, measurement"
)

TELEPHONE = _phrases("phone, telephone, tel, mobile, cellphone, fax")


def words(name: str) -> tuple[str, ...]:
    """Words of a column name, in lower case.

    >>> words("patientID"), words("ZIPCode"), words("marital-status_2")
    (('patient', 'id'), ('zip', 'code'), ('marital', 'status', '2'))
    """
    apart = re.sub(r"([a-z\d])([A-Z])", r"\1 \2", name)
    apart = re.sub(r"([A-Z])([A-Z][a-z])", r"\1 \2", apart)
    apart = re.sub(r"([^\W\d_])(\d)", r"\1 \2", apart)
    return tuple(re.findall(r"[^\W_]+", apart.casefold()))


def says(name: str, phrases: frozenset[tuple[str, ...]]) -> str | None:
    """Find the first phrase that a column name contains, a plural s allowed.

    >>> says("hours-per-week", QUASI), says("package", QUASI)
    ('hour', None)
    """
    found = words(name)
    singular = tuple(word[:-1] if word.endswith("s") else word for word in found)
    for start in range(len(found)):
        for end in range(start + 1, len(found) + 1):
            for phrase in (found[start:end], (*found[start : end - 1], singular[end - 1])):
                if phrase in phrases:
                    return " ".join(phrase)
    return None


_TEXT = pl.col("text")
_DAY, _MONTH = "(0?[1-9]|[12][0-9]|3[01])", "(0?[1-9]|1[0-2])"

_DATES = "|".join(
    (
        rf"^[0-9]{{4}}[-/.]{_MONTH}[-/.]{_DAY}([T ].*)?$",
        rf"^{_DAY}[-/. ]{_DAY}[-/. ]([0-9]{{4}}|[0-9]{{2}})( .*)?$",
        rf"^{_DAY}[ -][A-Za-z]{{3,9}}[ ,-]+([0-9]{{4}}|[0-9]{{2}})$",
    )
)
_NATIONAL_IDS = "|".join(
    (
        r"^[0-9]{3}-[0-9]{2}-[0-9]{4}$",  # United States
        r"(?i)^[0-9]{8}-?[A-Z]$|^[XYZ]-?[0-9]{7}-?[A-Z]$",  # Spain, residents and foreigners
        r"^[A-Z]{2} ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D]$",  # United Kingdom
        r"^[A-Z]{6}[0-9]{2}[A-Z][0-9]{2}[A-Z][0-9]{3}[A-Z]$",  # Italy
        r"^[12] ?[0-9]{2} ?[01][0-9] ?[0-9][0-9AB] ?[0-9]{3} ?[0-9]{3}( ?[0-9]{2})?$",  # France
        r"^[0-9]{6}[-+A][0-9]{3}[0-9A-Z]$",  # Denmark, Finland, Sweden
        r"^[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}$",  # Brazil
        r"^[0-9]{4} [0-9]{4} [0-9]{4}$",  # India
    )
)
_POSTCODES = "|".join(
    (
        r"(?i)^[A-Z]{1,2}[0-9][0-9A-Z]? ?[0-9][A-Z]{2}$",  # United Kingdom
        r"^[A-Z][0-9][A-Z][ -]?[0-9][A-Z][0-9]$",  # Canada
        r"^[1-9][0-9]{3} ?[A-Z]{2}$",  # Netherlands
        r"^[0-9]{5}-[0-9]{4}$",  # United States, long form
    )
)
_NUMBER = _TEXT.cast(pl.Float64, strict=False).is_finite().fill_null(False)
_N_DIGITS = _TEXT.str.count_matches("[0-9]")
_GROUPED = r"^\+?[0-9()]+([ ./-]{1,2}[0-9()]+)*$"
# A plus, a bracket, a leading zero, three groups or the short local form: one dash alone may be a range of amounts.
_DIALLED = r"^[+(0]|^[0-9]{3}[-. ][0-9]{4}$|[0-9)][ ./-]+[0-9()]+[ ./-]+[0-9()]"
_NOT_DIALLED = r"^[1-9][0-9]{0,2}([ .][0-9]{3})+$|^[0-9]{1,3}(\.[0-9]{1,3}){3}$"  # thousands; internet addresses

SHAPES: dict[str, pl.Expr] = {
    "e-mail": _TEXT.str.contains(r"^[^@\s]+@[^@\s]+\.[^@\s.]+$"),
    "date": _TEXT.str.contains(_DATES),
    "national id": _TEXT.str.contains(_NATIONAL_IDS),
    "postcode": _TEXT.str.contains(_POSTCODES),
    "code": _TEXT.str.contains(r"^[0-9A-Za-z]{2,5}[ -]?[0-9A-Za-z]{1,5}$") & _TEXT.str.contains("[0-9]"),
    "phone": _N_DIGITS.is_between(7, 15)
    & _TEXT.str.contains(_GROUPED)
    & _TEXT.str.contains(_DIALLED)
    & ~_TEXT.str.contains(_NOT_DIALLED)
    & (~_NUMBER | _TEXT.str.starts_with("+")),
    "integer": _TEXT.str.contains("^[+-]?[0-9]+$") & _NUMBER,
    "number": _NUMBER,
    "9-12 digits": _TEXT.str.contains("^[0-9]{9,12}$"),
    "13 digits": _TEXT.str.contains("^[0-9]{13,}$"),
    "7 digits": _N_DIGITS >= 7,
    "number or marker": _NUMBER | _TEXT.str.to_lowercase().is_in(list(MARKERS)),
    "leading zero": _TEXT.str.contains("^0[0-9]+$"),
    # What shoal.table.hierarchy.builders.Dates can read: on the value as it is, since categories are never stripped.
    "ISO date": pl.col("value").str.contains(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ]|$)")
    & pl.col("value").str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False).is_not_null()
    & ~pl.col("value").str.starts_with("0000"),
}


@dataclass(frozen=True)
class Look:
    """What the present values of a column look like: never a value, only shares, lengths and a span."""

    shares: dict[str, float]
    """Share of the present cells that have each shape of `SHAPES`."""
    length: int
    """The most common number of characters, the larger of two: what lost its leading zeros is the shorter."""
    length_share: float
    """Share of the present cells that have it."""
    span: float
    """Largest minus smallest number, 0 without numbers."""

    def holds(self, shape: str) -> bool:
        """Whether the column has a shape."""
        return self.shares[shape] >= HOLDS

    def always(self, shape: str) -> bool:
        """Whether every present cell has a shape."""
        return self.shares[shape] == 1.0


def look(counts: pl.DataFrame) -> Look:
    """Look at the distinct texts of a column (`value`) and how often each occurs (`n`)."""
    total = counts["n"].sum()
    if not total:
        return Look(dict.fromkeys(SHAPES, 0.0), 0, 0.0, 0.0)
    texts = counts.select("value", pl.col("n").cast(pl.Int64), text=pl.col("value").str.strip_chars())
    found = texts.select((pl.col("n") * shape).sum().alias(name) for name, shape in SHAPES.items()).row(0, named=True)
    lengths = texts.group_by(_TEXT.str.len_chars().alias("length")).agg(pl.col("n").sum())
    length, n_long = lengths.sort("n", "length", descending=True).row(0)
    numbers = texts.select(_TEXT.cast(pl.Float64, strict=False).alias("number")).filter(pl.col("number").is_finite())
    span = numbers.select(pl.col("number").max() - pl.col("number").min()).item() if numbers.height else 0.0
    return Look({name: times / total for name, times in found.items()}, length, n_long / total, span)


def pattern_of(name: str, seen: Look, *, mostly_unique: bool) -> str | None:
    """Name the pattern of a column; the narrower shapes come first."""
    for shape in ("date", "e-mail", "national id", "postcode", "phone"):
        if seen.holds(shape):
            return shape
    if says(name, POSTAL) and seen.holds("code"):
        return "postcode"
    if says(name, TELEPHONE) and seen.holds("7 digits"):
        return "phone"
    # Digits alone are an amount as easily as a number of a person, so name, length and uniqueness must agree.
    amount = says(name, SENSITIVE | QUASI | MEASURES)
    if seen.holds("9-12 digits") and seen.length_share >= HOLDS and mostly_unique and not amount:
        return "national id"
    if seen.holds("integer"):
        return "integer"
    return "decimal" if seen.holds("number") else None


def prefix_lengths(seen: Look) -> tuple[int, ...]:
    """How many leading characters the levels above a postcode keep."""
    if seen.holds("integer") and seen.length <= 5:
        return tuple(range(seen.length - 1, 0, -1)) or (1,)
    if seen.length >= 9:  # a long form: the short code, then its region
        return (5, 3, 1)
    return (4, 2) if seen.length > 4 else (2, 1)


@dataclass(frozen=True)
class Evidence:
    """What the proposals for one column rest on."""

    name: str
    dtype: pl.DataType
    n_present: int
    n_distinct: int
    n_once: int
    """Present values that occur once."""
    look: Look
    pattern: str | None
    markers: dict[str, int]
    """What `suspected` finds."""

    @property
    def once_share(self) -> float:
        """Share of the present values that occur once."""
        return self.n_once / self.n_present if self.n_present else 0.0

    @property
    def mostly_unique(self) -> bool:
        """Whether most present values occur once."""
        return self.once_share > MOSTLY

    @property
    def numeric(self) -> bool:
        """Whether every present value is a finite number."""
        return self.look.always("number")

    @property
    def measured(self) -> bool:
        """Whether these are numbers that the name calls a measurement."""
        return self.numeric and says(self.name, MEASURES) is not None

    @property
    def assigned(self) -> bool:
        """Whether whole numbers look given out to persons rather than measured."""
        if self.pattern != "integer" or not self.mostly_unique or self.measured:
            return False
        # A counter, or a sample of one: never the same number twice, though at least a quarter of them is taken.
        counted = self.n_distinct >= 20 and self.n_once == self.n_present and self.look.span < 4 * self.n_distinct
        same_length = self.look.length >= 6 and self.look.length_share >= HOLDS
        return counted or same_length or self.look.holds("13 digits")


def groupable(dtype: pl.DataType) -> bool:
    """Whether values of a type can be numbers or categories."""
    return not (dtype.is_nested() or dtype in (pl.Binary, pl.Object, pl.Duration))


def distinct(series: pl.Series) -> pl.DataFrame:
    """Count the distinct values of a column: `value`, its text (`text`) and how often it occurs (`n`); null is one."""
    if series.dtype == pl.Object:
        return pl.DataFrame(schema={"value": pl.Null, "text": pl.String, "n": pl.UInt32})
    counts = series.rename("value").value_counts(name="n")
    if not groupable(series.dtype):
        return counts.with_columns(text=pl.lit(None, pl.String))
    values = counts["value"]
    if values.dtype.is_float() or values.dtype.is_decimal():
        floats = values.cast(pl.Float64)
        whole = ((floats.floor() == floats) & (floats.abs() < 2**53)).all()
        values = floats.cast(pl.Int64) if whole else floats
    return counts.with_columns(text=values.cast(pl.String))


def suspected(counts: pl.DataFrame) -> dict[str, int]:
    """Find texts that look like markers of missing cells, as they are written, most frequent first."""
    if counts.schema["value"] != pl.String:
        return {}
    plain = pl.col("text").str.strip_chars().str.to_lowercase()
    found = counts.filter(plain.is_in(list(MARKERS))).sort("n", "text", descending=[True, False])
    return dict(zip(found["text"].to_list(), found["n"].to_list(), strict=True))


def gather(series: pl.Series, counts: pl.DataFrame) -> Evidence:
    """Gather the evidence on one column from its distinct values."""
    present = counts.filter(pl.col("value").is_not_null())
    n_present = len(series) - series.null_count()
    n_once = int((present["n"] == 1).sum())
    seen = look(present.select(pl.col("text").alias("value"), "n").drop_nulls())
    return Evidence(
        name=series.name,
        dtype=series.dtype,
        n_present=n_present,
        n_distinct=present.height,
        n_once=n_once,
        look=seen,
        pattern=pattern_of(series.name, seen, mostly_unique=n_present > 0 and n_once / n_present > MOSTLY),
        markers=suspected(counts),
    )

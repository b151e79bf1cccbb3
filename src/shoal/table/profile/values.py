"""What cells themselves say: small vocabularies that give a column away whatever its name is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shoal.table.profile.words import plain

KNOWN = 0.8
"""Share of the present cells that must belong to a vocabulary."""


@dataclass(frozen=True)
class Vocabulary:
    """Cells that belong together, the role they speak for, and how many of them must be seen."""

    title: str
    role: str
    entries: frozenset[str]
    least: int = 2


def _vocabulary(title: str, role: str, text: str, least: int = 2) -> Vocabulary:
    return Vocabulary(title, role, frozenset(entry.strip() for entry in text.split(",")), least)


FLAGS = frozenset(
    [
        "yes",
        "no",
        "y",
        "n",
        "true",
        "false",
        "t",
        "f",
        "0",
        "1",
        "ja",
        "nein",
        "j",
        "si",
        "oui",
        "non",
        "o",
        "none",
        "x",
        "-",
        "unknown",
        "na",
        "n/a",
    ]
)
"""Answers to a question that has two."""

VOCABULARIES: tuple[Vocabulary, ...] = (
    _vocabulary(
        "sexes",
        "quasi",
        "male, female, man, woman, men, women, hombre, mujer, mannlich, weiblich, homme, femme, boy, girl, divers, "
        "diverse, non-binary, nonbinary, varon, masculin, feminin, masculino, femenino, other",
    ),
    _vocabulary(
        "marital statuses",
        "quasi",
        "single, married, divorced, widowed, separated, never married, partnered, never-married, "
        "married-civ-spouse, married-spouse-absent, married-af-spouse, cohabiting, ledig, verheiratet, geschieden, "
        "verwitwet, soltero, soltera, casado, casada, divorciado, divorciada, viudo, viuda, celibataire, marie, "
        "mariee, divorce, divorcee, veuf, veuve, pacse, civil partnership",
        3,
    ),
    _vocabulary(
        "ethnic groups",
        "quasi",
        "white, black, asian, hispanic, latino, other, native american, pacific islander, african american, "
        "africanamerican, caucasian, mixed, white british, black african, black caribbean, asian-pac-islander, "
        "amer-indian-eskimo, roma, arab, indigenous",
        3,
    ),
    _vocabulary(
        "countries",
        "quasi",
        "germany, france, spain, italy, poland, turkey, morocco, romania, portugal, ukraine, brazil, india, china, "
        "nigeria, mexico, vietnam, greece, syria, austria, croatia, united states, united-states, usa, united "
        "kingdom, uk, england, canada, japan, russia, netherlands, belgium, sweden, norway, denmark, finland, "
        "ireland, switzerland, hungary, bulgaria, serbia, egypt, kenya, ghana, ethiopia, pakistan, bangladesh, "
        "indonesia, philippines, thailand, south korea, iran, iraq, israel, australia, argentina, chile, peru, "
        "colombia, cuba, puerto-rico, el-salvador, deutschland, frankreich, spanien, italien, polen, turkei, "
        "espana, francia, alemania, italia, marruecos, allemagne, espagne, italie, maroc, algerie, portugal, "
        "pologne",
        4,
    ),
    _vocabulary(
        "country codes",
        "quasi",
        "de, fr, es, it, pl, us, gb, nl, be, at, ch, se, no, dk, fi, pt, ie, cz, hu, ro, gr, tr, in, cn, jp, br, "
        "mx, ca, au, deu, fra, esp, ita, pol, usa, gbr, nld, bel, aut, che, swe, prt",
        5,
    ),
    _vocabulary(
        "states of the United States",
        "quasi",
        "al, ak, az, ar, ca, co, ct, de, fl, ga, hi, id, il, in, ia, ks, ky, la, me, md, ma, mi, mn, ms, mo, mt, "
        "ne, nv, nh, nj, nm, ny, nc, nd, oh, ok, or, pa, ri, sc, sd, tn, tx, ut, vt, va, wa, wv, wi, wy, "
        "california, texas, florida, new york, illinois, ohio, georgia, utah",
        6,
    ),
    _vocabulary(
        "languages",
        "quasi",
        "english, spanish, french, german, italian, portuguese, polish, arabic, turkish, vietnamese, chinese, "
        "mandarin, russian, hindi, urdu, bengali, punjabi, dutch, greek",
        3,
    ),
    _vocabulary(
        "schooling",
        "quasi",
        "primary, secondary, tertiary, bachelor, bachelors, master, masters, doctorate, phd, high school, college, "
        "university, hs-grad, some-college, abitur, realschule, hauptschule, bachillerato, licenciatura, bac, "
        "licence, no education, none, unknown, primary school, vocational",
        3,
    ),
    _vocabulary(
        "religions",
        "sensitive",
        "catholic, protestant, muslim, christian, hindu, jewish, buddhist, sikh, orthodox, atheist, katholisch, "
        "evangelisch, muslimisch, keine, judisch, catolico, musulman, musulmana, protestante, catholique, juif, "
        "agnostic, islam, christianity, none",
        3,
    ),
    _vocabulary(
        "illnesses",
        "sensitive",
        "flu, influenza, asthma, diabetes, hypertension, cancer, hiv, aids, migraine, anxiety, depression, "
        "pneumonia, bronchitis, gastritis, arthritis, obesity, tuberculosis, tb, hepatitis, stroke, angina, ulcer, "
        "gastric ulcer, stomach cancer, allergy, epilepsy, dementia, copd, covid-19, none, type 2 diabetes, type 1 "
        "diabetes, heart disease, anaemia, anemia, malaria, schizophrenia, psoriasis",
        3,
    ),
    _vocabulary(
        "drugs",
        "sensitive",
        "ibuprofen, paracetamol, aspirin, metformin, insulin, sertraline, salbutamol, atorvastatin, simvastatin, "
        "amoxicillin, omeprazole, lisinopril, citalopram, fluoxetine, warfarin",
        2,
    ),
    _vocabulary(
        "test results",
        "sensitive",
        "positive, negative, pos, neg, positiv, negativ, positivo, negativo, positif, negatif, borderline, not "
        "done, inconclusive, reactive, nonreactive",
    ),
    _vocabulary(
        "who lived and who died",
        "sensitive",
        "alive, dead, deceased, died, expired, vivo, muerto, fallecido, lebend, verstorben, vivant, decede",
    ),
    _vocabulary(
        "blood groups",
        "sensitive",
        "o+, a+, b+, ab+, o-, a-, b-, ab-",
        4,
    ),
    _vocabulary(
        "pleas",
        "sensitive",
        "guilty, not guilty, no contest",
    ),
)
_LETTERS_OF_SEX = ({"m", "f"}, {"h", "f"}, {"h", "m"}, {"m", "w"})


def vocabulary_of(counts: Mapping[str, int]) -> Vocabulary | None:
    """Find the vocabulary of a column from its distinct texts and how often each occurs."""
    found: dict[str, int] = {}
    for text, times in counts.items():
        word = plain(text)
        found[word] = found.get(word, 0) + times
    total = sum(found.values())
    if total and any(letters <= found.keys() and len(found) <= 4 for letters in _LETTERS_OF_SEX):
        return VOCABULARIES[0]
    for one in VOCABULARIES:
        inside = one.entries & found.keys()
        if (
            len(inside - {"none", "other", "unknown"}) >= one.least
            and sum(found[word] for word in inside) >= KNOWN * total
        ):
            return one
    return None


def are_flags(texts: list[str]) -> bool:
    """Whether a column holds two answers, such as yes and no, with a third for unknown."""
    return 0 < len(texts) <= 3 and all(plain(text) in FLAGS for text in texts)

"""Invented registers in which people have several rows, and others in which codes belong to things, with the answers.

`SEEN` are the tables that the rules on people were made with. `FRESH` are six more, written before those rules and
scored before any rule was changed for them: what a first sight gives stands in `docs/limits.md`. A line is as in
`invented.py`.
"""

from __future__ import annotations

from drawn import FIRST, LAST, Draw
from invented import (
    ANY,
    DATES,
    EITHER,
    ICD10,
    ID,
    NO,
    NOM,
    NUM,
    ORD,
    PERSON,
    PRE,
    QUASI,
    RANKED,
    SCALE,
    SENSITIVE,
    table,
)  # fmt: skip

HIDDEN = f"{ID}|{PERSON}"
"""Where several columns say whose row it is, any of them may be the one."""
MAYBE = f"{ID}|{QUASI}"
"""Who served somebody, or where: whether it names a person is for the holder to say."""


@table(600)
def gym(d: Draw):
    d.people(170)
    yield "Tag", PERSON, "", "", d.each(d.serial, 2101, "K{}")
    yield "m_w", QUASI, NOM, NO, d.each(d.pick, "m w")
    yield "Jahrgang", QUASI, NUM, NO, d.each(d.whole, 1950, 2006)
    yield "Tarif", EITHER, NOM, NO, d.each(d.pick, "Basis Plus Flex")
    yield "Kurs", ANY, NOM, NO, d.pick("Yoga Spinning Kraft Pilates Boxen", skew=0.4)
    yield "Einlass", QUASI, NOM, DATES, d.days("2024-01-01", "2024-06-30")
    yield "Spind", MAYBE, "nominal|numeric|", NO, d.whole(1, 60)


@table(900)
def pharmacy(d: Draw):
    d.people(240)
    yield "holder", PERSON, "", "", d.each(d.numbers, 310_000, 980_000)
    yield "script", ID, "", "", d.serial(88_000_100, "RX{}", 3)
    yield "birthday", QUASI, NOM, NO, d.each(d.days, "1935-01-01", "2015-01-01", "%d/%m/%Y")
    yield "g", QUASI, NOM, NO, d.each(d.pick, "F M")
    yield "outward", QUASI, NOM, "prefixes|none", d.each(d.pool, "L## #@@", 90)
    yield "pack", SENSITIVE, NOM, "prefixes|none", d.pool("#######", 45)
    yield "substance", SENSITIVE, NOM, NO, d.pick("metformin insulin sertraline omeprazole warfarin aspirin")
    yield "packs", ANY, NUM, NO, d.counts(2)
    yield "dispensed", QUASI, NOM, DATES, d.days("2023-01-01", "2023-12-31", "%d/%m/%Y")
    yield "pharmacist", MAYBE, "|nominal", "|none", d.pick(LAST[:9])


@table(1000)
def rides(d: Draw):
    d.people(210)
    yield "rider", PERSON, "", "", d.each(d.digits, "u_&&&&&&")
    yield "rider_rating", EITHER, NUM, NO, d.each(d.bell, 4.6, 0.2, 2)
    yield "home_zone", QUASI, NOM, NO, d.each(d.pick, "Z1 Z2 Z3 Z4 Z5 Z6 Z7")
    yield "cab", MAYBE, "|nominal", "|none", d.pool("@@-####", 60, 0.2)
    yield "pickup", QUASI, NOM, "none|dates", d.days("2024-03-01", "2024-03-31", "%Y-%m-%d %H:%M")
    yield "dropoff_zone", QUASI, NOM, NO, d.pick("Z1 Z2 Z3 Z4 Z5 Z6 Z7")
    yield "fare", SENSITIVE, NUM, NO, d.money(14, 0.6, 2)
    yield "minutes", ANY, NUM, NO, d.counts(17)


@table(500)
def choir(d: Draw):
    yield "Given", ID, "", "", d.pick(FIRST)
    yield "Family", ID, "", "", d.pick(LAST)
    yield "Voice", QUASI, NOM, NO, d.pick("soprano alto tenor bass")
    yield "Since", QUASI, "numeric|nominal", NO, d.whole(1985, 2023)
    yield "Town", QUASI, NOM, NO, d.pick(["Leeds", "York", "Selby", "Ripon", "Otley", "Ilkley", "Skipton", "Wetherby"])
    yield "Parish", QUASI, NOM, NO, d.pick(["Trinity", "Michael", "Andrew", "Luke", "Martin", "Oswald", "Cuthbert"])
    yield "Fee", SENSITIVE, NUM, NO, d.whole(40, 120, 20)
    yield "Solo", ANY, NOM, NO, d.pick("yes no")


@table(1200)
def stockroom(d: Draw):
    """Things have rows of their own as well: an article has one maker, a site one town."""
    d.people(95)
    yield "article", ANY, NOM, "none|prefixes", d.each(d.digits, "A###-#")
    yield "maker", ANY, NOM, NO, d.each(d.pick, ["Bolt AG", "Ferro", "Nord", "Ilmen"])
    yield "list_price", SENSITIVE, NUM, NO, d.each(d.money, 30, 0.5, 2)
    yield "buyer_age", QUASI, NUM, NO, d.ages()
    yield "buyer_sex", QUASI, NOM, NO, d.pick("f m")
    yield "buyer_zip", QUASI, NOM, PRE, d.pool("9####", 70)
    d.people(24)
    yield "site", QUASI, "nominal|numeric", "none|prefixes", d.each(d.digits, "7###")
    yield "site_town", QUASI, NOM, NO, d.each(d.pick, ["Ulm", "Jena", "Bonn", "Trier", "Celle"])
    yield "quantity", ANY, NUM, NO, d.counts(3)


@table(800)
def vaccinations(d: Draw):
    d.people(330)
    yield "cod_usuario", PERSON, "", "", d.each(d.numbers, 1, 2000)
    yield "tarjeta", HIDDEN, "", "", d.each(d.digits, "@@@@ ######")
    yield "sexo", QUASI, NOM, NO, d.each(d.pick, "H M")
    yield "anyo_nac", QUASI, NUM, NO, d.each(d.whole, 1930, 2021)
    yield "barrio", QUASI, NOM, NO, d.each(d.pick, ["Centro", "Norte", "Playa", "Huerta", "Estacion"])
    yield "lote", ANY, NOM, "none|prefixes", d.pool("@@####", 25)
    yield "vacuna", SENSITIVE, NOM, NO, d.pick("tetanos gripe covid hepatitis")
    yield "dosis", ANY, SCALE, NO, d.pick("1 2 3", [60, 30, 10])
    yield "fecha", QUASI, NOM, DATES, d.days("2021-01-01", "2023-12-31", "%d-%m-%Y")
    yield "enfermera", MAYBE, "|nominal", "|none", d.pick(FIRST[:12])


FRESH = ("gym", "pharmacy", "rides", "choir", "stockroom", "vaccinations")
"""Tables that no rule was made for."""


@table(400)
def staff(d: Draw):
    yield "Staff #", ID, "", "", d.serial(4100, "E{}")
    yield "First", ID, "", "", d.pick(FIRST)
    yield "Last", ID, "", "", d.pick(LAST)
    yield "Joined", QUASI, NOM, NO, d.days("2001-01-01", "2023-12-31", "%d %b %Y")
    yield "Job Title", QUASI, NOM, NO, d.pick("Analyst Manager Clerk Engineer")
    yield "Salary", SENSITIVE, NUM, NO, d.money(52000, 0.4, 0, 100)
    yield "Dept", QUASI, NOM, NO, d.pick("HR IT Ops")
    yield "Boss ID", MAYBE, "|nominal", "|none", d.pick([f"E{number}" for number in range(4100, 4121)])
    yield "Perf Rating", SENSITIVE, SCALE, NO, d.pick("1 2 3 4 5")
    yield "Badge", ID, "", "", d.numbers(100_000, 999_999)
    yield "NI No", ID, "", "", d.digits("@@######A")


@table(1000)
def web_shop(d: Draw):
    d.people(200)
    yield "cust", HIDDEN, "", "", d.each(d.numbers, 10_000, 99_999)
    yield "loyalty", HIDDEN, "", "", d.each(d.digits, "LC#######")
    yield "city", QUASI, NOM, NO, d.each(d.pick, "Oslo Bergen Moss")
    yield "birth_year", QUASI, NUM, NO, d.each(d.whole, 1940, 2005)
    yield "order", ID, "", "", d.serial(55_000)
    yield "sku", ANY, NOM, "none|prefixes", d.pick([f"SKU-{number:04d}" for number in range(80)])
    yield "qty", ANY, NUM, NO, d.pick("1 2 3 4 5", skew=1.2)
    yield "price", SENSITIVE, NUM, NO, d.money(20, 1, 2)
    yield "session", ID, "", "", d.digits("&" * 24)


@table(1200)
def assays(d: Draw):
    d.people(150)
    yield "subj", PERSON, "", "", d.each(d.serial, 0, "S{:03d}")
    yield "sexe", QUASI, NOM, NO, d.each(d.pick, "H F")
    yield "yob", QUASI, NUM, NO, d.each(d.whole, 1940, 2000)
    yield "visit_no", ANY, "nominal|numeric|ordinal", NO, d.pick("1 2 3 4 5 6 7 8")
    yield "analyte", ANY, NOM, NO, d.pick("NA K CRP")
    yield "value", EITHER, NUM, NO, d.bell(10, 3, 1)
    yield "unit", ANY, NOM, NO, d.pick("mmol mg")
    yield "barcode", ID, "", "", d.digits("############")


@table(700)
def library(d: Draw):
    d.people(140)
    yield "Leserausweis", PERSON, "", "", d.each(d.serial, 20_000)
    yield "Kategorie", QUASI, NOM, NO, d.each(d.pick, ["Kind", "Erw."])
    yield "Stadtteil", QUASI, NOM, NO, d.each(d.pick, ["Nord", "Süd"])
    yield "Titel", f"{ANY}|{ID}", "nominal|", NO, [f"Buch {number}" for number in d.whole(1, 200)]
    yield "Ausleihe", QUASI, NOM, DATES, d.days("2023-01-01", "2023-12-31")
    yield "Mahnungen", ANY, "numeric|nominal", NO, d.pick("0 1 2 3", [80, 12, 5, 3])


@table(700)
def motor_claims(d: Draw):
    d.people(350)
    yield "Versicherungsnummer", HIDDEN, "", "", d.each(d.digits, "########B###")
    yield "VIN", HIDDEN, "", "", d.each(d.digits, "@@@#@@##@########")
    plates = [f"B-{a} {b}" for a, b in zip(d.digits("@@"), d.whole(100, 9999), strict=True)]
    yield "Kennzeichen", HIDDEN, "", "", d.of_people(plates)
    yield "SF", EITHER, NUM, NO, d.each(d.whole, 0, 35)
    yield "Schaden_Nr", ID, "", "", d.digits("S#######")
    yield "Betrag", SENSITIVE, NUM, NO, d.money(1500, 0.8, 2)
    yield "Datum", QUASI, NOM, DATES, d.days("2023-01-01", "2023-12-31", "%d.%m.%Y")


@table(900)
def calls(d: Draw):
    d.people(180)
    yield "msisdn", PERSON, "", "", d.each(d.digits, "4915########")
    yield "imei", HIDDEN, "", "", d.each(d.digits, "35#############")
    yield "tariff", EITHER, RANKED, NO, d.each(d.pick, "S M L")
    yield "age_band", QUASI, ORD, NO, d.each(d.pick, ["18-25", "26-40", "41-60", "60+"])
    yield "dur_s", ANY, NUM, NO, d.whole(0, 4000)
    yield "called", ID, "", "", d.digits("49##########")
    yield "day", QUASI, NOM, DATES, d.days("2024-01-01", "2024-12-31")


@table(900)
def school_marks(d: Draw):
    d.people(300)
    yield "schueler_id", PERSON, "", "", d.each(d.serial, 1)
    yield "klasse", QUASI, NOM, NO, d.each(d.pick, "5a 5b 6a 6b")
    yield "geburtsdatum", QUASI, NOM, NO, d.each(d.days, "2008-01-01", "2014-12-31", "%d.%m.%y")
    yield "geschlecht", QUASI, NOM, NO, d.each(d.pick, "m w d", [49, 49, 2])
    yield "telefon_eltern", ID, "", "", d.each(d.digits, "0171/#######")
    yield "fach", ANY, NOM, NO, d.pick("De Ma En")
    yield "note_punkte", EITHER, "numeric|nominal|ordinal", NO, d.whole(0, 15)
    yield "fehltage", EITHER, NUM, NO, d.counts(4)


@table(600)
def follow_up(d: Draw):
    d.people(120)
    yield "ptid", PERSON, "", "", d.each(d.serial, 1)
    yield "bmi", EITHER, NUM, NO, d.each(d.bell, 25, 4, 1)
    yield "smoker", SENSITIVE, NOM, NO, d.each(d.pick, "Y N")
    yield "visit", ANY, "nominal|numeric|ordinal", NO, d.pick("1 2 3 4 5")
    yield "sbp", SENSITIVE, NUM, NO, d.bell(130, 20)
    yield "visitdate", QUASI, NOM, DATES, d.days("2020-01-01", "2021-12-31")


@table(90)
def one_patient(d: Draw):
    yield "patient_id", PERSON, "", "", ["P00001"] * d.rows
    yield "diagnosis", SENSITIVE, NOM, "prefixes|none", d.pick(ICD10)
    yield "seen", QUASI, NOM, DATES, d.days("2020-01-01", "2021-12-31")


SEEN = (
    "staff", "web_shop", "assays", "library", "motor_claims", "calls", "school_marks", "follow_up", "one_patient",
)  # fmt: skip
"""Tables that the rules on people were made with."""

"""Invented tables in the style of public surveys, hospital and billing extracts, every column with its right answer.

A line is: name, role, kind, hierarchy, cells. Where practitioners differ, answers are parted by a bar. They were
written down before the code they judge, by what a column is, not by what can be told from it. Nothing here comes from a
real table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from drawn import COUNTRIES, FIRST, LAST, Draw

Line = tuple[str, str, str, str, list]
TABLES: dict[str, tuple[int, Callable[[Draw], Iterator[Line]]]] = {}

ID, PERSON, QUASI, SENSITIVE, NEUTRAL, WEIGHT = "identifying", "person", "quasi", "sensitive", "neutral", "weight"
EITHER = "quasi|sensitive"
ANY = "quasi|sensitive|neutral"
NUM, NOM, ORD = "numeric", "nominal", "ordinal"
RANKED = "ordinal|nominal"
SCALE = "ordinal|numeric|nominal"
NO, PRE, DATES = "none", "prefixes", "dates"
ICD10 = (
    "E11.9 I10 J45.9 C50.4 F32.1 K21.0 M54.5 N39.0 Z38.0 I21.4 E78.5 J18.9 G43.9 S72.0 O80 K80.2 F10.2 B20 H25.1 I50.0"
)
ICD9 = "250.83 428 414 486 786 V57 276 410 E885 682 250.6 584 V58 491 715 780 996 434 518 599"
ATC = "A10BA02 C09AA05 N02BE01 R03AC02 C10AA05 N06AB04 A02BC01 B01AC06 H03AA01 L04AX03 M01AE01 J01CA04"
STATES = "CA TX NY FL IL PA OH GA NC MI NJ VA WA AZ MA"


def table(n: int):
    def keep(make):
        TABLES[make.__name__] = (n, make)
        return make

    return keep


@table(2000)
def hospital_stays(d: Draw):
    yield "encounter_id", ID, "", "", d.numbers(12_000, 443_000_000 // 100)
    d.people(1300)
    yield "patient_nbr", PERSON, "", "", d.each(d.numbers, 900, 1_890_000)
    yield (
        "race",
        QUASI,
        NOM,
        NO,
        d.some(d.each(d.pick, ["Caucasian", "AfricanAmerican", "Hispanic", "Asian", "Other"], skew=1.5), 0.02, "?"),
    )
    yield "gender", QUASI, NOM, NO, d.each(d.pick, "Female Male")
    yield (
        "age",
        QUASI,
        ORD,
        NO,
        d.each(d.pick, [f"[{a}-{a + 10})" for a in range(0, 100, 10)], [1, 2, 3, 5, 9, 16, 22, 25, 14, 3]),
    )
    yield (
        "weight",
        EITHER,
        ORD,
        NO,
        d.some(d.pick([f"[{a}-{a + 25})" for a in range(0, 200, 25)], [1, 4, 14, 30, 30, 12, 4, 2]), 0.9, "?"),
    )
    yield "admission_type_id", ANY, NOM, NO, d.pick("1 3 2 6 5 8 7 4", skew=1.4)
    yield "discharge_disposition_id", EITHER, NOM, NO, d.pick([str(i) for i in range(1, 29)], skew=1.6)
    yield "admission_source_id", ANY, NOM, NO, d.pick("7 1 17 4 6 2 5 3 20 9", skew=1.5)
    yield "time_in_hospital", EITHER, NUM, NO, d.counts(4)
    yield "payer_code", EITHER, NOM, NO, d.some(d.pick("MC HM SP BC MD CP UN CM OG", skew=1.2), 0.4, "?")
    yield (
        "medical_specialty",
        EITHER,
        NOM,
        NO,
        d.some(
            d.pick(
                [
                    "InternalMedicine",
                    "Emergency/Trauma",
                    "Family/GeneralPractice",
                    "Cardiology",
                    "Surgery-General",
                    "Nephrology",
                    "Orthopedics",
                ],
                skew=1,
            ),
            0.5,
            "?",
        ),
    )
    yield "num_lab_procedures", EITHER, NUM, NO, d.bell(43, 19, low=1)
    yield "num_medications", EITHER, NUM, NO, d.counts(15)
    yield "number_inpatient", EITHER, NUM, NO, d.counts(0.6)
    for place in (1, 2, 3):
        yield f"diag_{place}", SENSITIVE, NOM, PRE, d.pick(ICD9, skew=0.7)
    yield "max_glu_serum", SENSITIVE, RANKED, NO, d.pick(["None", "Norm", ">200", ">300"], [94, 3, 2, 1])
    yield "A1Cresult", SENSITIVE, RANKED, NO, d.pick(["None", ">8", "Norm", ">7"], [83, 8, 5, 4])
    yield "metformin", SENSITIVE, RANKED, NO, d.pick("No Steady Up Down", [80, 18, 1, 1])
    yield "insulin", SENSITIVE, RANKED, NO, d.pick("No Steady Down Up", [46, 30, 12, 11])
    yield "diabetesMed", SENSITIVE, NOM, NO, d.pick("Yes No", [77, 23])
    yield "readmitted", SENSITIVE, RANKED, NO, d.pick("NO >30 <30", [54, 35, 11])


@table(1500)
def claims(d: Draw):
    yield "claim_no", ID, "", "", d.serial(20240001)
    d.people(420)
    yield "member_id", PERSON, "", "", d.each(d.digits, "M########")
    yield "subscriber_phone", ID, "", "", d.each(d.digits, "(6##) 555-####")
    yield "dob", QUASI, NOM, DATES, d.each(d.days, "1930-01-01", "2015-12-31")
    yield "sex_cd", QUASI, NOM, NO, d.each(d.pick, "F M U", [50, 48, 2])
    yield "zip5", QUASI, NOM, PRE, d.each(d.pool, "0####", 150)
    yield "svc_date", QUASI, NOM, DATES, d.days("2023-01-01", "2023-12-31")
    yield "icd10_cd", SENSITIVE, NOM, PRE, d.pick(ICD10, skew=0.6)
    yield "proc_cd", SENSITIVE, NOM, "prefixes|none", d.pool("9####", 90)
    yield "drg", EITHER, NOM, "prefixes|none", d.pool("###", 60)
    yield "ndc", SENSITIVE, NOM, "prefixes|none", d.pool("#####-####-##", 80)
    yield "pos_cd", ANY, NOM, NO, d.pick("11 22 23 21 81 31", skew=1)
    yield "claim_status", ANY, NOM, NO, d.pick("PD DN RV PN", skew=1.2)
    yield "rev_code", EITHER, NOM, "prefixes|none", d.pool("0###", 40)
    yield "provider_npi", "identifying|quasi", NOM, "prefixes|none", d.pool("1#########", 45)
    yield "billed_amt", SENSITIVE, NUM, NO, d.money(320, 1.1, 2)
    yield "allowed_amt", SENSITIVE, NUM, NO, d.money(210, 1.0, 2)
    yield "copay", SENSITIVE, NUM, NO, d.pick("0 10 20 25 40 50", skew=0.5)
    yield "units", EITHER, NUM, NO, d.counts(1.4)
    yield "plan_type", EITHER, NOM, NO, d.each(d.pick, "HMO PPO POS EPO")
    yield "currency", NEUTRAL, "", "", ["USD"] * d.rows
    yield "provider_state", QUASI, NOM, NO, d.pick(STATES, skew=0.7)


@table(1200)
def soep(d: Draw):
    yield "persnr", ID, "", "", d.numbers(100_000, 999_999)
    yield "hhnr", ID, "", "", sorted(d.pool("4####", 600, 0))
    yield "welle", NEUTRAL, "", "", ["38"] * d.rows
    yield "geschlecht", QUASI, NOM, NO, d.pick("1 2")
    yield "geburtsjahr", QUASI, NUM, NO, d.whole(1935, 2004)
    yield (
        "bundesland",
        QUASI,
        NOM,
        NO,
        d.pick(["Bayern", "Hessen", "Sachsen", "Berlin", "Hamburg", "Saarland", "Thüringen", "Bremen"], skew=0.6),
    )
    yield "plz", QUASI, NOM, PRE, d.pool("#####", 300)
    yield "familienstand", QUASI, NOM, NO, d.pick("ledig verheiratet geschieden verwitwet", skew=0.7)
    yield (
        "schulabschluss",
        QUASI,
        RANKED,
        NO,
        d.pick(["Hauptschule", "Realschule", "Abitur", "kein Abschluss"], skew=0.4),
    )
    yield "staatsangeh", QUASI, NOM, NO, d.pick(["deutsch", "türkisch", "polnisch", "italienisch", "syrisch"], skew=2)
    yield "erwerbsstatus", QUASI, NOM, NO, d.pick("1 2 3 4 5 9", skew=0.8)
    yield "isco88", QUASI, NOM, PRE, d.pool("####", 120)
    yield "nettoeinkommen", SENSITIVE, NUM, NO, d.money(2100, 0.5, step=50)
    yield "monatsmiete", SENSITIVE, NUM, NO, d.money(650, 0.4, step=10)
    yield "vermoegen", SENSITIVE, NUM, NO, d.money(40000, 1.4, step=1000, zeros=0.2)
    yield (
        "konfession",
        SENSITIVE,
        NOM,
        NO,
        d.pick(["keine", "katholisch", "evangelisch", "muslimisch", "andere"], skew=0.6),
    )
    yield "parteineigung", SENSITIVE, NOM, NO, d.pick("1 2 3 4 5 6 7 -2", skew=0.6)
    yield "gesundheit", SENSITIVE, SCALE, NO, d.pick("1 2 3 4 5", [10, 35, 32, 16, 7])
    yield "schwerbehindert", SENSITIVE, NOM, NO, d.pick("ja nein", [12, 88])
    yield "kinderzahl", QUASI, NUM, NO, d.counts(0.9)
    yield "wohnflaeche", EITHER, NUM, NO, d.bell(92, 35, low=15)
    yield "koerpergroesse", EITHER, NUM, NO, d.bell(172, 10)
    yield "hochrechnungsfaktor", WEIGHT, NUM, NO, d.money(3300, 0.7, 3)
    yield "arbeitsstunden", QUASI, NUM, NO, d.bell(36, 9, low=0)


@table(900)
def urgencias(d: Draw):
    d.people(520)
    yield "nhc", "person|identifying", "", "", d.each(d.numbers, 100_000, 999_999)
    yield "dni", "identifying|person", "", "", d.each(d.digits, "########@")
    yield "nombre", ID, "", "", d.each(d.pick, FIRST)
    yield "apellidos", ID, "", "", d.each(d.names, "{1} de {1}")
    yield "fecha_nacimiento", QUASI, NOM, NO, d.each(d.days, "1930-01-01", "2018-01-01", "%d/%m/%Y")
    yield "sexo", QUASI, NOM, NO, d.each(d.pick, "Hombre Mujer")
    yield "cp", QUASI, NOM, PRE, d.each(d.pool, "28###", 80)
    yield "provincia", QUASI, NOM, NO, d.each(d.pick, "Madrid Toledo Segovia Cuenca Ávila", skew=1.4)
    yield "fecha_ingreso", QUASI, NOM, DATES, d.days("2022-01-01", "2022-12-31")
    yield "diagnostico", SENSITIVE, NOM, PRE, d.pick([code.replace(".", "") for code in ICD10.split()], skew=0.5)
    yield "servicio", EITHER, NOM, NO, d.pick(["Medicina interna", "Trauma", "Pediatría", "Cirugía"], skew=0.5)
    yield "principio_activo", SENSITIVE, NOM, PRE, d.pick(ATC, skew=0.5)
    yield "coste", SENSITIVE, NUM, NO, d.money(700, 0.9, 2)
    yield "exitus", SENSITIVE, NOM, NO, d.pick("0 1", [96, 4])
    yield "tension_sistolica", SENSITIVE, NUM, NO, d.bell(128, 18)
    yield "glucemia", SENSITIVE, NUM, NO, d.bell(112, 35, low=40)
    yield "peso_kg", EITHER, NUM, NO, d.bell(74, 15, 1, low=3)
    yield "talla", EITHER, NUM, NO, d.bell(168, 10)
    yield "telefono", QUASI, NOM, NO, d.pick("Sí No", [80, 20])
    yield "nivel_triaje", EITHER, SCALE, NO, d.pick("1 2 3 4 5", [2, 10, 40, 38, 10])
    yield "observaciones", ID, "", "", d.notes()


@table(1000)
def menages(d: Draw):
    yield "identifiant", ID, "", "", d.serial(1, "FR{:06d}")
    yield "nom", ID, "", "", d.pick(LAST)
    yield "prenom", ID, "", "", d.pick(FIRST)
    yield "datenais", "quasi|identifying", "|nominal", "|dates", d.days("1935-01-01", "2003-12-31")
    yield "sexe", QUASI, NOM, NO, d.pick("H F")
    yield "codecommune", QUASI, NOM, PRE, d.pool("69###", 70)
    yield "dep", QUASI, NOM, NO, d.pick(["01", "13", "33", "59", "69", "75", "92", "2A"], skew=0.5)
    yield "csp", QUASI, NOM, NO, d.pick("1 2 3 4 5 6 7 8", skew=0.3)
    yield (
        "naf",
        QUASI,
        NOM,
        PRE,
        d.pick(["4711A", "6201Z", "8610Z", "5610C", "4120B", "8411Z", "0111Z", "4932Z", "8510Z", "7022Z"], skew=0.4),
    )
    yield "tranche_age", QUASI, ORD, NO, d.pick(["18-24 ans", "25-39 ans", "40-54 ans", "55-64 ans", "65 ans et plus"])
    yield "tranche_revenu", SENSITIVE, ORD, NO, d.pick(["moins de 1000", "1000-1999", "2000-2999", "3000 et plus"])
    yield "statut_matrimonial", QUASI, NOM, NO, d.pick(["célibataire", "marié", "divorcé", "veuf", "pacsé"], skew=0.5)
    yield "diplome", QUASI, RANKED, NO, d.pick(["aucun", "CAP/BEP", "bac", "bac+2", "master"], skew=0.2)
    yield "nb_enfants", QUASI, NUM, NO, d.counts(1.1)
    yield "revenu_annuel", SENSITIVE, NUM, NO, d.money(24000, 0.6)
    yield "impot", SENSITIVE, NUM, NO, d.money(1900, 1.0, zeros=0.4)
    yield "loyer", SENSITIVE, NUM, NO, d.money(600, 0.4, step=5, zeros=0.5)
    yield "handicap", SENSITIVE, NOM, NO, d.pick("oui non", [7, 93])
    yield "poids_sondage", WEIGHT, NUM, NO, d.money(1.0, 0.5, 6)
    yield "nationalite", QUASI, NOM, NO, d.pick(COUNTRIES, skew=2)
    yield "surface_m2", EITHER, NUM, NO, d.bell(80, 30, low=9)
    yield "courriel", ID, "", "", d.mails()


@table(1600)
def nameless(d: Draw):
    yield "v01", ID, "", "", d.serial(1)
    yield "v02", QUASI, NOM, NO, d.pick("male female")
    yield "v03", QUASI, NUM, NO, d.ages()
    yield "v04", QUASI, NOM, "prefixes|none", d.pool("0####", 120)
    yield "v05", EITHER, NUM, NO, d.money(850, 0.9, 2)
    yield "v06", ANY, NOM, NO, d.pick("1 2 3 4 7 9", [10, 40, 8, 30, 2, 10])
    yield "v07", QUASI, ORD, NO, d.pick(["18-24", "25-34", "35-44", "45-54", "55-64", "65+"])
    yield "v08", NEUTRAL, "", "", ["2021"] * d.rows
    yield "v09", SENSITIVE, NOM, PRE, d.pick(ICD10, skew=0.5)
    yield "v10", QUASI, NOM, NO, d.pick(COUNTRIES, skew=1.2)
    yield "v11", QUASI, NOM, NO, d.pick(["never married", "married", "divorced", "widowed", "separated"], skew=0.6)
    yield "v12", ID, "", "", d.mails()
    yield "v13", ANY, NOM, NO, d.pick("yes no", [30, 70])
    yield "v14", ANY, NUM, NO, d.counts(1.3)
    yield "v15", QUASI, NOM, DATES, d.days("1940-01-01", "2002-01-01")
    yield "v16", ID, "", "", d.names()
    yield "v17", ID, "", "", d.numbers(10_000_000, 99_999_999)
    yield "v18", EITHER, ORD, NO, d.pick(["<5k", "5k-10k", "10k-20k", "20k-50k", ">50k"])
    yield "v19", EITHER, NUM, NO, d.bell(24.6, 4.2, 1, low=14)
    yield "v20", ANY, SCALE, NO, d.pick(["strongly disagree", "disagree", "neutral", "agree", "strongly agree"])
    yield "v21", ID, "", "", d.notes()
    yield "v22", QUASI, NOM, NO, d.pick(["White", "Black", "Asian", "Hispanic", "Other"], skew=1)
    yield "v23", SENSITIVE, NOM, NO, d.pick(["Diabetes", "Asthma", "Hypertension", "Cancer", "HIV", "None"], skew=0.4)
    yield "v24", QUASI, NOM, NO, d.pick(STATES, skew=0.8)
    yield "v25", ID, "", "", d.digits("+49 15# #######")
    yield "v26", SENSITIVE, NOM, NO, d.pick("positive negative", [8, 92])


@table(1100)
def bank(d: Draw):
    yield "CustomerId", ID, "", "", d.numbers(15_565_000, 15_816_000)
    yield "Surname", ID, "", "", d.pick(LAST)
    yield "age", QUASI, NUM, NO, d.ages()
    yield (
        "job",
        QUASI,
        NOM,
        NO,
        d.pick(["admin.", "technician", "services", "management", "retired", "student", "blue-collar"]),
    )
    yield "marital", QUASI, NOM, NO, d.pick("married single divorced")
    yield "education", QUASI, RANKED, NO, d.pick(["primary", "secondary", "tertiary", "unknown"], [15, 50, 30, 5])
    yield "default", SENSITIVE, NOM, NO, d.pick("no yes", [98, 2])
    yield "balance", SENSITIVE, NUM, NO, d.money(900, 1.1)
    yield "housing", EITHER, NOM, NO, d.pick("yes no")
    yield "loan", SENSITIVE, NOM, NO, d.pick("no yes", [84, 16])
    yield "contact", ANY, NOM, NO, d.pick(["cellular", "telephone", "unknown"], [65, 10, 25])
    yield "telephone", ANY, NOM, NO, d.pick("yes none", [40, 60])
    yield "campaign", ANY, NUM, NO, d.counts(2)
    yield "pdays", ANY, NUM, NO, d.some(d.whole(1, 400), 0.8, "-1")
    yield "poutcome", ANY, NOM, NO, d.pick(["unknown", "failure", "other", "success"], skew=1.5)
    yield "credit_limit", SENSITIVE, NUM, NO, d.money(5000, 0.7, step=500)
    yield "iban", ID, "", "", d.digits("DE####################")
    yield "card_no", ID, "", "", d.digits("4###-####-####-####")
    yield "branch_code", QUASI, NOM, "prefixes|none", d.pool("###", 30)
    yield "credit_score", SENSITIVE, NUM, NO, d.bell(640, 80)
    yield "open_date", QUASI, NOM, DATES, d.days("2005-01-01", "2023-12-31")
    yield "acct_status", EITHER, NOM, NO, d.pick("A11 A12 A13 A14", skew=0.5)
    yield "tenure", QUASI, NUM, NO, d.whole(0, 10)
    yield "y", SENSITIVE, NOM, NO, d.pick("no yes", [88, 12])
    yield "Exited", SENSITIVE, NOM, NO, d.pick("0 1", [80, 20])


@table(700)
def staff(d: Draw):
    yield "emp_no", ID, "", "", d.serial(10001)
    yield "badge", ID, "", "", d.digits("B-####&&")
    yield "first_name", ID, "", "", d.pick(FIRST)
    yield "last_name", ID, "", "", d.pick(LAST)
    yield "work_email", ID, "", "", d.mails()
    yield "home_address", ID, "", "", d.streets()
    yield "hire_date", QUASI, NOM, DATES, d.days("1995-01-01", "2023-12-31")
    yield "dept_id", QUASI, NOM, NO, d.pick("10 20 30 40 50 60 80", skew=0.5)
    yield (
        "job_title",
        QUASI,
        NOM,
        NO,
        d.pick(["Clerk", "Analyst", "Engineer", "Manager", "Director", "Driver"], skew=0.6),
    )
    yield "grade", QUASI, SCALE, NO, d.pick("1 2 3 4 5 6 7 8", [3, 9, 18, 25, 20, 14, 8, 3])
    yield "base_salary", SENSITIVE, NUM, NO, d.money(48000, 0.35, step=100)
    yield "bonus", SENSITIVE, NUM, NO, d.money(2500, 0.8, step=10, zeros=0.5)
    yield "Gender", QUASI, NOM, NO, d.pick("F M X", [48, 51, 1])
    yield "ethnicity", QUASI, NOM, NO, d.pick(["White British", "Asian", "Black African", "Mixed"], skew=1.3)
    yield "manager_id", "identifying|quasi", NOM, "prefixes|none", d.pool("10###", 45, 0.3)
    yield "perf_rating", SENSITIVE, SCALE, NO, d.pick("1 2 3 4 5", [3, 12, 50, 28, 7])
    yield "left_company", SENSITIVE, NOM, NO, d.pick("0 1", [82, 18])
    yield "years_service", QUASI, NUM, NO, d.counts(7)
    yield "disability_flag", SENSITIVE, NOM, NO, d.pick("N Y", [94, 6])
    yield "union_member", SENSITIVE, NOM, NO, d.pick("N Y", [70, 30])
    yield "sick_days", SENSITIVE, NUM, NO, d.counts(5)
    yield "commute_km", EITHER, NUM, NO, d.money(12, 0.8, 1)
    yield "contract", QUASI, NOM, NO, d.pick(["permanent", "fixed-term", "agency"], skew=1)
    yield "site_id", QUASI, NOM, NO, d.pick("S01 S02 S03 S04", skew=0.5)
    yield "company", NEUTRAL, "", "", ["Acme"] * d.rows


@table(850)
def pupils(d: Draw):
    yield "student_no", ID, "", "", d.numbers(300_000, 399_999)
    yield "school_id", QUASI, NOM, "prefixes|none", d.pool("1##", 22, 0.4)
    yield "grade_lvl", QUASI, RANKED, NO, d.pick([f"Grade {g}" for g in range(6, 13)])
    yield "birth_yr", QUASI, NUM, NO, d.whole(2004, 2012)
    yield "sex", QUASI, NOM, NO, d.pick("F M")
    yield "home_lang", QUASI, NOM, NO, d.pick(["English", "Spanish", "Arabic", "Vietnamese", "Polish"], skew=2)
    yield "ell_flag", EITHER, NOM, NO, d.pick("N Y", [88, 12])
    yield "free_lunch", SENSITIVE, NOM, NO, d.pick("N Y", [60, 40])
    yield "special_ed", SENSITIVE, NOM, NO, d.pick("N Y", [87, 13])
    yield "gpa", EITHER, NUM, NO, d.bell(2.9, 0.6, 2)
    yield "math_score", EITHER, NUM, NO, d.bell(510, 90)
    yield "read_pct", EITHER, NUM, NO, d.whole(1, 99)
    yield "absences", EITHER, NUM, NO, d.counts(6)
    yield "suspended", SENSITIVE, NOM, NO, d.pick("0 1", [93, 7])
    yield "parent_email", ID, "", "", d.mails()
    yield "teacher_comment", ID, "", "", d.notes()
    yield "zip", QUASI, NOM, PRE, d.pool("606##", 40)
    yield "dropout", SENSITIVE, NOM, NO, d.pick("no yes", [95, 5])
    yield "term", "neutral|quasi", "|nominal", "|none", ["Fall 2021"] * d.rows
    yield "bus_route", QUASI, NOM, "prefixes|none", d.pick([f"R{i}" for i in range(1, 16)], skew=0.4)


@table(2500)
def pums(d: Draw):
    d.people(1100)
    yield "SERIALNO", ID, "", "", d.each(d.serial, 1, "2019HU{:07d}", 13)
    yield "SPORDER", QUASI, NUM, NO, d.counts(1.2)
    yield "PUMA", QUASI, NOM, "prefixes|none", d.each(d.pool, "0##0#", 60, 0.3)
    yield "ST", QUASI, NOM, NO, d.each(d.pick, ["06", "36", "48", "12", "17"], skew=0.3)
    yield "ADJINC", NEUTRAL, "", "", ["1010145"] * d.rows
    yield "PWGTP", WEIGHT, NUM, NO, d.money(85, 0.7)
    yield "AGEP", QUASI, NUM, NO, d.ages(0)
    yield "SEX", QUASI, NOM, NO, d.pick("1 2")
    yield "RAC1P", QUASI, NOM, NO, d.pick("1 2 6 8 9 3 5", skew=1.6)
    yield "HISP", QUASI, NOM, NO, d.pick(["01", "02", "03", "24", "11"], skew=2)
    yield "SCHL", QUASI, SCALE, NO, d.pick([str(i) for i in range(1, 25)], [1] * 15 + [16, 4, 7, 12, 8, 18, 9, 2, 2])
    yield "MAR", QUASI, NOM, NO, d.pick("1 5 3 2 4", skew=1)
    yield "CIT", QUASI, NOM, NO, d.pick("1 4 5 3 2", skew=2)
    yield "COW", QUASI, NOM, NO, d.some(d.pick("1 2 3 4 5 6 7 8 9", skew=0.9), 0.3)
    yield "OCCP", QUASI, NOM, PRE, d.some(d.pool("####", 180, 0.6), 0.3)
    yield (
        "NAICSP",
        QUASI,
        NOM,
        PRE,
        d.some(d.pick(["23", "611M1", "722Z", "6221", "44511", "92MP", "5411", "814", "8121M", "7211"], skew=0.3), 0.3),
    )
    yield "SOCP", QUASI, NOM, PRE, d.some(d.pool("##20##", 120, 0.5), 0.3)
    yield "WKHP", QUASI, NUM, NO, d.some(d.bell(38, 11, low=1), 0.35)
    yield "JWMNP", QUASI, NUM, NO, d.some(d.money(24, 0.7), 0.5)
    yield "PINCP", SENSITIVE, NUM, NO, d.money(31000, 0.9, step=10)
    yield "WAGP", SENSITIVE, NUM, NO, d.money(34000, 0.8, step=100, zeros=0.4)
    yield "SSIP", SENSITIVE, NUM, NO, d.money(8000, 0.3, step=100, zeros=0.96)
    yield "POVPIP", SENSITIVE, NUM, NO, d.whole(0, 501)
    yield "DIS", SENSITIVE, NOM, NO, d.pick("2 1", [86, 14])
    yield "HICOV", EITHER, NOM, NO, d.pick("1 2", [91, 9])
    yield "MIL", QUASI, NOM, NO, d.some(d.pick("4 2 3 1", [92, 6, 1, 1]), 0.2)
    for place in (1, 2, 3):
        yield f"PWGTP{place}", "neutral|identifying|weight", "|numeric", "|none", d.money(85, 0.9)


@table(960)
def trial(d: Draw):
    d.people(160, 0.2)
    yield "usubjid", PERSON, "", "", d.each(d.serial, 1001, "ABC-{}")
    yield "site_no", QUASI, NOM, "prefixes|none", d.each(d.pool, "##", 12, 0.2)
    yield "visit", "quasi|neutral", RANKED, NO, d.pick([f"Week {w}" for w in (0, 4, 8, 12, 24)])
    yield "arm", ANY, NOM, NO, d.each(d.pick, ["placebo", "10 mg", "20 mg"])
    yield "sex", QUASI, NOM, NO, d.each(d.pick, "M F")
    yield "age_yrs", QUASI, NUM, NO, d.each(d.ages, 18, 80)
    yield "country", QUASI, NOM, NO, d.each(d.pick, "DEU FRA ESP POL USA", skew=0.5)
    yield "height_cm", EITHER, NUM, NO, d.each(d.bell, 171, 10)
    yield "weight", EITHER, NUM, NO, d.bell(78, 14, 1)
    yield "bmi", EITHER, NUM, NO, d.bell(26.4, 4.0, 1)
    yield "sbp", SENSITIVE, NUM, NO, d.bell(131, 16)
    yield "dbp", SENSITIVE, NUM, NO, d.bell(82, 10)
    yield "ldl_chol", SENSITIVE, NUM, NO, d.bell(118, 31)
    yield "crp", SENSITIVE, NOM, "intervals|none", d.some(d.bell(6, 4, 2, low=0.1), 0.04, "<0.10")
    yield "ferritin", SENSITIVE, NUM, NO, [f"{float(value):07.2f}" for value in d.money(90, 0.8, 2)]
    yield "platelets", SENSITIVE, NOM, "intervals|none", d.some(d.bell(240, 60, low=20), 0.02, "clotted")
    yield "hiv_status", SENSITIVE, NOM, NO, d.each(d.pick, "neg pos", [97, 3])
    yield "genotype_rs1", SENSITIVE, NOM, NO, d.each(d.pick, "AA AG GG", [50, 40, 10])
    yield "ae_term", SENSITIVE, NOM, NO, d.pick(["headache", "nausea", "fatigue", "rash", "none"], skew=0.5)
    yield "ae_severity", SENSITIVE, ORD, NO, d.pick("mild moderate severe", skew=1)
    yield "barcode", ID, "", "", d.digits("############")
    yield "visit_dt", QUASI, NOM, DATES, d.days("2020-03-01", "2021-12-31")
    yield "withdrawn", SENSITIVE, NOM, NO, d.each(d.pick, "N Y", [85, 15])
    yield "death_flag", SENSITIVE, NOM, NO, d.each(d.pick, "0 1", [97, 3])
    yield "initials", ID, "", "", d.each(d.digits, "@@")


@table(1800)
def web_log(d: Draw):
    yield "event_uuid", ID, "", "", d.digits("&&&&&&&&-&&&&-4&&&-a&&&-&&&&&&&&&&&&")
    d.people(300)
    yield "uid", PERSON, "", "", d.each(d.digits, "&" * 32)
    yield "ip_addr", ID, "", "", d.each(d.digits, "10.##.1#.2#")
    yield "session", ID, "", "", d.pool("s&&&&&&&&&&", 1200, 0)
    yield (
        "ts",
        QUASI,
        NOM,
        DATES,
        [
            f"{day} {hour:02d}:{minute:02d}:07"
            for day, hour, minute in zip(
                d.days("2023-05-01", "2023-06-30"),
                d.rng.integers(0, 24, d.rows),
                d.rng.integers(0, 60, d.rows),
                strict=True,
            )
        ],
    )
    yield "ctry", QUASI, NOM, NO, d.each(d.pick, ["DE", "FR", "ES", "IT", "PL", "US", "GB", "NL"], skew=0.8)
    yield "city", QUASI, NOM, NO, d.each(d.pick, ["Berlin", "Paris", "Madrid", "Rome", "Warsaw", "Leeds", "Utrecht"])
    yield "lat", QUASI, NUM, NO, d.each(d.bell, 49, 4, 4)
    yield "lon", QUASI, NUM, NO, d.each(d.bell, 9, 6, 4, -10)
    yield "browser", ANY, NOM, NO, d.each(d.pick, ["Chrome 112", "Firefox 113", "Safari 16", "Edge 112"], skew=1)
    yield "msisdn", ID, "", "", d.each(d.digits, "4917########")
    yield "ageband", QUASI, ORD, NO, d.each(d.pick, ["under 18", "18-29", "30-44", "45-59", "60 and over"])
    yield "gender", QUASI, NOM, NO, d.each(d.pick, ["f", "m", "d"], [49, 50, 1])
    yield "revenue_eur", SENSITIVE, NUM, NO, d.money(14, 1.2, 2, zeros=0.7)
    yield "n_clicks", ANY, NUM, NO, d.counts(9)
    yield "http_status", "quasi|neutral", NOM, "prefixes|none", d.pick("200 404 301 500 403", skew=2)
    yield (
        "url",
        "identifying|sensitive",
        "|nominal",
        "|none",
        [f"https://shop.example/{page}/{row}" for row, page in enumerate(d.pick("a b c d"))],
    )
    yield "os_code", ANY, NOM, NO, d.pick("1 2 3 5", skew=1)


@table(1000)
def courts(d: Draw):
    yield "docket", ID, "", "", d.serial(1, "CR-2019-{:05d}")
    d.people(640)
    yield "def_ssn", PERSON, "", "", d.each(d.digits, "###-##-####")
    yield "defendant", ID, "", "", d.each(d.names, "{1}, {0}")
    yield "dob", QUASI, NOM, DATES, d.each(d.days, "1950-01-01", "2001-12-31")
    yield "race", QUASI, NOM, NO, d.each(d.pick, ["Black", "White", "Hispanic", "Other"], skew=0.7)
    yield "offense_code", SENSITIVE, NOM, "prefixes|none", d.pool("####", 70)
    yield "charge_degree", SENSITIVE, NOM, NO, d.pick("F3 M1 F2 M2 F1", skew=0.8)
    yield "plea", SENSITIVE, NOM, NO, d.pick(["guilty", "not guilty", "no contest"], skew=0.8)
    yield "sentence_months", SENSITIVE, NUM, NO, d.money(14, 0.9)
    yield "fine_usd", SENSITIVE, NUM, NO, d.money(400, 0.7, step=25, zeros=0.5)
    yield "bail", SENSITIVE, NUM, NO, d.money(5000, 0.9, step=500, zeros=0.4)
    yield "priors_count", SENSITIVE, NUM, NO, d.counts(2.4)
    yield "two_year_recid", SENSITIVE, NOM, NO, d.pick("0 1", [55, 45])
    yield "decile_score", SENSITIVE, "numeric|ordinal|nominal", NO, d.whole(1, 10)
    yield "district", QUASI, NOM, NO, d.pick("1 2 3 4 5 6 7 8 9", skew=0.3)
    yield "judge_id", "identifying|quasi", NOM, "prefixes|none", d.pool("J###", 25, 0.3)
    yield "offense_date", QUASI, NOM, DATES, d.days("2012-01-01", "2019-12-31")
    yield "citizen", QUASI, NOM, NO, d.each(d.pick, "Y N", [92, 8])
    yield "juv_fel", EITHER, NUM, NO, d.counts(0.1)
    yield "drug_test", SENSITIVE, NOM, NO, d.pick(["negative", "positive", "not done"], skew=1)


@table(1300)
def tumours(d: Draw):
    d.people(900, 0.4)
    yield "MRN", PERSON, "", "", d.each(d.digits, "0######")
    yield "accession", ID, "", "", d.digits("S19-#######")
    yield (
        "site",
        SENSITIVE,
        NOM,
        PRE,
        d.pick(["C50.4", "C61.9", "C34.1", "C18.7", "C34.3", "C50.9", "C67.9", "C43.5", "C64.9", "C73.9"], skew=0.5),
    )
    yield (
        "morphology",
        SENSITIVE,
        NOM,
        "prefixes|none",
        d.pick(["8500/3", "8140/3", "8070/3", "8720/3", "8041/3", "8312/3"], skew=0.6),
    )
    yield "stage", SENSITIVE, RANKED, NO, d.pick("I II III IV", skew=0.3)
    yield "dx_date", QUASI, NOM, DATES, d.days("2010-01-01", "2019-12-31")
    yield "age_dx", QUASI, NUM, NO, d.ages(20)
    yield "sex", QUASI, NOM, NO, d.each(d.pick, "Female Male")
    yield "race_eth", QUASI, NOM, NO, d.each(d.pick, ["NHW", "NHB", "HISP", "API"], skew=1)
    yield "county_fips", QUASI, NOM, PRE, d.each(d.pool, "060##", 40, 0.5)
    yield "vital_status", SENSITIVE, NOM, NO, d.pick("Alive Dead", [64, 36])
    yield "surv_months", SENSITIVE, NUM, NO, d.money(38, 0.8)
    yield "cause_of_death", SENSITIVE, NOM, PRE, d.some(d.pick(ICD10, skew=0.6), 0.64)
    yield "tumor_size_mm", SENSITIVE, NUM, NO, d.money(22, 0.6)
    yield "nodes_pos", SENSITIVE, NUM, NO, d.counts(1.1)
    yield "er_status", SENSITIVE, NOM, NO, d.pick(["Positive", "Negative", "Borderline"], [70, 28, 2])
    yield "chemo", SENSITIVE, NOM, NO, d.pick("Y N")
    yield "smoker", SENSITIVE, NOM, NO, d.each(d.pick, ["never", "former", "current"])
    yield "ses_quintile", EITHER, SCALE, NO, d.each(d.pick, "1 2 3 4 5")
    yield "insurance", EITHER, NOM, NO, d.each(d.pick, ["Private", "Medicaid", "Medicare", "None"], skew=0.7)
    yield "marst", QUASI, NOM, NO, d.each(d.pick, "1 2 3 4 9", skew=0.8)
    yield "reg_version", NEUTRAL, "", "", ["NAACCR 18"] * d.rows
    yield "bmi_cat", EITHER, ORD, NO, d.each(d.pick, ["<18.5", "18.5-24.9", "25-29.9", "30+"])


@table(1400)
def lsms(d: Draw):
    d.people(330, 0.2)
    yield "hhid", ID, "", "", d.each(d.numbers, 10_000, 60_000)
    yield "pid", ID, "", "", d.serial(500_001)
    yield "ea", QUASI, NOM, "prefixes|none", d.each(d.pool, "1###", 60, 0.1)
    yield "strata", QUASI, NOM, NO, d.each(d.pick, "11 12 21 22 31 32")
    yield "urbrur", QUASI, NOM, NO, d.each(d.pick, "1 2", [30, 70])
    yield "hhsize", QUASI, NUM, NO, d.each(d.counts, 4.4)
    yield "roof", EITHER, NOM, NO, d.each(d.pick, "1 2 3 4 9", skew=0.8)
    yield "water", EITHER, NOM, NO, d.each(d.pick, "1 2 3 4 5 6 7 8", skew=0.6)
    yield "relat", QUASI, NOM, NO, d.pick("1 2 3 4 5 6 7 10", skew=0.6)
    yield "sex", QUASI, NOM, NO, d.pick("1 2")
    yield "age", QUASI, NUM, NO, d.some(d.ages(0), 0.02, "99")
    yield "lit", EITHER, NOM, NO, d.pick("1 2", [60, 40])
    yield "edu_lvl", QUASI, SCALE, NO, d.pick("0 1 2 3 4 5", [25, 30, 20, 15, 7, 3])
    yield "empstat", QUASI, NOM, NO, d.some(d.pick("1 2 3 4 5 8", skew=0.7), 0.3)
    yield "ind_isic", QUASI, NOM, PRE, d.some(d.pool("0###", 60, 0.7), 0.4)
    yield "occ_isco", QUASI, NOM, PRE, d.some(d.pool("####", 80, 0.7), 0.4)
    yield "wage_m", SENSITIVE, NUM, NO, d.some(d.money(180000, 0.8, step=5000), 0.6)
    yield "foodexp", SENSITIVE, NUM, NO, d.each(d.money, 2_400_000, 0.5)
    yield "totcons", SENSITIVE, NUM, NO, d.each(d.money, 5_100_000, 0.6, 2)
    yield "remit", SENSITIVE, NUM, NO, d.each(d.money, 300000, 0.6, step=10000, zeros=0.8)
    yield "ill30d", SENSITIVE, NOM, NO, d.pick("1 2", [18, 82])
    yield "landha", EITHER, NUM, NO, d.each(d.money, 0.8, 0.9, 2)
    yield "cattle", EITHER, NUM, NO, d.each(d.counts, 0.9)
    yield "hhweight", WEIGHT, NUM, NO, d.each(d.money, 412, 0.6, 4)
    yield "round", NEUTRAL, "", "", ["3"] * d.rows
    yield "religion", SENSITIVE, NOM, NO, d.each(d.pick, "1 2 3 4", skew=1.2)


@table(260)
def clinic(d: Draw):
    yield "Patient Name", ID, "", "", d.names()
    yield "PatientID", ID, "", "", d.numbers(1000, 9999)
    yield "SSN", ID, "", "", d.digits("###-##-####")
    yield "Mobile", ID, "", "", d.digits("07### ######")
    yield "Address", ID, "", "", d.streets()
    yield "Date of Birth", QUASI, NOM, DATES, d.days("1940-01-01", "2020-01-01", "%d.%m.%Y")
    yield "Sex", QUASI, NOM, NO, d.pick(["M", "F", "M ", "f"], [45, 45, 5, 5])
    yield "Postcode", QUASI, NOM, PRE, d.pool("LS## #@@", 120, 0.2)
    yield "Occupation", QUASI, NOM, NO, d.pick(["teacher", "nurse", "driver", "farmer", "retired"], skew=0.4)
    yield "Blood Group", SENSITIVE, NOM, NO, d.pick(["O+", "A+", "B+", "AB+", "O-", "A-"], skew=0.8)
    yield "Diagnosis", SENSITIVE, NOM, NO, d.pick(["Flu", "Asthma", "Migraine", "Type 2 diabetes", "Anxiety"], skew=0.3)
    yield "Rx", SENSITIVE, NOM, NO, d.pick(["ibuprofen", "salbutamol", "sertraline", "metformin"], skew=0.4)
    yield "Fee", SENSITIVE, NUM, NO, d.money(60, 0.5, 2)
    yield "GP", "identifying|quasi", "|nominal", "|none", [f"Dr {name}" for name in d.pick(LAST[:8])]
    yield "Allergies", SENSITIVE, NOM, NO, d.pick(["none", "penicillin", "nuts", "latex"], skew=1.2)
    yield "Pregnant", SENSITIVE, NOM, NO, d.pick("No Yes", [92, 8])
    yield "Smokes", SENSITIVE, NOM, NO, d.pick("No Yes", [75, 25])
    yield "Consent", "neutral|quasi|sensitive", NOM, NO, d.pick("Y N", [97, 3])
    yield "Chart No.", ID, "", "", d.serial(4400)
    yield "Height (cm)", EITHER, NUM, NO, d.bell(170, 11)

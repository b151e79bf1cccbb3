"""What the name of a column says: words of names in English, German, Spanish and French, by what they mean.

A name is compared word by word: "age" is not in "package". An entry may have several words ("first name"). `~` says
that a word may go on there, for compounds and abbreviations: `~einkommen` is in "nettoeinkommen", `diagnos~` in
"diagnostico". `=` says that the name must be this and nothing else. Accents do not count.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

Word = tuple[str, ...]


@dataclass(frozen=True)
class Meaning:
    """Words of names that mean one sort of thing."""

    phrases: frozenset[Word]
    parts: tuple[str, ...] = ()
    """Words that may go on where they have a `~`."""
    alone: frozenset[Word] = frozenset()
    """Words that must be the whole name."""

    def __or__(self, other: Meaning) -> Meaning:
        return Meaning(self.phrases | other.phrases, self.parts + other.parts, self.alone | other.alone)


def meaning(text: str) -> Meaning:
    """Read a list of words, separated by commas."""
    entries = [entry.strip() for entry in text.split(",") if entry.strip()]
    plain = [entry for entry in entries if "~" not in entry and "=" not in entry]
    return Meaning(
        frozenset(tuple(entry.split()) for entry in plain),
        tuple(entry for entry in entries if "~" in entry),
        frozenset(tuple(entry[1:].split()) for entry in entries if entry.startswith("=")),
    )


NAMES = meaning(
    "surname, forename, firstname, lastname, fullname, middlename, username, nickname, maiden name, birth name, "
    "first name, last name, family name, given name, full name, middle name, patient name, initials, nombre, "
    "nombres, apellido, apellidos, nom, prenom, vorname, nachname, familienname, ~vorname, ~nachname, cognome, "
    "signature, photo, fingerprint, login, fname, lname"
)
"""Names of people, and what is as good as one."""
HALF_NAMES = meaning("=first, =last, =given, =family, =middle, alias, aliases, aka, =second, =christian")
"""Names of people, where the cells are capitalised words."""
CONTACTS = meaning(
    "email, e mail, mail, courriel, correo, phone, telephone, tel, mobile, cellphone, fax, ~telefon~, handy, "
    "msisdn, street, strasse, calle, rue, url, website, ip, home address, postal address, email address, domicilio, "
    "adresse, direccion, iban, imei, imsi, licence plate, license plate, card number, card no, kontonummer"
)
TEXTS = meaning(
    "comment~, note, notes, remark~, free text, freetext, observacion~, bemerkung~, kommentar~, remarque~, "
    "narrative, anmerkung~, commentaire~"
)
"""Free text, which can name anybody."""
PERSONS = meaning(
    "~pid, ssn, social security, passport, dni, nie, nif, nino, nin, nhs, mrn, medical record, pesel, cpf, aadhaar, "
    "bsn, nhc, personnummer, national id, identity number, patientid, personid, customerid, userid, memberid, "
    "clientid, usubjid, subjid, ~patnr, ~persnr, patnr, persnr, pnr, uid, pid, chart, patient id, person id, "
    "customer id, user id, member id, client id, subject id, student id, employee id, worker id, respondent id, "
    "participant id, beneficiary id, insured id, policyholder id, applicant id, borrower id, driver id, voter id, "
    "subscriber id, bene id, emp id, enrolee id, enrollee id, =id, idpaciente, numero paciente, "
    "~versichertennummer, ~patientennummer, ~personalnummer, ~versichertennr, matrikel~, nir, identifiant, id "
    "paciente, id patient, id person, id persona, id cliente, id client, =patient, =person, =subject, expediente, "
    "num patient"
)
"""Numbers that are given to one person."""
RECORDS = meaning(
    "encounter, claim, case, episode, invoice, order, transaction, event, session, docket, accession, barcode, "
    "specimen, sample, serial, serialno, record, receipt, ticket, uuid, guid, booking, visit, stay, prescription "
    "number, admission, fall, fallnr, ~fallnummer, ~aktenzeichen, factura, episodio, sejour, rss, policy, contract "
    "number, card, badge, device, machine, application, form, row, line"
)
"""What one row is about, where it is not a person."""
STUDIES = meaning(
    "study~, trial~, protocol~, project~, survey~, cohort~, wave, round, version, release, dataset, file~, studie~, "
    "estudio~, etude~, projekt~, proyecto~, projet~, welle, ola, vague, period~, edition"
)
"""What a whole table is about."""
ISSUED = meaning("policy, card, badge, ticket, device, licence, license, ausweis, ~ausweis, tarjeta, carte")
"""Records that one person has for long."""
HOUSEHOLDS = meaning("hh~, household~, ~haushalt~, hogar~, menage~, foyer~, hid, family id, famid, serial~, vivienda")
UNITS = meaning(
    "site, school, dept, department, branch, provider, judge, doctor, physician, gp, manager, officer, hospital, "
    "ward, clinic, store, shop, product, type, source, status, disposition, country, region, state, district, "
    "office, centre, center, plan, carrier, payer, drug, course, class, unit, area, zone, stratum, strata, cluster, "
    "sku, article, artikel, item, ean, isbn, lot, batch, lote, "
    "team, group, company, category, service, station, npi, bank, teacher, employer, agency, route, code, cd, "
    "grade, level, reason, method"
)
"""What else a number can belong to."""
NUMBERED = meaning(
    "~id, id, identifier, nr, no, nbr, num, number, nummer, numero, ident, key, ref, reference, account, acct, "
    "hhid, hhnr, hid, caseid, seqn, seqno, seqnum, mergeid, rowid, ~key, ~nbr, ~nummer, ~numero"
)
"""A number or a code that stands for something."""
NO_NUMBERS = meaning(
    "acid, aid, android, bescheid, chlorid, corticoid, covid, fluid, fluorid, grid, humid, hybrid, invalid, lipid, "
    "liquid, madrid, morbid, opioid, overpaid, paid, peroxid, prepaid, rapid, repaid, rheumatoid, rigid, said, solid, "
    "steroid, suizid, sulfid, thyroid, triglycerid, typhoid, underpaid, unpaid, valid, void"
)
"""Words that end as such names do and say something else: `~id` is not in "paid", nor `~pid` in "lipid"."""
NAMED = meaning("name, address, id, identifier, account, ~name")
"""Names somebody or something: a person, unless another word says what else."""

HEALTH = meaning(
    "~dx, intubat~, ventilat~, apache~, pflege~, disease~, diabet~, ~hlth~, stroke, ~strk~, cvd~, contracep~, mdc, "
    "diag, diagnos~, ~diagnos~, dx, icd, icd~, illness~, ill, symptom~, hiv~, aids, medication~, medicine~, "
    "medicament~, medikament~, drug, drugs, prescription, rx, ndc, atc, principio activo, treatment~, therapy, "
    "therapie, chemo~, health~, gesund~, salud, sante, disab~, disability, ~behinder~, handicap~, discapacidad, "
    "=dis, pregnan~, embaraz~, schwanger~, abortion, mental, depress~, suicid~, alcohol~, smok~, tabac~, rauch~, "
    "genetic~, genotyp~, allele, cancer~, tumor~, tumour~, onco~, morphology, metasta~, nodes pos, stage, cause of "
    "death, blood, allerg~, ae term, ae severity, adverse, complication~, comorbid~, infection~, surgery, proc, "
    "procedure, cpt, drg, severity, er status, pr status, vaccin~, krank~, enfermedad~, maladie~, sick, injur~, "
    "obes~, chronic~, special need, sonderpad~"
)
LABS = meaning(
    "~heartrate, glucose, glu, glucemia, ~glucose~, cholesterol, chol, ldl, hdl, triglycerid~, hemoglobin, "
    "haemoglobin, hb, hba, hba1c, a1c~, creatinine, crp, ferritin, platelets, leuco~, wbc, rbc, sodium, potassium, "
    "albumin, bilirubin, tsh, psa, blood pressure, sbp, dbp, systolic, diastolic, ~sistolica, ~diastolica, tension, "
    "heart rate, pulse, temperature, spo2, fev1, bpx~, lbx~, lbd~, egfr, viral load, cd4, insulin, metformin, "
    "cortisol, vitamin~, lab, serum"
)
MONEY = meaning(
    "income~, ~income, salary, salaries, wage~, earning~, earn~, pay, payment~, paid, payroll, bonus, gain~, loss, "
    "losses, dividend~, interest, tax, taxes, expend~, ~expend~, expense~, spending, cost~, charge~, billed, "
    "allowed, price, amount, amt, balance, debt~, loan~, credit~, wealth, asset~, saving~, benefit amount, "
    "pension~, rent, fee, fees, revenue~, profit~, money, budget, copay, deductible, premium, fine, bail, remit~, "
    "consumption, deposit, mortgage, alimony, turnover, ~einkommen~, gehalt~, ~gehalt, lohn~, ~lohn, ~miete, "
    "kosten, betrag, ~betrag, ~vermogen, vermoegen, ~vermoegen, schulden, steuer~, ~steuer, ingreso economico~, "
    "ingresos, salario, sueldo, gasto~, coste~, importe, deuda~, ahorro~, renta, nomina, revenu~, salaire~, "
    "montant, depense~, loyer, dette~, epargne, impot~, agi, fica, bal, mnt, amnt, chg, dti, delinq~, ~pir, wagp, "
    "pincp, hincp, usd, eur, gbp, wealth~, poverty, povpip, pov, $, €, £, =gross, =brutto, =netto, erlos~, ~erlos, "
    "umsatz, ~umsatz, vergutung~"
)
MONEY_ABBREVIATED = meaning(
    "~inc, inc~, ~tax, tax~, ~val, val~, ~exp, exp~, ~sal, sal~, ~earn~, ~pay, pay~, ~debt, ~cost, ~cons, cons~, "
    "~rev, ~contrb, ~contrib~, inc, ~chg, ~amt, ~wage~, ~rent"
)
"""Money in abbreviated names, believed of large numbers only."""
BELIEFS = meaning(
    "rlg~, religion~, religious, faith, konfession~, creencia~, croyance~, political, politics, vote~, voting, "
    "party, party membership, ~partei~, partido, trade union, labor union, labour union, union, gewerkschaft~, "
    "sindicat~, syndicat~, sexual~, orientation"
)
JUSTICE = meaning(
    "crime~, criminal~, offence~, offense~, conviction~, convict~, arrest~, sentence~, plea, charge degree, "
    "verdict, prior, priors, recid~, delito~, straftat~, bail"
)
OUTCOMES = meaning(
    "~dischargestatus, outcome~, ~outcome, readmi~, reingreso, exitus, died, death~, dead, deceased, vital status, "
    "alive, surviv~, surv, mortality, dropout, churn~, exited, attrition, left company, withdrawn, relapse~, "
    "result~, ~result, rating, perf~, performance, default, defaulted, expire~, suspended, suspension, disposition, "
    "decile score, risk score, credit score, target, =y, =label, =class, =response, =outcome, fallecido, "
    "verstorben, gestorben, decede, rejected, approved, special ed, free lunch, welfare"
)
"""What came of it: what a table is published for, and what others must not read off it."""
SENSITIVE = HEALTH | LABS | MONEY | BELIEFS | JUSTICE | OUTCOMES

AGE = meaning("age, agep, ageband, agegroup, agegrp, agecat, ageyoung, alter, edad, altersgruppe, ~alter")
BIRTH = meaning(
    "birth~, dob, born, ~birth, geburt~, ~geburt~, nacimiento, naissance, datenais, fechanac, nac, nais, birthdate, "
    "~dob"
)
POSTAL = meaning(
    "zip, zip~, ~zip, zipcode, postcode, postal, postalcode, post code, pincode, pin code, plz, postleitzahl, cep, "
    "eircode, cp, codigo postal, code postal, codepostal, codpos"
)
PLACES = meaning(
    "city, town, village, municipality, municipio, commune, ~commune, codecommune, gemeinde, county, ~fips, fips, "
    "district, state, province, provincia, region, area, location, country, ctry, land, bundesland, nuts, latitude, "
    "longitude, lat, lon, lng, place, puma, tract, ward, departement, dep, comarca, stadt, ort, ~ort, kreis, st, "
    "ea, urbrur, lsoa~, msoa~, statefip, urban, rural, neighbourhood, strata"
)
JOBS = meaning(
    "occupation~, occup~, occ, ~occu, occucode, occp, job, profession, employ~, empstat, industry, ind, indp, "
    "isco~, isic~, nace~, naics~, naf, sic, soc, socp, csp, wz, cnae, compcode, beruf~, erwerb~, branche, worker, "
    "workclass, work, cow, puesto, ocupacion, metier, profesion, title, contract, unemployment"
)
QUASI = (
    POSTAL
    | PLACES
    | JOBS
    | AGE
    | BIRTH
    | meaning(
        "sex~, gender, geschlecht, sexo, sexe, genero, nationality, nationalit~, citizen~, cit, staatsang~, native, "
        "race~, rac, ethni~, etni, hispanic, hisp, language, lang, sprache, idioma, langue, education, educ~, edu, "
        "schl, schooling, schul~, abschluss, degree, diplom~, estudios, qualification, marital~, mar, marst~, "
        "marriage, married, familienstand, estado civil, matrimonial, civil, hhcivil, relationship, relat~, "
        "household, family, children, kinder~, enfants, hijos, hour, stunden, ~stunden, veteran, mil, migration, "
        "tenure, hire, grade, hhsize, height, talla, groesse, ~groesse, koerper~, wkhp, weeks, sporder, kindpers, "
        "school~, student, retired, birthplace, degree"
    )
)

WEIGHTS = meaning(
    "~wght~, ~wgt~, ~weight, weight, weights, ~weights, weighting, pweight, hweight, wgt, ~gewicht, hochrechnung~, "
    "ponder~, ~ponder~, poids, ~poids, expansion factor, factor expansion, fexp~, peso, =w, =wt, pwt, perwt, hhwt, "
    "~wt, wt~, factor~, ~faktor"
)
SURVEYED = meaning(
    "~wght~, ~wgt~, sampling, survey, sample, design, final, instance, person, pers, household, hhweight, pweight, "
    "hweight, fnl~, ~sondage, expansion, hochrechnung~, ponder~, ~ponder~, fexp~, perwt, hhwt, pwt, base, "
    "replicate, calibrated, hh, hh~, muestral, ~faktor"
)
"""Says of a weight that it is one of a survey."""
BODIES = meaning("kg, lb, lbs, body, birth, koerper~, gram, grams, ~body~, ~kg")

CODED = (
    POSTAL
    | JOBS
    | meaning(
        "~id, code, ~code, recode, cd, id, identifier, icd, cod, codigo, fips, ~fips, puma, status, ~stat, stat, "
        "type, kind, kindpers, kindfact, category, flag, class, nr, no"
    )
)
"""Names of columns whose numbers are codes."""
CATEGORIES = (
    meaning(
        "sex~, gender, race, rac, ethni~, etni, hispanic, hisp, marital~, marst~, mar, married, civil, hhcivil, "
        "country, nationality, citizen~, cit, native, region, state, province, county, district, city, religion~, "
        "konfession~, partei~, disease~, diagnos~, diag, veteran, language, lang, geschlecht, sexo, sexe, "
        "familienstand, relationship, relat, roof, walls, water, strata, stratum, cluster, status, ~status, ~stat, "
        "type, member, own, party, arm, exitus, ~flag, ~neigung"
    )
    | JOBS
    | PLACES
)
"""Names of columns whose whole numbers stand for categories."""
COUNTED = meaning("num, n, nb, number, count, cnt, anzahl, ~zahl, ~count, days, weeks, hours, years, months, minutes")
"""Names of columns that count, whatever else they say."""
COUNTS = meaning(
    "~groesse, ~grosse, ~siz, num~, n, nb, number, count~, ~count, anzahl, ~zahl, hours, hour, weeks, days, years, "
    "year, yr, yrs, months, minutes, ~stunden, ~jahr, tage, age, alter, edad, children, enfants, hijos, members, "
    "persons, size, ~size, ~siz, score, duration, time, units, visits, times, total, sum, rate, percent, pct, "
    "~dauer, absences, priors, decile, position, clicks, quantity, qty, dias, anos, hhsize, surv, nodes"
)
MEASURES = meaning(
    "height, bmi, value, mean, average, score, rate, ratio, percent, pct, dose, duration, length, width, size, "
    "~size, distance, concentration, measurement, km, mm, cm, m2, kg, talla, peso, groesse, ~groesse, ~flaeche, "
    "surface, superficie, latitude, longitude, lat, lon, gpa, total, sum, count, weight~, wt"
)
SCHEMES = meaning(
    "icd~, ~icd~, diag, diagnos~, ~diagnos~, dx, cause of death, cpt, proc cd, procedure code, atc, isco~, isic~, "
    "nace~, naics~, naf, sic, soc, socp, occp, indp, cnae, wz, ~isco, ~isic, ~naics, ~nace, ~soc, fips, ~fips, "
    "codecommune, insee, nuts, occupation code, industry code, occucode, compcode, occ code, ind code, ~isco~"
)
"""Codes that are built from the left: fewer leading characters say less of the same."""


def words(name: str) -> Word:
    """Words of a column name, in lower case, and signs of currencies.

    >>> words("patientID"), words("ZIPCode"), words("marital-status_2"), words("Paid [€]")
    (('patient', 'id'), ('zip', 'code'), ('marital', 'status', '2'), ('paid', '€'))
    """
    apart = re.sub(r"([a-z\d])([A-Z])", r"\1 \2", name)
    apart = re.sub(r"([A-Z])([A-Z][a-z])", r"\1 \2", apart)
    apart = re.sub(r"([^\W\d_])(\d)", r"\1 \2", apart)
    return tuple(re.findall(r"[^\W_]+|[$€£]", apart.casefold()))


def plain(text: str) -> str:
    """A text in lower case, without accents and outer spaces.

    >>> plain(" Größe "), plain("Célibataire")
    ('grosse', 'celibataire')
    """
    apart = unicodedata.normalize("NFKD", text.strip().casefold())
    return "".join(sign for sign in apart if not unicodedata.combining(sign))


@lru_cache(maxsize=4096)
def says(name: str, wanted: Meaning) -> str | None:
    """Find the first word or phrase of a meaning that a column name contains, a plural s allowed.

    >>> says("hours-per-week", QUASI), says("package", AGE), says("Nettoeinkommen", MONEY)
    ('hour', None, 'nettoeinkommen')
    """
    found = tuple(plain(word) for word in words(name))
    if found in wanted.alone:
        return " ".join(found)
    singular = tuple(word[:-1] if word.endswith("s") else word for word in found)
    for start in range(len(found)):
        for end in range(start + 1, len(found) + 1):
            for phrase in (found[start:end], (*found[start : end - 1], singular[end - 1])):
                if phrase in wanted.phrases:
                    return " ".join(phrase)
    return next((word for word in found for part in wanted.parts if _fits(word, part)), None)


def _fits(word: str, part: str) -> bool:
    core = part.strip("~")
    if part.startswith("~") and core.endswith("id") and (word,) in NO_NUMBERS.phrases:
        return False
    if part.startswith("~") and part.endswith("~"):
        return core in word
    return word.endswith(core) if part.startswith("~") else word.startswith(core)

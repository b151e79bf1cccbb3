"""The pages of a vault, in a real browser and by hand-made requests."""

from __future__ import annotations

import html
import itertools
import json
import logging
import re

import pytest
from sqlalchemy import create_engine, text, update

from shoal.vault import pages, people
from shoal.vault.limiting import Limits
from shoal.vault.tables import audit
from support.browser import chromium, expect, follow
from support.vaults import ILLNESSES, PATIENTS, STEWARD, alias_of, made, served, town_rule

EVIL = "<b id=evil>\"'&amp;{{7*7}}</b>"
RESEARCHER_PAGES = ("/interpret", "/values", "/history")
STEWARD_PAGES = ("/health", "/releases", "/people", "/grants", "/audit")
PHONE, DESK = {"width": 360, "height": 800}, {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def vault(tmp_path_factory):
    found = made(tmp_path_factory.mktemp("vault"), name=PATIENTS)
    yield found
    found.service.database.close()


@pytest.fixture(scope="module")
def site(vault):
    with served(vault.service) as found:
        yield found


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def windows(browser, site):
    """Windows that know nothing of each other, and what their consoles said: opened when needed, and kept."""
    said, opened = [], []

    def window(number: int):
        while len(opened) <= number:
            context = browser.new_context(base_url=site.url, viewport=DESK)
            context.set_default_timeout(30_000)
            page = context.new_page()
            page.on("console", lambda message: said.append(message.text))
            page.on("pageerror", lambda error: said.append(str(error)))
            opened.append(page)
        return opened[number]

    yield window, said
    for page in opened:
        page.context.close()


@pytest.fixture
def visit(vault, windows, site):
    """A way to open a window, of somebody who has signed in; what the console says is an error."""
    window, said = windows
    numbers = itertools.count()
    said.clear()

    def open_window(name=None):
        page = window(next(numbers))
        page.context.clear_cookies()
        page.set_viewport_size(DESK)
        page.emulate_media()
        if name is not None:
            cookie = {"name": "shoal-session", "value": vault.session(name), "url": site.url}
            page.context.add_cookies([cookie])
        page.goto("/")
        return page

    yield open_window
    # A browser notes every answer of 400 and above; those are pages that a test asked for.
    assert not [text for text in said if not re.match(r"Failed to load resource: .* status of (4\d\d|503)", text)]


def cookie_of(vault, name: str) -> dict[str, str]:
    return {"cookie": f"shoal-session={vault.session(name)}"}


# -- journeys ---------------------------------------------------------------------------------------------------------


def test_a_researcher_asks(vault, visit, tmp_path):
    name, _ = vault.add(password="correct horse battery")
    vault.grant(name, budget=2)
    page = visit()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Password", exact=True).fill("correct horse battery")
    follow(page.get_by_role("button", name="Sign in with the password"))
    assert page.url.endswith("/interpret")
    assert page.get_by_label("disease", exact=True).get_attribute("value") == "2"
    expect(page.get_by_text("2 of 2 cells left")).to_be_visible()

    seldom = f"town = Ada -> disease = {alias_of('Migraine')}"
    weak = f"sex = female -> disease = {alias_of('Asthma')}"
    page.get_by_label("Rules, one a line").fill("\n".join([*map(town_rule, range(3)), "", seldom, weak]))
    follow(page.get_by_role("button", name="Interpret"))
    rows = page.locator("table.answers tbody tr")
    expect(rows).to_have_count(5)
    expect(page.locator("main")).to_contain_text("2 of 5 rules interpreted, 3 refused", use_inner_text=True)
    expect(rows.nth(1)).to_contain_text('town = "Bad Aussee" -> disease = Gout', use_inner_text=True)
    expect(rows.nth(0)).to_contain_text("22.5 %", use_inner_text=True)
    expect(rows.nth(0)).to_contain_text("45 of 200 rows", use_inner_text=True)
    for place, why in enumerate(("budget", "support", "confidence"), 2):
        assert all(words in rows.nth(place).inner_text() for words in pages.researcher.WHY[why])
    expect(page.get_by_text("0 of 2 cells left")).to_be_visible()
    assert "disease" not in page.url

    lines = tmp_path / "rules.txt"
    lines.write_text("\n".join(map(town_rule, range(2))), encoding="utf-8-sig")
    page.get_by_label("Rules, one a line").fill("")
    page.get_by_label("Or a file with rules").set_input_files(lines)
    follow(page.get_by_role("button", name="Interpret"))
    expect(page.locator("main")).to_contain_text("2 of 2 rules interpreted", use_inner_text=True)
    written = tmp_path / "rules.json"
    written.write_text(json.dumps({"rules": [{"if": {"town": "Ada"}, "then": {"disease": alias_of("Asthma")}}]}))
    page.get_by_label("Rules, one a line").fill("")
    page.get_by_label("Or a file with rules").set_input_files(written)
    follow(page.get_by_role("button", name="Interpret"))
    expect(page.locator("table.answers")).to_contain_text("town = Ada -> disease = Asthma", use_inner_text=True)

    follow(page.get_by_role("link", name="History"))
    told = page.content()
    expect(page.locator("table.log tbody tr")).to_have_count(4)  # three requests, and signing in
    expect(page.locator("main")).to_contain_text("refused budget: 1, confidence: 1, support: 1", use_inner_text=True)
    assert not [one for one in (*ILLNESSES, *map(alias_of, ILLNESSES), "Bad Aussee") if one in told]

    secret = next(one for one in page.context.cookies() if one["name"] == "shoal-session")["value"]
    follow(page.get_by_role("button", name="Sign out"))
    assert page.url.endswith("/sign-in")
    page.goto("/history")
    expect(page.get_by_role("heading", name="Sign in", exact=True)).to_be_visible()
    page.context.add_cookies([{"name": "shoal-session", "value": secret, "url": page.url}])
    page.goto("/history")
    expect(page.get_by_role("heading", name="Sign in", exact=True)).to_be_visible()
    assert "shoal-session" not in {one["name"] for one in page.context.cookies()}


def test_single_cells(vault, visit):
    name, _ = vault.add()
    page = visit(name)
    expect(page.locator("main")).to_contain_text("You have no grant", use_inner_text=True)
    follow(page.get_by_role("link", name="Single cells"))
    expect(page.locator("main")).to_contain_text("You have no grant for single cells", use_inner_text=True)
    vault.grant(name, budget=1, operation="values")
    page.reload()
    page.get_by_label("Cells, one a line").fill(f"{alias_of('Gout')}\n{alias_of('Asthma')}")
    follow(page.get_by_role("button", name="Interpret"))
    rows = page.locator("table.answers tbody tr")
    expect(rows.nth(0)).to_contain_text("disease = Gout", use_inner_text=True)
    heads = page.locator("table.answers thead th").all_inner_texts()
    assert [head.lower() for head in heads] == ["no.", "asked", "meaning", "support"]  # the rest is of rules
    assert "->" not in rows.nth(0).inner_text()
    expect(rows.nth(1)).to_contain_text("budget", use_inner_text=True)
    page.get_by_label("Cells, one a line").fill("nix")
    follow(page.get_by_role("button", name="Interpret"))
    told = "the release shows no such cell. Copy it from the release"
    expect(page.get_by_role("alert")).to_contain_text(told, use_inner_text=True)


def test_a_steward_manages(vault, visit, site):
    page = visit(STEWARD)
    assert page.url.endswith("/health")
    assert page.locator(".tile.good").inner_text().split() == ["Vault", "Open", "has", "its", "master", "key"]
    follow(page.get_by_role("navigation", name="Pages").get_by_role("link", name="Releases"))
    expect(page.get_by_role("heading", name=PATIENTS)).to_be_visible()
    expect(page.get_by_role("row", name="disease aliases 4 2")).to_be_visible()

    follow(page.get_by_role("link", name="People"))
    page.get_by_label("Name", exact=True).fill("Grace")
    follow(page.get_by_role("button", name="Add", exact=True))
    token = page.get_by_label("Token of Grace").input_value()
    assert token.startswith(people.PREFIX)
    assert site.ask("GET", "/v1/me", token).json["name"] == "Grace"
    assert "shoal_" not in page.url
    follow(page.get_by_role("link", name="I have it"))
    page.go_back()
    assert token not in page.content()  # the browser has to ask again, and forms are not sent again by themselves
    page.goto("/people")
    assert token not in page.content()

    follow(page.get_by_role("link", name="Grants"))
    page.get_by_label("Researcher", exact=True).select_option("Grace")
    page.get_by_label("Release and column").select_option(label="disease (budget up to 2)")
    page.get_by_label("Budget, in cells").fill("9")
    follow(page.get_by_role("button", name="Give the grant"))
    expect(page.get_by_role("alert")).to_contain_text("must be from 1 to 2", use_inner_text=True)
    page.get_by_role("alert").get_by_role("link").click()
    expect(page.locator("#budget")).to_be_focused()
    page.get_by_label("Budget, in cells").fill("2")  # the other fields are as they were
    follow(page.get_by_role("button", name="Give the grant"))
    expect(page.locator("main")).to_contain_text("The grant is given.", use_inner_text=True)

    grace = visit("Grace")
    grace.get_by_label("Rules, one a line").fill(town_rule(3))
    follow(grace.get_by_role("button", name="Interpret"))
    expect(grace.locator("table.answers")).to_contain_text("disease = Migraine", use_inner_text=True)

    page.reload()
    row = page.get_by_role("row", name=re.compile("^Grace"))
    expect(row).to_contain_text("1 of 2 cells", use_inner_text=True)
    row.get_by_text("Revoke…").click()
    follow(row.get_by_role("button", name="Revoke"))
    expect(page.get_by_role("row", name=re.compile("^Grace"))).to_contain_text("revoked", use_inner_text=True)
    follow(grace.get_by_role("button", name="Interpret"))
    expect(grace.get_by_role("alert")).to_contain_text("is not allowed", use_inner_text=True)

    follow(page.get_by_role("link", name="People"))
    expect(page.get_by_role("button", name=f"Remove {STEWARD}")).to_have_count(0)
    row = page.get_by_role("row", name=re.compile("^Grace"))
    row.get_by_text("Remove…").click()
    follow(row.get_by_role("button", name="Remove Grace"))
    expect(page.get_by_role("row", name=re.compile("^Grace"))).to_contain_text("removed", use_inner_text=True)
    grace.goto("/interpret")
    expect(grace.get_by_role("heading", name="Sign in", exact=True)).to_be_visible()

    follow(page.get_by_role("link", name="Audit"))
    expect(page.locator("main")).to_contain_text("The log is whole.", use_inner_text=True)
    page.get_by_label("Search", exact=True).fill("grace")
    follow(page.get_by_role("button", name="Search"))
    actions = page.locator("table.log tbody td[data-label=What]").all_inner_texts()
    assert actions[0] == "remove-person"
    assert actions[-1] == "add-person"
    assert {"grant", "revoke", "sign-in", "interpret-rules"} <= set(actions)
    assert "Migraine" not in page.content()
    assert token not in page.content()


def test_a_vault_is_sealed_and_opened(vault, visit):
    name, _ = vault.add()
    vault.grant(name, budget=2)
    page, other = visit(STEWARD), visit(name)
    page.get_by_text("Seal the vault…").click()
    follow(page.get_by_role("button", name="Seal it now"))
    expect(page.locator("main")).to_contain_text("The vault is sealed.", use_inner_text=True)
    other.get_by_label("Rules, one a line").fill(town_rule(0))
    with other.expect_response("**/interpret") as response:
        follow(other.get_by_role("button", name="Interpret"))
    assert response.value.status == 503
    expect(other.locator("main")).to_contain_text("The vault is sealed.", use_inner_text=True)
    assert other.get_by_label("Rules, one a line").input_value() == town_rule(0)  # nothing that was typed is lost
    for key in ("nix", "A" * 43 + "="):
        page.get_by_label("Master key", exact=True).fill(key)
        follow(page.get_by_role("button", name="Unseal the vault"))
        expect(page.get_by_role("alert")).to_be_visible()
        assert vault.service.is_sealed
    page.get_by_label("Master key", exact=True).fill((vault.folder / "vault.key").read_text().strip())
    follow(page.get_by_role("button", name="Unseal the vault"))
    expect(page.locator("main")).to_contain_text("The vault is open", use_inner_text=True)
    follow(other.get_by_role("button", name="Interpret"))
    expect(other.locator("table.answers")).to_contain_text("Asthma", use_inner_text=True)


def test_by_keyboard_alone(vault, visit):
    name, token = vault.add()
    vault.grant(name, budget=2)
    page = visit()
    press, here = page.keyboard.press, "document.activeElement"

    def tab_to(identity):
        for _ in range(40):
            press("Tab")
            if page.evaluate(f"{here}.matches({identity!r})"):
                assert page.evaluate(f"getComputedStyle({here}).outlineStyle") == "solid", f"no focus on {identity}"
                return
        pytest.fail(f"{identity} is not reached by the keyboard")

    tab_to(".skip")
    press("Enter")
    expect(page.locator("#main")).to_be_focused()
    tab_to("#token")
    page.keyboard.type(token)
    press("Enter")
    page.wait_for_url("**/interpret")
    tab_to("#rules")
    page.keyboard.type("nonsense")
    tab_to("form.panel > button")
    press("Space")
    page.wait_for_selector("[role=alert]")
    expect(page.locator(".summary")).to_be_focused()  # the problem is read out first
    tab_to(".summary a")
    press("Enter")
    expect(page.locator("#rules")).to_be_focused()
    press("Control+A")
    page.keyboard.type(town_rule(1))
    tab_to("form.panel > button")
    press("Enter")
    page.wait_for_selector("table.answers")
    expect(page.locator("table.answers")).to_contain_text("Gout", use_inner_text=True)
    tab_to("nav a[href='/history']")
    press("Enter")
    page.wait_for_url("**/history")
    tab_to(".who button")
    press("Enter")
    page.wait_for_url("**/sign-in")


# -- how they look ----------------------------------------------------------------------------------------------------

# Text whose contrast with what is behind it is below that of WCAG 2.2 AA.
CONTRAST = """() => {
  const parse = colour => { const found = colour.match(/[\\d.]+/g).map(Number); return [...found, 1].slice(0, 4) };
  const linear = value => value / 255 <= .03928 ? value / 255 / 12.92 : ((value / 255 + .055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b);
  const behind = element => {
    for (; element; element = element.parentElement) {
      const colour = parse(getComputedStyle(element).backgroundColor);
      if (colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const poor = [];
  for (const element of document.querySelectorAll("body *")) {
    if (![...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())) continue;
    if (!element.checkVisibility() || element.closest("select")) continue;
    const both = [light(parse(getComputedStyle(element).color)), light(behind(element))].sort((a, b) => b - a);
    const ratio = (both[0] + .05) / (both[1] + .05);
    if (ratio < 4.5) poor.push(`${element.tagName}.${element.className}: ${ratio.toFixed(2)}`);
  }
  return poor;
}"""

# What somebody who does not see the page, or does not use a mouse, would miss.
MISSING = """() => {
  const missing = [], all = selector => [...document.querySelectorAll(selector)];
  if (!document.documentElement.lang) missing.push("lang");
  if (all("h1").length !== 1) missing.push("one h1");
  const levels = all("h1, h2, h3, h4").map(one => Number(one.tagName[1]));
  levels.forEach((level, at) => { if (level > (levels[at - 1] ?? 0) + 1) missing.push(`a heading before h${level}`) });
  const ids = all("[id]").map(one => one.id);
  if (new Set(ids).size !== ids.length) missing.push("unique ids");
  for (const one of all("input:not([type=hidden]), select, textarea, meter"))
    if (!one.labels.length && !one.ariaLabel) missing.push(`label of ${one.id || one.name}`);
  for (const name of ["aria-describedby", "aria-labelledby"])
    for (const one of all(`[${name}]`))
      for (const id of one.getAttribute(name).split(" ")) if (!ids.includes(id)) missing.push(`#${id}`);
  for (const one of all("table")) if (!one.caption) missing.push("caption");
  for (const one of all("th")) if (!one.scope) missing.push("scope");
  for (const one of all("form[method=post]")) if (!one.elements.csrf?.value) missing.push(`csrf in ${one.action}`);
  for (const one of all("[style], script")) missing.push(`${one.tagName} without style or script`);
  for (const one of all("button, .button, summary, nav a"))
    if (one.checkVisibility() && one.getBoundingClientRect().height < 24) missing.push(`room for ${one.innerText}`);
  if (all("header nav").length && all("[aria-current=page]").length !== 1) missing.push("aria-current");
  return missing;
}"""


def look(page, where) -> None:
    """See that a page fits and can be read, on a phone and on a desk, light and dark."""
    for size in (PHONE, DESK):
        page.set_viewport_size(size)
        for scheme in ("dark", "light") if size is PHONE else ("light", "dark"):  # what is so stays so
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            found = page.evaluate(f"[document.documentElement.scrollWidth, ({MISSING})(), ({CONTRAST})()]")
            assert found[0] <= size["width"], where
            assert found[1:] == [[], []], f"{where}, {scheme}"


def test_every_page_of_a_researcher_fits_and_can_be_read(vault, visit):
    name, token = vault.add("w" * 100)
    vault.grant(name, budget=2)
    vault.grant(name, budget=1, operation="values")
    page = visit()
    look(page, "/sign-in")
    page.get_by_label("Token", exact=True).fill("nix")
    follow(page.get_by_role("button", name="Sign in with the token"))
    look(page, "failed to sign in")
    page.get_by_label("Token", exact=True).fill(token)
    follow(page.get_by_role("button", name="Sign in with the token"))
    rules = [*map(town_rule, range(3)), f"town = {'w' * 200} -> sex = male"]
    page.get_by_label("Rules, one a line").fill("\n".join(rules))
    follow(page.get_by_role("button", name="Interpret"))
    page.get_by_text("How to write a rule").click()
    look(page, "interpreted")
    page.get_by_label("Rules, one a line").fill("w" * 300)
    follow(page.get_by_role("button", name="Interpret"))
    look(page, "unreadable rules")
    for where in RESEARCHER_PAGES:
        page.goto(where)
        look(page, where)


def test_every_page_of_a_steward_fits_and_can_be_read(vault, visit):
    name, _ = vault.add("v" * 100)
    vault.grant(name, budget=2)
    page = visit(STEWARD)
    for where in STEWARD_PAGES:
        page.goto(where)
        for one in page.locator("details").all():
            one.locator("summary").click()
        look(page, where)
    page.goto("/people")
    page.get_by_label("Name", exact=True).fill("u" * 100)
    follow(page.get_by_role("button", name="Add", exact=True))
    look(page, "token")
    page.goto("/grants")
    for label, typed in (("Researcher", "u" * 100), ("Release and column", "1/disease")):
        page.get_by_label(label, exact=True).select_option(typed)
    page.get_by_label("Budget, in cells").fill("99")
    follow(page.get_by_role("button", name="Give the grant"))
    look(page, "a grant too large")


def test_an_error_is_a_page(vault, visit):
    page = visit(STEWARD)
    for where, title in (("/interpret", "This is not allowed"), ("/nix", "There is no such page")):
        page.goto(where)
        expect(page.get_by_role("heading", name=title)).to_be_visible()
        assert page.evaluate(CONTRAST) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= DESK["width"]


def test_a_file_that_is_too_large_is_refused_on_a_page(vault, visit, tmp_path):
    name, _ = vault.add()
    vault.grant(name, budget=2)
    page = visit(name)
    large = tmp_path / "large.txt"
    large.write_text("sex = male -> town = Ada\n" * 60_000)
    page.get_by_label("Or a file with rules").set_input_files(large)
    follow(page.get_by_role("button", name="Interpret"))
    expect(page.get_by_role("heading", name="That is too large")).to_be_visible()


WRONG_FILES = {
    b"\xff\xfe\x00": "is no text in UTF-8",
    b"[1, 2]": "has no list of rules",
    b"{": "begins like JSON and is none",
    b"[" * 100_000: "begins like JSON and is none",
    b"": "there are none",
    b"sex = male -> town = Ada\n" * 1001: "there are more than 1,000",
    b'["sex = male -> town = Ada", "nix"]': "needs one arrow",
    b'[{"if": {"sex": 1e999}, "then": {"town": "\\ud800"}}]': "has no condition that can be read",
    b'[{"if": {}, "then": {"town": "\\ud800"}}]': "has no condition that can be read",
}


def test_files_that_hold_no_rules(vault, site):
    """Sent as a browser sends the form."""
    name, _ = vault.add()
    vault.grant(name, budget=2)
    given = {**cookie_of(vault, name), "accept": "text/html", "content-type": "multipart/form-data; boundary=edge"}
    mark = site.page("/interpret", headers=given).mark
    for content, what in WRONG_FILES.items():
        fields = [
            f'; name="{one}"\r\n\r\n{value}' for one, value in (("csrf", mark), ("release", PATIENTS), ("rules", ""))
        ]
        file = b'; name="file"; filename="rules.json"\r\ncontent-type: application/json\r\n\r\n' + content
        parts = [b"--edge\r\ncontent-disposition: form-data" + one for one in (*map(str.encode, fields), file)]
        told = site.ask("POST", "/interpret", body=b"\r\n".join(parts) + b"\r\n--edge--\r\n", headers=given)
        assert told.status == 422
        alert = re.search(r'role="alert".*?</div>', told.text, re.DOTALL)
        assert what in html.unescape(alert[0])
        assert "2 of 2 cells left" in told.text


def test_what_others_typed_is_shown_as_text(vault, visit):
    name, _ = vault.add(EVIL)
    vault.grant(name, budget=2)
    steward = visit(STEWARD)
    for where in ("/people", "/grants", "/audit"):
        steward.goto(where)
        assert EVIL in steward.inner_text("main"), where
        expect(steward.locator("#evil")).to_have_count(0)
    steward.get_by_label("Search", exact=True).fill(EVIL)
    follow(steward.get_by_role("button", name="Search"))
    assert steward.get_by_label("Search", exact=True).input_value() == EVIL
    expect(steward.locator("caption")).to_contain_text(EVIL, use_inner_text=True)
    steward.goto("/people")
    steward.get_by_label("Name", exact=True).fill(EVIL)
    follow(steward.get_by_role("button", name="Add", exact=True))
    assert steward.get_by_label("Name", exact=True).input_value() == EVIL
    expect(steward.get_by_role("alert")).to_contain_text("somebody has this name already", use_inner_text=True)
    expect(steward.locator("#evil")).to_have_count(0)

    page = visit(name)
    rules = [f"{json.dumps(EVIL)} = 1 -> sex = male", f"sex = {json.dumps(EVIL)} -> town = Ada", "</textarea>" + EVIL]
    for rule in rules:
        page.get_by_label("Rules, one a line").fill(rule)
        follow(page.get_by_role("button", name="Interpret"))
        assert page.get_by_label("Rules, one a line").input_value() == rule
        expect(page.locator("#evil")).to_have_count(0)
    page.get_by_label("Rules, one a line").fill(rules[1])
    follow(page.get_by_role("button", name="Interpret"))
    assert rules[1] in page.inner_text("table.answers")
    for where in ("/<b id=evil>", "/audit?search=<b id=evil>", "/interpret?done=<b id=evil>"):
        page.goto(where)
        expect(page.locator("#evil")).to_have_count(0)


# -- who is let in ----------------------------------------------------------------------------------------------------


def routes(method: str) -> list[str]:
    parts = (pages.entrance, pages.researcher, pages.steward)
    return sorted(one.path for part in parts for one in part.router.routes if method in one.methods)


def test_every_page_route_is_known_to_the_tests():
    assert set(routes("GET")) == {"/", "/sign-in", *RESEARCHER_PAGES, *STEWARD_PAGES}
    assert len(routes("POST")) == 10


def test_who_may_see_which_page(vault, site):
    name, _ = vault.add()
    gone, _ = vault.add()
    removed = cookie_of(vault, gone)
    with vault.service.changing() as ledger:
        people.remove_person(ledger, STEWARD, gone)
    asking, steward = cookie_of(vault, name), cookie_of(vault, STEWARD)
    strangers = [
        {},
        removed,
        {"cookie": "shoal-session=nix"},
        {"cookie": "shoal-session="},
        {"cookie": "shoal-visit=x"},
    ]
    for where in (*RESEARCHER_PAGES, *STEWARD_PAGES):
        for stranger in strangers:
            told = site.page(where, headers=stranger)
            assert told.status == 401, where
            assert "Sign in with the token" in told.text
            assert PATIENTS not in told.text
        assert site.page(where, headers=asking).status == (200 if where in RESEARCHER_PAGES else 403), where
        assert site.page(where, headers=steward).status == (200 if where in STEWARD_PAGES else 403), where
        _forget_failures(vault)
    for where, who in (("/interpret", asking), ("/health", steward), ("/sign-in", {})):
        told = site.page("/", headers=who)
        assert (told.status, told.headers["location"]) == (303, where)


def _forget_failures(vault) -> None:
    from shoal.vault.tables import failures

    with vault.service.database.writing() as connection:
        connection.execute(failures.delete())


def test_no_form_is_taken_from_elsewhere(vault, site):
    name, _ = vault.add()
    cookies = {"researcher": cookie_of(vault, name), "steward": cookie_of(vault, STEWARD)}
    marks = {
        "researcher": site.page("/history", headers=cookies["researcher"]).mark,
        "steward": site.page("/health", headers=cookies["steward"]).mark,
    }
    before = vault.service.status()["audit_entries"]
    form = {"name": STEWARD, "key": "x", "token": vault.tokens[STEWARD], "release": PATIENTS, "rules": town_rule(0)}
    for where in routes("POST"):
        role = "researcher" if where in RESEARCHER_PAGES else "steward"
        other = {"researcher": "steward", "steward": "researcher"}[role]
        for given in ({}, {"csrf": ""}, {"csrf": marks[other]}, {"csrf": "ü"}):
            told = site.page(where, {**form, **given}, cookies[role])
            assert told.status == 403, where
            assert "was not sent from a page of this session" in told.text
        elsewhere = {**cookies[role], "sec-fetch-site": "cross-site"}
        assert site.page(where, {**form, "csrf": marks[role]}, elsewhere).status == 403, where
        assert site.page(where, {**form, "csrf": marks[role]}).status == (403 if where == "/sign-in" else 401), where
        if where not in ("/sign-in", "/sign-out"):
            assert site.page(where, {**form, "csrf": marks[other]}, cookies[other]).status == 403, where
        _forget_failures(vault)
    assert vault.service.status()["audit_entries"] == before
    assert not vault.service.is_sealed


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_cookies(vault, tls):
    begin = "__Host-" if tls else ""
    with served(vault.service, tls=tls) as site:
        page = site.page("/sign-in")
        visiting = page.headers["set-cookie"].partition(";")[0]
        told = site.page("/sign-in", {"csrf": page.mark, "token": vault.tokens[STEWARD]}, {"cookie": visiting})
        assert (told.status, told.headers["location"]) == (303, "/")
        given = told.headers.get_all("set-cookie")
        session = next(one for one in given if one.startswith(f"{begin}shoal-session="))
        for one in (page.headers["set-cookie"], session):
            parts = {part.strip().lower() for part in one.split(";")[1:]}
            assert {"httponly", "samesite=strict", "path=/"} <= parts
            assert ("secure" in parts) is tls
            assert not [part for part in parts if part.startswith("domain")]
        seen = site.page("/health", headers={"cookie": session.partition(";")[0]})
        assert seen.status == 200
        assert seen.headers["cache-control"] == "no-store"
        assert "script" not in seen.headers["content-security-policy"]
        assert site.page("/static/vault.css").headers["cache-control"].startswith("public")
        assert site.page("/static/../pages/steward.py").status == 404


def test_guessing_locks_out(tmp_path):
    vault = made(tmp_path, name=PATIENTS)
    with served(vault.service, Limits(failures=3, failures_by_address=5)) as site:

        def sign_in(**given):
            page = site.page("/sign-in")
            visiting = page.headers["set-cookie"].partition(";")[0]
            return site.page("/sign-in", {"csrf": page.mark, **given}, {"cookie": visiting})

        assert sign_in().status == 422
        assert [sign_in(name="sue", password="nix").status for _ in range(4)] == [401, 401, 401, 429]
        assert [sign_in(token="shoal_nix").status for _ in range(3)] == [401, 401, 429]
        told = sign_in(token=vault.tokens[STEWARD])
        assert told.status == 429
        assert int(told.headers["retry-after"]) > 0
        assert "Please wait" in told.text
    vault.service.database.close()


def test_nothing_secret_is_logged(vault, site):
    records: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = records.append
    name, token = vault.add()
    vault.grant(name, budget=2)
    loggers = [logging.getLogger(one) for one in ("shoal.vault", "uvicorn.error")]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        cookie = cookie_of(vault, name)
        mark = site.page("/interpret", headers=cookie).mark
        told = site.page("/interpret", {"csrf": mark, "release": PATIENTS, "rules": town_rule(0)}, cookie)
        assert "Asthma" in told.text
        site.page("/sign-in", {"csrf": mark, "token": token}, cookie)
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
    said = "\n".join(str(vars(one)) for one in records)
    assert "/interpret" in said
    secrets = (token, cookie["cookie"], mark, *ILLNESSES, *map(alias_of, ILLNESSES), "Ada")
    assert not [one for one in secrets if one in said]


# -- when something is wrong ------------------------------------------------------------------------------------------


def test_a_broken_log_is_seen(tmp_path):
    vault = made(tmp_path, name=PATIENTS)
    cookie, head = cookie_of(vault, STEWARD), vault.service.status()["audit_head"]
    with served(vault.service) as site:
        assert "The log is whole" in site.page("/audit", headers=cookie).text
        assert "is one of them" in site.page(f"/audit?kept={head}", headers=cookie).text
        mistyped = site.page(f"/audit?kept={'0' * 63}1", headers=cookie).text
        assert "The hash that you kept is not of this log" in mistyped
        assert "The log is broken" not in mistyped
        assert "The log is whole" not in mistyped
        with vault.service.database.writing() as connection:
            for name in connection.execute(text("select name from sqlite_master where type = 'trigger'")).scalars():
                connection.execute(text(f"drop trigger {name}"))
            connection.execute(update(audit).where(audit.c.seq == 2).values(actor="nobody"))
        assert "The log is broken</strong> at entry 2." in site.page("/audit", headers=cookie).text
    vault.service.database.close()


def test_a_long_log_has_several_pages(vault, site):
    cookie = cookie_of(vault, STEWARD)
    with vault.service.changing() as ledger:
        for at in range(120):
            ledger.add(STEWARD, "test", f"entry & {at}", "done")
    first = site.page("/audit?search=entry+%26", headers=cookie).text
    assert first.count("entry &amp; ") == 100
    older = re.search(r'href="(/audit\?before=\d+&amp;search=entry%20%26)">Older', first)
    assert older is not None
    second = site.page(older[1].replace("&amp;", "&"), headers=cookie).text
    assert "entry &amp; 0<" in second
    assert "Older" not in second
    assert site.page("/audit?before=0", headers=cookie).status == 422


def test_a_database_that_is_away(vault, site):
    cookie, there = cookie_of(vault, STEWARD), vault.service.database.engine
    mark = site.page("/health", headers=cookie).mark
    vault.service.database.engine = create_engine("sqlite:////nix/nix.db")
    try:
        for told in (site.page("/health", headers=cookie), site.page("/people", {"csrf": mark}, cookie)):
            assert told.status == 503
            assert "The vault cannot answer now" in told.text
    finally:
        vault.service.database.engine = there
    assert site.page("/health", headers=cookie).status == 200


def test_programs_get_json(site):
    for where, status in (("/health", 401), ("/nix", 404), ("/v1/nix", 404)):
        told = site.page(where, headers={"accept": "application/json"})
        assert told.status == status
        assert json.loads(told.text)["problems"]
    assert "problems" in json.loads(site.page("/v1/me").text)


def test_suspended_and_expired_grants_say_so(vault, site):
    from shoal.vault.tables import grants

    name, _ = vault.add("Hedy")
    vault.grant(name, budget=2)
    cookie = cookie_of(vault, STEWARD)
    for values, said in (({"state": "suspended"}, "suspended"), ({"state": "active", "expires": 1}, "expired")):
        with vault.service.database.writing() as connection:
            person = people.named(connection, name)
            connection.execute(update(grants).where(grants.c.person_id == person.id).values(**values))
        told = site.page("/grants", headers=cookie).text
        assert said in told.partition("Hedy</th>")[2].partition("</tr>")[0]
        assert ("Some grants are suspended" in told) is (said == "suspended")

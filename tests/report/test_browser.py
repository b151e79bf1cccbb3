"""The report in a real browser: nothing sticks out, nothing is asked of the network, contrast is enough."""

from __future__ import annotations

import re

import polars as pl
import pytest

import shoal
from support.browser import chromium

LEAST_CONTRAST = 4.5
"""Of text against what is behind it, by the rules for accessible pages."""


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    people = shoal.sample.people(300, seed=1)
    release = shoal.anonymize(people, shoal.sample.schema(), shoal.Mondrian(k=4), seed=0)
    return release.report(name="people").write(tmp_path_factory.mktemp("page") / "page.html")


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


def opened(browser, file, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    asked, wrong = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: wrong.append(message.text))
    page.goto(file.as_uri())
    return context, page, asked, wrong


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1200, "light")])
def test_it_fits_and_can_be_read(browser, page_file, width, scheme):
    context, page, asked, wrong = opened(browser, page_file, width, scheme)
    assert asked == [page_file.as_uri()]
    assert wrong == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for selector in ("p", "td", "th", "li", "a", "figcaption", "summary", "svg text"):
        found = page.locator(selector).first
        assert contrast(*found.evaluate(COLOURS)) >= LEAST_CONTRAST, selector
    headings = page.locator("h1, h2, h3").evaluate_all("all => all.map(one => one.tagName)")
    assert headings[0] == "H1"
    assert headings.count("H1") == 1
    for link in page.locator("nav a").all():
        assert page.locator(link.get_attribute("href")).count() == 1
    context.close()


@pytest.mark.parametrize("width", [390, 1200])
def test_long_names_of_columns_push_nothing_out_of_the_page(browser, tmp_path, width):
    name = "How_satisfied_are_you_with_the_services_of_your_municipality_in_the_last_twelve_months"
    names = [f"Q{place:02}_{name}" for place in range(3)]
    people = pl.DataFrame({one: [row * (place + 3) % 7 for row in range(60)] for place, one in enumerate(names)})
    schema = shoal.Schema(quasi={one: shoal.Numeric() for one in names})
    report = shoal.anonymize(people, schema, shoal.Mondrian(k=4)).report(name="asked")
    context, page, _, _ = opened(browser, report.write(tmp_path / "page.html"), width, "light")
    tables = page.locator(".scroll:has(th:text-is('shown'))")
    assert tables.count() == 1
    assert tables.evaluate("one => one.scrollWidth - one.clientWidth") <= 0
    assert tables.locator("th[scope=row]").first.inner_text() == names[0]
    labels = page.locator("figure svg").first.locator("text[text-anchor=end]")
    assert labels.count() == len(names)
    assert labels.evaluate_all("all => Math.min(...all.map(one => one.getBBox().x))") >= 0
    context.close()


def test_it_is_read_by_keyboard(browser, page_file):
    context, page, _, _ = opened(browser, page_file, 1200, "light")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.locator("summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("details").first.evaluate("one => one.open")
    context.close()


def test_it_prints(browser, page_file):
    context, page, _, _ = opened(browser, page_file, 1200, "light")
    printed = page.pdf(format="A4")
    assert printed.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) >= 2
    context.close()


COLOURS = """one => {
  let behind = one, back = 'rgba(0, 0, 0, 0)';
  while (behind && /, 0\\)$/.test(back)) {
    back = getComputedStyle(behind).backgroundColor;
    behind = behind.parentElement;
  }
  const style = getComputedStyle(one);
  return [one.ownerSVGElement ? style.fill : style.color, back];
}"""


def contrast(one: str, other: str) -> float:
    """How much lighter one colour is than another, 1 to 21."""
    lights = sorted(_light(colour) for colour in (one, other))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def _light(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("width", [360, 1280])
def test_names_without_a_space_do_not_make_it_wider(browser, tmp_path, width):
    long = "a_name_without_any_space_" * 8
    people = shoal.sample.people(60, seed=1).select("age", "disease").rename({"age": long, "disease": long.upper()})
    schema = shoal.Schema(quasi={long: shoal.Numeric()}, sensitive=[long.upper()])
    release = shoal.anonymize(people, schema, shoal.Mondrian(k=4), seed=0)
    file = release.report(name=long).write(tmp_path / "page.html")
    context, page, _, _ = opened(browser, file, width, "light")
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()

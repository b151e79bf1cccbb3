"""The picture of slicing's columns: what it shows, that it opens offline, and that it is the same every time."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

import shoal
from shoal.report.columns import READABLE, picture
from shoal.report.pictures import INK
from shoal.slicing.attributes import Attributes, Columns, partition_attributes

HOSTILE = ["</script><script>x", "<b>&amp;", "\"quote's", "{braces} \\u003c", "ünï φ²"]


def made(names: list[str], seed: int = 0) -> Attributes:
    matrix = np.random.default_rng(seed).random((len(names), len(names))) ** 3
    matrix = np.maximum(matrix, matrix.T)
    np.fill_diagonal(matrix, 1)
    return Attributes(tuple(names), matrix, (2,) * len(names), (), (), ())


def drawn(names: list[str], n_columns: int | None) -> tuple[Attributes, Columns, dict[str, bytes]]:
    attributes = made(names)
    columns = partition_attributes(attributes, n_columns)
    return attributes, columns, picture(attributes, columns)


def texts(svg: bytes) -> list[str]:
    return ["".join(element.itertext()) for element in ElementTree.fromstring(svg).findall(".//{*}text")]


def test_the_picture_names_attributes_columns_and_values():
    attributes, columns, files = drawn(list("abcdef"), 3)
    assert sorted(files) == ["columns.html", "columns.svg"]
    shown = texts(files["columns.svg"])
    for name in attributes.names:
        assert shown.count(name) == 2, "beside and above its cells"
    assert [text for text in shown if text.startswith("column ")] == ["column 1", "column 2", "column 3"]
    beside = [text for text in shown if text in attributes.names][: len(attributes.names)]
    assert sorted(beside) == sorted(attributes.names)
    for one, other in zip(*np.triu_indices(6, 1), strict=True):
        assert f"{attributes.phi2[one, other]:.2f}" in shown
    assert any(
        f"3 columns; total distance 1 − φ² from the medoids (bold): {columns.total:.3f}." in text for text in shown
    )


def test_a_number_that_was_chosen_is_said_to_be():
    _, columns, files = drawn(list("abcdef"), None)
    best = columns.silhouettes[len(columns.groups)]
    assert any(f"chosen by its mean silhouette ({best:.3f})" in text for text in texts(files["columns.svg"]))


def test_every_column_has_its_frame():
    _, columns, files = drawn(list("abcdefgh"), 3)
    sides = re.findall(rf'h([\d.]+)v[\d.]+h-[\d.]+Z"[^>]* stroke="{INK}"', files["columns.svg"].decode())
    assert sorted(float(side) for side in sides) == sorted(len(group) * 36.0 for group in columns.groups)


def test_of_many_attributes_the_values_are_not_written():
    names = [f"a{number}" for number in range(READABLE + 1)]
    _, _, files = drawn(names, 4)
    values = [text for text in texts(files["columns.svg"]) if re.fullmatch(r"\d\.\d\d", text)]
    assert values == ["0.00", "0.05", "0.25", "0.50", "1.00"], "only those of the legend"


class Addresses(HTMLParser):
    """Attributes of a page that would have something fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str | None] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.found += [value for name, value in attrs if name in ("src", "href", "xlink:href", "data", "srcset")]


def test_the_page_asks_the_network_for_nothing():
    page = drawn(list("abc"), 2)[2]["columns.html"].decode()
    reader = Addresses()
    reader.feed(page)
    assert {"html", "script", "main", "svg"} <= reader.tags
    assert reader.found == []
    assert "cdn." not in page
    assert "default-src 'none'" in page


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_of_an_attribute_leaves_its_place(name):
    _, _, files = drawn(["a", name], 2)
    page = files["columns.html"].decode()
    assert page.count("</script") == 2, "one for the library, one for the picture"
    assert "<b>" not in page.split("vegaEmbed(", 1)[1]
    assert texts(files["columns.svg"]).count(name) == 2


def test_the_same_columns_give_the_same_bytes():
    first = drawn(list("abc"), 2)[2]
    drawn(list("abcd"), 2)
    assert drawn(list("abc"), 2)[2] == first


def luminance(colour: tuple[int, ...]) -> float:
    parts = [part / 255 for part in colour]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_every_value_can_be_read_on_its_colour():
    """Contrast of at least 4.5 (WCAG AA), of the colours that the picture really has."""
    values = np.linspace(0, 1, 190)
    names = [f"a{number}" for number in range(READABLE)]
    matrix = np.eye(READABLE)
    matrix[np.triu_indices(READABLE, 1)] = values
    matrix = np.maximum(matrix, matrix.T)
    attributes = Attributes(tuple(names), matrix, (2,) * READABLE, (), (), ())
    svg = picture(attributes, partition_attributes(attributes, 2))["columns.svg"].decode()
    cells = re.findall(r'aria-label="[^"]*φ²: ([\d.]+)[^"]*"[^>]* fill="rgb\((\d+), (\d+), (\d+)\)"', svg)
    inks = re.findall(r'fill="(#000000|#ffffff)">(\d\.\d\d)</text>', svg)
    assert len(cells) == len(inks) == READABLE * (READABLE - 1)
    for (value, *colour), (ink, text) in zip(cells, inks, strict=True):
        assert float(value) == pytest.approx(float(text), abs=0.005001), "a text lies on the cell of its value"
        light, dark = sorted([luminance(tuple(map(int, colour))), 0.0 if ink == "#000000" else 1.0], reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5
    # One hue that only darkens: the order of values is seen without seeing colours.
    shades = [luminance(tuple(map(int, colour))) for _, *colour in sorted(cells, key=lambda cell: float(cell[0]))]
    assert shades == sorted(shades, reverse=True)


@pytest.mark.parametrize("package", ["altair", "vl_convert"])
def test_without_its_packages_the_picture_says_how_to_get_them(monkeypatch, package):
    attributes = made(list("abc"))
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(shoal.InputError, match=r"altair and vl-convert-python; run: .*pip install -e .*\[report\]"):
        picture(attributes, partition_attributes(attributes, 2))

"""The documentation is complete and true: every name has its place, every example runs, every link leads somewhere."""

from __future__ import annotations

import json
import re
import shlex
from functools import cache
from pathlib import Path

import jsonschema
import polars as pl
import pytest
import typer

import shoal
from shoal.cli.app import app
from shoal.measure import MEASURES, written_to
from shoal.privacy import MODELS
from shoal.publish import PUBLISHERS
from shoal.recipe.reader import COLUMN_KEYS, TOP_KEYS
from shoal.registry.declared import ATTACK_CLASSES, MEASURE_CLASSES, METHOD_CLASSES, MODEL_CLASSES, PUBLISHER_CLASSES
from shoal.release.manifest import Manifest
from shoal.release.receipt import Receipt
from shoal.release.shapes import SHAPES
from shoal.settings import SETTINGS
from shoal.table.hierarchy.builders import RULES
from shoal.table.schema import ROLES
from support.registered import METHODS, REPEATED

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
ROOT_PAGES = ("README", "ARCHITECTURE", "CONTRIBUTING", "CHANGELOG", "SECURITY")
PAGES = [*(ROOT / f"{name}.md" for name in ROOT_PAGES), *sorted(DOCS.rglob("*.md"))]
OWN_MEASURES = list(MEASURES.own)
COMMANDS = typer.main.get_command(app).commands

FENCE = re.compile(r"(<!-- no-run -->\s*)?^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def text_of(page: Path | str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def section(page: str, heading: str) -> str:
    """The text under a heading, up to the next one of the same or a higher level."""
    text = text_of(page)
    level = heading.split()[0]
    assert f"\n{heading}\n" in text, f"{page} has no heading {heading!r}"
    below = text.split(f"\n{heading}\n", 1)[1]
    return re.split(rf"\n#{{1,{len(level)}}} ", below, maxsplit=1)[0]


def codes(text: str) -> set[str]:
    """Everything written as `code` outside of fenced blocks."""
    return set(re.findall(r"`([^`\n]+)`", FENCE.sub("", text)))


@cache
def fenced() -> list[tuple[str, str, bool, str]]:
    """Fenced blocks of all pages: their language, where they are, whether they are to be run, and what they hold."""
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for block in FENCE.finditer(text):
            line = text[: block.start(3)].count("\n") + 1
            found.append((block[2], f"{page.relative_to(ROOT)}:{line}", not block[1], block[3]))
    return found


def blocks(language: str) -> list[tuple[str, bool, str]]:
    """Those of a language."""
    return [rest for found, *rest in fenced() if found == language]


def small_release() -> shoal.Release:
    frame = pl.DataFrame({"age": [21, 22, None, 41, 42, 43], "sex": ["f", "m"] * 3, "disease": ["flu"] * 6})
    schema = shoal.Schema(quasi={"age": shoal.Numeric(), "sex": shoal.Nominal()}, sensitive=["disease"])
    return shoal.anonymize(frame, schema, shoal.Mondrian(k=2))


# -- every name has its place -----------------------------------------------------------------------------------


ELSEWHERE = {one.__name__ for registry in (METHODS, MODELS, PUBLISHERS) for one in registry.values()}
"""Public names that have a page, or a section of one, of their own kind."""
HERE = [name for name in shoal.__all__ if name not in ELSEWHERE]


@pytest.mark.parametrize("name", HERE)
def test_every_public_name_has_its_heading(name):
    assert "```python" in section("python.md", f"### `{name}`"), f"{name} has no example"


def test_no_heading_for_a_name_that_is_gone():
    assert set(re.findall(r"^### `(\w+)`$", text_of("python.md"), re.MULTILINE)) == set(HERE)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_its_options_are_described(name):
    described = codes(section("commands.md", f"## shoal {name}"))
    for parameter in COMMANDS[name].params:
        if parameter.param_type_name == "option" and parameter.name != "help":
            assert set(parameter.opts) <= described, f"shoal {name} {parameter.opts}"


def test_every_flag_of_a_recipe_is_described():
    described = codes(section("commands.md", "## shoal run"))
    specs = [*METHODS.values(), *PUBLISHERS.values(), shoal.Refine]
    flags = {f"--{parameter.name}" for spec in specs for parameter in spec.parameters()}
    assert {*flags, *(f"--{key}" for key in SETTINGS), "--method", "--publish", "--refine"} <= described


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_page_with_its_parameters(name):
    page = text_of(f"methods/{name}.md")
    assert f"shoal.{METHODS[name].__name__}(" in page
    assert "```python" in page, f"{name} has no example"
    for parameter in METHODS[name].parameters():
        assert f"\n| `{parameter.name}` |" in page, f"{parameter.name} is not in the table of parameters"
        for word in getattr(parameter.bound, "words", ()):
            assert f"`{word}`" in page, f"{parameter.name}={word}"
    for heading in ("Steps", "Parameters", "Guarantee", "When to use it", "Limits", "Reading choices", "Cost"):
        assert f"\n## {heading}\n" in page
    assert f"methods/{name}.md" in text_of("index.md")


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_a_section_with_its_parameters(name):
    said = section("models.md", f"## {name}")
    assert f"shoal.{MODELS[name].__name__}(" in said
    assert "```python" in said, f"{name} has no example"
    for parameter in MODELS[name].parameters():
        assert f"\n| `{parameter.name}` |" in said, f"{parameter.name} is not in the table of parameters"
        for word in getattr(parameter.bound, "words", ()):
            assert f"`{word}`" in said, f"{parameter.name}={word}"
    for mark in ("Achieved", "Guarantee", "Does not protect", "Monotone", "Reading choices", "Paper"):
        assert f"**{mark}**" in said, f"{name} says nothing of: {mark}"
    assert f"(#{name})" in text_of("models.md")


@pytest.mark.parametrize("name", PUBLISHERS)
def test_every_publisher_has_a_section_with_its_parameters(name):
    said = section("publish.md", f"## {name}")
    assert f"shoal.{PUBLISHERS[name].__name__}(" in said
    assert "```python" in said, f"{name} has no example"
    for parameter in PUBLISHERS[name].parameters():
        assert f"\n| `{parameter.name}` |" in said, f"{parameter.name} is not in the table of parameters"
        for word in getattr(parameter.bound, "words", ()):
            assert f"`{word}`" in said, f"{parameter.name}={word}"
    assert f"(#{name})" in text_of("publish.md")


@pytest.mark.parametrize(
    ("heading", "keys"),
    [
        ("## Top keys", TOP_KEYS),
        ("## source", [parameter.name for parameter in shoal.Source.parameters()]),
        ("## columns", COLUMN_KEYS),
        ("## hierarchy", ["tree", "paths", *RULES, *(p.name for rule in RULES.values() for p in rule.parameters())]),
        ("## method", [*METHODS, *(p.name for method in METHODS.values() for p in method.parameters())]),
        ("## require", ["model", *MODELS, *(p.name for model in MODELS.values() for p in model.parameters())]),
        ("## refine", [parameter.name for parameter in shoal.Refine.parameters()]),
        ("## target", [parameter.name for parameter in shoal.Target.parameters()]),
        ("## publish", ["name", *(p.name for publisher in PUBLISHERS.values() for p in publisher.parameters())]),
    ],
)
def test_every_recipe_key_is_described(heading, keys):
    assert set(keys) <= codes(section("recipe.md", heading))


@pytest.mark.parametrize("name", RULES)
def test_every_rule_is_described_with_its_parameters(name):
    row = next(line for line in text_of("hierarchies.md").splitlines() if f"| `{name}` |" in line)
    assert {parameter.name for parameter in RULES[name].parameters()} <= codes(row)


@pytest.mark.parametrize("name", OWN_MEASURES)
def test_every_measure_is_described_as_it_is_declared(name):
    page, one = text_of("measures.md"), MEASURES[name]
    needs = {"release": "the release", "original": "the input too"}[one.needs]
    facts = (f"`{name}`", one.title, needs, one.range_text(), one.direction, written_to(name) or "on request")
    listed = section("measures.md", "## All measures")
    assert f"\n| {' | '.join(facts)} |\n" in listed
    keys = ", ".join(f"`{key}`" for key in one.figure_names())
    row = next(line for line in page.replace(listed, "").splitlines() if line.startswith(f"| {keys} |"))
    assert row.removeprefix(f"| {keys} | ").removesuffix(" |").replace("`", "").replace("\\|", "|") == one.formula
    references = " ".join(section("measures.md", "## References").split())
    assert f"- {one.reference}" in references


@pytest.mark.parametrize("name", ATTACK_CLASSES.own)
def test_every_attack_has_a_section_with_its_parameters(name):
    said = section("attacks.md", f"### {name}")
    for parameter in ATTACK_CLASSES[name].parameters():
        assert f"`{parameter.name}" in said or parameter.name == "column", f"{parameter.name} is not described"
    for parameter in shoal.Background.parameters():
        assert f"| `{parameter.name}` |" in section("attacks.md", "## What the attacker knows")


def test_all_measures_are_listed_in_their_order():
    listed = re.findall(r"^\| `(\w+)` \|", section("measures.md", "## All measures"), re.MULTILINE)
    assert listed == OWN_MEASURES


# -- every word is explained ------------------------------------------------------------------------------------


def glossary() -> list[tuple[str, str]]:
    """Terms of the glossary with their meanings, table by table."""
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", text_of("glossary.md"), re.MULTILINE)
    return [row for row in rows if row != ("term", "meaning")]


def test_every_public_name_is_a_term_or_one_of_a_kind_that_is():
    """Methods, models, publishers, rules and errors have pages; each of the other names stands in the glossary."""
    registries = (METHODS, REPEATED, MODELS, PUBLISHERS, RULES)
    listed = {spec.__name__ for registry in registries for spec in registry.values()}
    errors = {name for name in shoal.__all__ if name.endswith(("Error", "Warning"))}
    assert set(shoal.__all__) - listed - errors <= codes(text_of("glossary.md")) | {"sample"}
    for term in ("method", "model", "publisher", "rule"):
        assert any(term in entry.split(", ") for entry, _ in glossary()), term


def test_every_folder_shape_role_and_document_is_a_term():
    folders = {f"{path.name}/" for path in (ROOT / "src" / "shoal").iterdir() if (path / "__init__.py").is_file()}
    assert len(folders) > 10
    assert {*folders, *SHAPES} <= codes(text_of("glossary.md"))
    terms = {term for entry, _ in glossary() for term in entry.split(", ")}
    assert {"release", "manifest", "receipt", "recipe", "schema", "role", "kind", "shape", "promise"} <= terms
    assert all(role in dict(glossary())["role"] for role in ROLES)


def test_an_entry_of_the_glossary_is_short_and_in_its_place():
    rows = glossary()
    terms = [re.sub(r"[^a-z]", "", term.lower().split(",")[0]) for term, _ in rows]
    own = terms.index("achieved")  # the first of the second table
    assert terms[:own] == sorted(terms[:own])
    assert terms[own:] == sorted(terms[own:])
    assert len(set(terms)) == len(terms)
    for term, meaning in rows:
        assert meaning.endswith((".", ")")), term
        assert len(meaning) <= 320, term


PRIVATE_WORDS = r"\b(yards?|yardsticks?|crowds?|grains?|rim|dear|with whom|in company|keeping\.py|demands)\b"
"""Words that stood for something of ours, where the field has a word of its own."""


def test_no_private_word_comes_back():
    code = [path for path in (ROOT / "src").rglob("*.py") if "kernels" not in path.parts]
    for path in [ROOT / "README.md", *DOCS.rglob("*.md"), *code]:
        found = re.findall(PRIVATE_WORDS, path.read_text(encoding="utf-8"), re.IGNORECASE)
        assert not found, f"{path.relative_to(ROOT)}: {found}"


def test_every_extra_is_described_and_no_other():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"]) - {"test", "mutants"}  # for those who work on Shoal
    assert set(re.findall(r"^\| `(\w+)` \|", section("index.md", "## Extras"), re.MULTILINE)) == extras
    for page in [ROOT / "README.md", *DOCS.rglob("*.md")]:
        named = re.findall(r"shoal\[([\w,]+)\]", page.read_text(encoding="utf-8"))
        assert {one for names in named for one in names.split(",")} <= extras, page.name


DOCUMENTS = {"manifest": Manifest, "receipt": Receipt}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_entry_of_the_documents_is_described(name):
    schema = DOCUMENTS[name].model_json_schema()
    parts = [schema, *schema["$defs"].values()]
    entries = {entry for part in parts for entry in part["properties"]}
    assert entries <= codes(text_of(f"{name}.md"))
    top = section(f"{name}.md", "## Top entries").strip().split("\n\n")[0]  # the first table
    assert re.findall(r"^\| `(\w+)` \|", top, re.MULTILINE) == list(schema["properties"])


def test_nothing_of_the_holder_is_an_entry_of_the_manifest():
    kept = {"seed", "source", "created", "input", "population", "columns", "notes", "merged", "against_input"}
    assert kept <= set(Receipt.model_fields)
    assert not kept & set(Manifest.model_fields)


# -- what is said is so -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_schema_of_the_documents_is_the_one_of_the_code(name):
    wanted = json.dumps(DOCUMENTS[name].model_json_schema(), indent=2, sort_keys=True) + "\n"
    assert text_of(f"{name}.schema.json") == wanted, "docs/manifest.md says how to write it again"


@pytest.mark.parametrize("shape", ["text", "typed", "classes"])
def test_a_real_manifest_fits_its_schema(tmp_path, shape):
    from shoal import sample

    release = shoal.anonymize(
        sample.people(60), sample.schema(), shoal.Mondrian(k=3), publish=shoal.Generalize(shape=shape)
    )
    manifest = json.loads((release.write(tmp_path / "release") / "manifest.json").read_text(encoding="utf-8"))
    schema = json.loads(text_of("manifest.schema.json"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(manifest, schema)
    del manifest["promise"]
    with pytest.raises(jsonschema.ValidationError, match="'promise' is a required property"):
        jsonschema.validate(manifest, schema)


def test_a_real_receipt_fits_its_schema(tmp_path):
    small_release().write(tmp_path / "release")
    receipt = json.loads((tmp_path / "release.receipt.json").read_text(encoding="utf-8"))
    schema = json.loads(text_of("receipt.schema.json"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(receipt, schema)
    del receipt["seed"]
    with pytest.raises(jsonschema.ValidationError, match="'seed' is a required property"):
        jsonschema.validate(receipt, schema)


@pytest.mark.parametrize(("where", "code"), [pytest.param(w, c, id=w) for w, to_run, c in blocks("python") if to_run])
def test_every_example_runs(where, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("shoal.release.sealed.COST", (4, 8, 1))  # half a second otherwise, for every file of a holder
    for registry in (METHOD_CLASSES, MODEL_CLASSES, PUBLISHER_CLASSES, MEASURE_CLASSES, ATTACK_CLASSES):  # to be undone
        monkeypatch.setattr(registry, "_loaded", dict(registry._loaded))
    exec(compile(code, where, "exec", dont_inherit=True), {"__name__": "example"})  # as a reader would run it


def test_hardly_an_example_is_left_out():
    assert [where.split(":")[0] for where, to_run, _ in blocks("python") if not to_run] == [
        "docs/manifest.md",
        "docs/spark.md",  # tests/spark run it on a cluster
    ]


def test_every_toml_example_can_be_read():
    import tomllib

    found = [tomllib.loads(code) for _, _, code in blocks("toml")]
    whole = [entries for entries in found if "columns" in entries]
    assert whole
    for entries in whole:
        shoal.Recipe.from_entries(entries)


@pytest.mark.parametrize(
    ("where", "line"),
    [(where, line) for where, _, text in blocks("console") for line in text.splitlines() if line.startswith("$ shoal")],
)
def test_every_command_line_parses(where, line):
    _, _, name, *arguments = shlex.split(line)
    assert name in COMMANDS, where
    COMMANDS[name].make_context(name, list(arguments), resilient_parsing=False)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(page):
    for link in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        target, _, anchor = link.partition("#")
        if "://" in target:
            continue
        file = (page.parent / target) if target else page
        assert file.exists(), link
        if anchor:
            headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}, link


def test_every_page_can_be_reached_from_the_readme():
    seen, todo = set(), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        links = LINK.findall(page.read_text(encoding="utf-8"))
        todo += [
            (page.parent / link.partition("#")[0]).resolve() for link in links if "://" not in link and link[0] != "#"
        ]
    assert set(PAGES) <= seen


def test_the_readme_names_the_two_commands():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for command in ("demo", "test"):
        assert f"make {command}" in readme
        assert command in targets
    assert len(readme.splitlines()) <= 100


@pytest.mark.parametrize("name", COMMANDS)
def test_the_readme_names_every_command(name):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"`(?:shoal )?([\w-]+)[^`]*`", readme[readme.index("## Commands") : readme.index("## What is")])
    assert name in listed


def test_the_picture_needs_no_network():
    picture = (DOCS / "images" / "demo.svg").read_text(encoding="utf-8")
    assert "url(http" not in picture
    for text in ("k-anonymity", "re-derived", "marital_status"):
        assert text in picture


def test_the_citation_names_this_version():
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert f"version: {shoal.__version__}" in lines
    assert f"## [{shoal.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

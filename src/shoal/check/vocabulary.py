"""Whether a manifest says only what one of its sort can say: nothing unknown, nothing free, nothing to spare.

Every name in it is a word that is declared, a column of the release, or a value that its tables show. What is promised
follows from what was asked for, so a method that is renamed, or a promise that is left out, does not pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from shoal.errors import GuaranteeError, Problems, ShoalError, counted
from shoal.privacy import MODELS, OF_METHODS, promised_requirement
from shoal.privacy.base import Requirement
from shoal.registry.declarations import Declared
from shoal.registry.declared import COLUMN_PUBLISHERS, REFINE, method_called, publisher_called
from shoal.registry.registry import NAME
from shoal.release.manifest import Layout, Manifest, QuasiColumn
from shoal.release.shapes.slices import SliceTables
from shoal.spec import Bound, ByColumn, ColumnName, Maybe, as_kept

FACTS = {
    "interval": {"whole", "low", "high"}, "order": {"order", "ranks", "n_values"}, "set": {"n_values"},
    "node": {"nodes"}, "value": set(), "raw": set(),
}  # fmt: skip
"""What is said of a column, by the form of its cells; all else is left as it is when nothing is said."""
LONGEST_NAME = 40
"""Up to which length the name of something unknown is repeated in an error."""


def check_closed(manifest: Manifest, problems: Problems) -> list[Requirement]:
    """Note what a manifest cannot say; give its promises."""
    method = method_called(manifest.recipe.method.get("name"))
    if method is None:
        problems.add("recipe.method", *_unknown("method", manifest.recipe.method.get("name")))
    _check_request(manifest, method, problems)
    asked_well = len(problems) == 0  # what is no request promises nothing that could be compared
    _check_layout(manifest, problems)
    promise = _promise(manifest, problems)
    if method is not None:
        _check_rows(manifest, method, problems)
        _check_series(manifest, problems)
        if asked_well:
            _check_promise(manifest, method, problems)
    return promise


def _check_promise(manifest: Manifest, method: Declared, problems: Problems) -> None:
    """What is promised is what follows from the request, in the order and the letters that it is written in."""
    asked = method.promised(_without_name(manifest.recipe.method), manifest.layout.sensitive)
    asked += [dict(one) for one in manifest.recipe.require]
    if [_text(one) for one in asked] != [_text(one) for one in manifest.promise]:
        problems.add("promise", _difference(asked, manifest.promise))


def _text(entry: Mapping[str, Any]) -> str:
    """An entry as it is written: 2 is not 2.0, and keys have an order."""
    return repr(list(entry.items()))


def _difference(asked: Sequence[Mapping[str, Any]], promise: Sequence[Mapping[str, Any]]) -> str:
    """Say how a promise differs from what the recipe asks for."""
    stated = [_text(one) for one in promise]
    lacking = [one for one in asked if _text(one) not in stated]
    if lacking:
        words = "; ".join(", ".join(f"{key} = {value}" for key, value in one.items()) for one in lacking)
        return f"does not contain what the recipe requires: {words}"
    return (
        "contains more than the recipe requires"
        if len(promise) > len(asked)
        else "is in another order than in the recipe"
    )


def _without_name(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key != "name"}


# -- what was asked for ----------------------------------------------------------------------------------------------


def _check_request(manifest: Manifest, method: Declared | None, problems: Problems) -> None:
    """Parameters are those that are declared, with values they can have; method, publisher and shape go together."""
    recipe, layout = manifest.recipe, manifest.layout
    columns = list(layout.kinds)
    publisher = publisher_called(recipe.publish.get("name"))
    if publisher is None:
        problems.add("recipe.publish", *_unknown("publisher", recipe.publish.get("name")))
    else:
        _check_parameters("recipe.publish", recipe.publish, publisher.parameters, columns, problems)
    if method is not None:
        _check_parameters("recipe.method", recipe.method, method.parameters, columns, problems)
    _check_sensitive(manifest, problems)
    if recipe.refine is not None:
        _check_parameters("recipe.refine", recipe.refine, REFINE, columns, problems)
        if "name" in recipe.refine:
            problems.add("recipe.refine", "has a name; the search has none")
    if method is not None and publisher is not None and len(problems) == 0:
        fits = method.goes_with(recipe.publish["name"], publisher)
        shape = method.shape or publisher.shape(recipe.publish)
        if not fits or layout.shape != shape or layout.files != (recipe.publish.get("shape") == "files"):
            problems.add("layout", "does not fit the method and the publisher of the recipe")
        if recipe.refine is not None and method.protects == "links":
            problems.add("recipe.refine", "is not possible for buckets and slices")
        _check_sliced(manifest, problems)
    if recipe.part_rows is not None and not manifest.in_parts:
        problems.add("recipe.part_rows", "is there, but the release is not in parts")
    keys = [requirement.key for one in recipe.require if (requirement := _asked(one)) is not None]
    if len(set(keys)) < len(keys):
        problems.add("recipe.require", "requires the same more than once")
    for name in (one.get("model") for one in recipe.require):
        if name in OF_METHODS:
            problems.add("recipe.require", f"asks for {name}, which cannot be asked for")
        elif name not in MODELS:
            problems.add("recipe.require", *_unknown("model", name))


def _check_sensitive(manifest: Manifest, problems: Problems) -> None:
    """Every hidden column has its publisher in the request, in the order of the table, and no other column has one."""
    asked = []
    for place, entry in enumerate(manifest.recipe.sensitive):
        where, name = f"recipe.sensitive[{place}]", entry.get("name")
        declared = COLUMN_PUBLISHERS.get(str(name))
        if declared is None:
            problems.add(where, *_unknown("publisher", name))
            continue
        _check_parameters(where, entry, declared.parameters, list(manifest.layout.kinds), problems)
        asked.append((entry.get("column"), name))
    shown = [(column.name, column.form) for column in manifest.layout.passed if column.form != "raw"]
    if asked != shown or not {name for name, _ in shown} <= set(manifest.layout.sensitive):
        problems.add("layout", "hides other columns than the recipe asks for")
    kinds = {"aliases": "nominal", "grades": "numeric"}
    for column in manifest.layout.passed:
        where = f"column {column.name!r}"
        if column.form != "raw" and (column.kind != kinds[column.form] or column.order or column.nodes):
            problems.add(where, "has a kind, an order or a hierarchy that hidden values cannot have")
        if column.clear and column.form != "aliases":
            problems.add(where, "lists values in clear, but shows no aliases")


def _unknown(what: str, name: object) -> tuple[str, str]:
    """Say that something is not known here, by its name where that is one, and what to do."""
    called = f" {name!r}" if isinstance(name, str) and NAME.fullmatch(name) and len(name) <= LONGEST_NAME else ""
    return f"the {what}{called} is not known here", "install the package that brings it: without it nothing is checked"


def _check_sliced(manifest: Manifest, problems: Problems) -> None:
    """The slices are those that the request asks for: their number, their attributes, and whether cells are exact."""
    method, layout = manifest.recipe.method, manifest.layout
    shown, overlap = [{*one.attributes} for one in layout.slices], method.get("overlap")
    if not shown:
        return
    if "p" in method and "overlap" in method:
        problems.add("recipe.method", "has p together with overlap; an attribute is not generalised in two columns")
    if method.get("columns", len(shown)) != len(shown):
        problems.add("layout", "has another number of slices than the recipe asks for")
    times = {name: sum(name in one for one in shown) for name in layout.kinds}
    asked = {name: 2 if name == overlap and len(shown) > 1 else 1 for name in times}
    if times != asked:
        problems.add("layout", "shows attributes more often, or less often, than the recipe asks for")
    sensitive = {*layout.sensitive}
    if method.get("sensitive_apart") and not (sensitive <= shown[-1] <= sensitive | {overlap}):
        problems.add("layout", "its last slice is not that of the sensitive attributes, which the recipe asks for")
    if any((column.form == "raw") == ("p" in method) for column in layout.quasi):
        problems.add(
            "layout", "generalises quasi-identifiers without a p in the recipe, or shows them exactly with one"
        )
    if "groups" in method:
        _check_groups(manifest, shown, problems)


def _check_groups(manifest: Manifest, shown: Sequence[set[str]], problems: Problems) -> None:
    """Where a request says which attributes stay together, the slices are those; one attribute may be shown again."""
    method = manifest.recipe.method
    groups, again = method["groups"], {method.get("overlap")}
    if "columns" in method or method.get("sensitive_apart"):
        problems.add("recipe.method", "has groups together with columns or sensitive_apart; groups decides alone")
    if not isinstance(groups, dict):
        return
    numbers: list[Any] = sorted({*groups.values()})
    asked = [{name for name in groups if groups[name] == number} for number in numbers]
    fits = len(asked) == len(shown) and {*groups} == {*manifest.layout.kinds}
    if not fits or not all(names <= one <= names | again for names, one in zip(asked, shown, strict=True)):
        problems.add("layout", "its slices are not the groups of the recipe")


def _check_parameters(
    where: str, entry: Mapping[str, Any], known: Mapping[str, Bound], columns: Sequence[str], problems: Problems
) -> None:
    given = _without_name(entry)
    if set(given) - set(known):
        problems.add(where, f"has {counted(len(set(given) - set(known)), 'unknown parameter')}")
    if list(entry) != _in_order(entry, known):
        problems.add(where, "has its parameters in another order than Shoal writes")
    for name, bound in known.items():
        if name not in given:
            if not isinstance(bound, Maybe):  # defaults are written too: else one request could be written in two ways
                problems.add(f"{where}.{name}", "is missing")
        elif given[name] is None or bound.complaint(_listed(given[name])):
            problems.add(f"{where}.{name}", f"needs {bound.describe()}")
        elif repr(as_kept(bound, given[name])) != repr(given[name]):
            problems.add(f"{where}.{name}", "is not in Shoal's notation")
        elif _strange(bound, given[name], columns):
            problems.add(f"{where}.{name}", "names a column that the release does not have")


def _in_order(entry: Mapping[str, Any], known: Mapping[str, Bound]) -> list[str]:
    """The keys of an entry as they are written: the name, then the parameters as they are declared."""
    named = ["name"] if "name" in entry else []
    return [*named, *(key for key in known if key in entry), *(key for key in entry if key not in ("name", *known))]


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _strange(bound: Bound, value: Any, columns: Sequence[str]) -> bool:
    """Whether a parameter names a column that is not published."""
    inner = bound.bound if isinstance(bound, Maybe) else bound
    names = [value] if isinstance(inner, ColumnName) else list(value) if isinstance(inner, ByColumn) else []
    return bool(set(names) - set(columns))


def _asked(entry: Mapping[str, Any]) -> Requirement | None:
    """A requirement, or None where it cannot be read: that is noted where what is promised is read."""
    try:
        return promised_requirement(entry)
    except ShoalError:
        return None


def _promise(manifest: Manifest, problems: Problems) -> list[Requirement]:
    """Everything that is promised, as requirements."""
    found = []
    for promise in manifest.promise:
        if promise.get("model") not in MODELS and promise.get("model") not in OF_METHODS:
            problems.add("promise", *_unknown("model", promise.get("model")))
            continue
        try:
            requirement = promised_requirement(promise)
        except ShoalError as error:
            problems.take(GuaranteeError(error.problems))
            continue
        if list({"model": requirement.name, **requirement.to_mapping()}.items()) != list(promise.items()):
            problems.add("promise", f"{requirement.name} is not in Shoal's notation")
        found.append(requirement)
    return found


# -- how it is laid out ----------------------------------------------------------------------------------------------


def _check_layout(manifest: Manifest, problems: Problems) -> None:
    """Every column is published in the columns, in the form and with the facts that its shape has."""
    layout = manifest.layout
    if not layout.quasi:
        problems.add("layout", "names no quasi-identifier")
    for names, what in (
        ([table.name for table in manifest.tables], "tables"),
        *((table.columns, f"table {table.name!r}") for table in manifest.tables),
        ([*layout.cell_columns, *(column.name for column in layout.passed)], "layout"),
        ([*(column.name for column in layout.quasi), *(column.name for column in layout.passed)], "layout"),
        ([name for columns in layout.slice_tables.values() for name in columns], "layout"),
    ):
        if len(set(names)) < len(names):
            problems.add(what, "has a name more than once")
        if not all(map(_is_name, names)):
            problems.add(what, "has a name that no column can have: empty, a pattern, or with a forbidden character")
    _check_slices(layout, problems)
    for column in layout.quasi:
        where = f"column {column.name!r}"
        if column.columns != layout.laid_out.carriers(column):
            problems.add(where, "is not published in the columns that its shape needs")
        if column.form not in layout.laid_out.forms or not _has_form(column):
            problems.add(where, "is published in a form that its shape does not allow")
        said = {name for name in QuasiColumn.model_fields if getattr(column, name) not in (None, False, 0, ())}
        if said - FACTS[column.form] - {"name", "kind", "form", "columns", "has_missing"}:
            problems.add(where, "has entries in the manifest that its form does not allow")
        if column.form == "set" and not manifest.recipe.publish.get("sets"):
            problems.add(where, "shows sets, but the recipe does not ask for them")
        if column.form == "order" and not _is_order(column):
            problems.add(where, "has impossible ranks in its order")


def _is_name(name: str) -> bool:
    """Whether a name means one column and no other: polars reads some as a pattern, and looks for what matches."""
    is_pattern = name == "*" or (name.startswith("^") and name.endswith("$"))
    return bool(name.strip()) and "\0" not in name and not name.startswith("\ufeff") and not is_pattern


def _has_form(column: QuasiColumn) -> bool:
    """Whether a column of a kind can have a form."""
    forms = {"numeric": ("interval", "node"), "ordinal": ("order", "node"), "nominal": ("set", "node")}
    return column.form in ("value", "raw", *forms[column.kind])


def _is_order(column: QuasiColumn) -> bool:
    ranks = column.ranks
    rising = all(one < other for one, other in pairwise(ranks))
    names_once = len(set(column.order)) == len(column.order) == len(ranks)
    return rising and names_once and all(0 <= rank < column.n_values for rank in ranks)


def _check_slices(layout: Layout, problems: Problems) -> None:
    """Slices show every published attribute, and only a sliced release has them."""
    if isinstance(layout.laid_out, SliceTables) != bool(layout.slices):
        fault = "lists slices, but its shape has none" if layout.slices else "lists no slices, but its shape needs them"
        problems.add("layout", fault)
    shown = {name for one in layout.slices for name in one.attributes}
    if layout.slices and shown != {
        *(column.name for column in layout.quasi),
        *(column.name for column in layout.passed),
    }:
        problems.add("layout", "its slices do not cover exactly the published attributes")
    for one in layout.slices:
        if len(one.attributes) != len(one.columns) or len(set(one.attributes)) < len(one.attributes) or not one.columns:
            problems.add("layout", "has a slice whose columns do not fit its attributes")
    _check_slice_names(layout, problems)


def _check_slice_names(layout: Layout, problems: Problems) -> None:
    """The published column of an attribute has its name; where a later slice shows it again, the slice's number too."""
    taken: set[str] = set()
    for number, one in enumerate(layout.slices, 1):
        for name, column in zip(one.attributes, one.columns, strict=False):
            rest = column.removeprefix(name)
            if column != name and (name not in taken or rest.replace(f"_{number}", "")):
                problems.add("layout", f"a slice shows {name!r} under a name that is not allowed")
        taken |= set(one.attributes)


# -- rows, series ----------------------------------------------------------------------------------------------------


def _check_rows(manifest: Manifest, method: Declared, problems: Problems) -> None:
    """No more rows are left out than the recipe allows, and their number is there unless it is private."""
    rows, recipe = manifest.rows, manifest.recipe
    if repr(recipe.suppress).startswith("-"):
        problems.add("recipe.suppress", "is not in Shoal's notation")
    if (rows.left_out is None) != (recipe.left_out == "private"):
        fault = "is missing, but" if rows.left_out is None else "is stated, but"
        problems.add("rows", f"left_out {fault} the recipe has left_out = {recipe.left_out!r}")
    if rows.left_out is not None and recipe.missing == "keep":
        n_rows = rows.published + rows.left_out
        most = min(n_rows, int(recipe.suppress * n_rows) + method.most_left_out(recipe.method, n_rows))
        if rows.left_out > most:
            problems.add(
                "rows",
                f"{counted(rows.left_out, 'row is', 'rows are')} left out, but the recipe allows at most {most:,} of "
                f"{n_rows:,}",
            )


def _check_series(manifest: Manifest, problems: Problems) -> None:
    """Only repeated releases have a place in a series, and only the first of them follows none."""
    series, recipe = manifest.series, manifest.recipe
    plain = not recipe.require and recipe.refine is None and not recipe.suppress
    repeated = manifest.layout.laid_out.has_counterfeits
    if repeated and not (plain and recipe.publish.get("shape") == "classes"):
        problems.add("recipe", "has require, refine, suppress or another shape, which repeated releases cannot have")
    if repeated != (series is not None):
        fault = "is missing, but" if series is None else "is there, but not"
        problems.add("series", f"{fault} for a method of repeated releases")
    if series is not None and (series.previous is None) != (series.number == 1):
        problems.add("series", "only the first release may be without a previous one, and it must be")
    if series is not None and series.previous is not None and not _is_sha256(series.previous):
        problems.add("series", "names the previous release by something that is not a fingerprint")


def _is_sha256(text: str) -> bool:
    return len(text) == 64 and set(text) <= set("0123456789abcdef")

"""A chart as files: a page that opens offline, and an SVG.

Altair and vl-convert are loaded when the first picture is drawn. The page carries all it needs and is told to ask the
network for nothing. The same chart gives the same bytes.
"""

from __future__ import annotations

import json
import re
from html import escape
from types import ModuleType
from typing import Any

from shoal.errors import InputError, Problem
from shoal.machine.extras import install_line

FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
INK = "#1a1a1a"

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; \
style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ margin: 24px; background: #fff; color: #1a1a1a; font-family: {font}; }}
</style>
<script>{script}</script>
</head>
<body>
<main id="picture">{svg}</main>
<script>
vegaEmbed("#picture", {spec}, {{"actions": false, "renderer": "svg"}}).catch(console.error);
</script>
</body>
</html>
"""


def charts(what: str) -> ModuleType:
    """Altair, or an error that says how to get it; `what` is the picture that needs it."""
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError:
        fix = f"run: {install_line('report')}"
        raise InputError(Problem(what, "needs the packages altair and vl-convert-python", fix)) from None
    return altair


def drawn(name: str, chart: Any, title: str) -> dict[str, bytes]:
    """The files of a chart: ``name.html`` and ``name.svg``.

    Parameters
    ----------
    name
        Name of the files, without ending.
    chart
        An Altair chart, whole; what is inside comes from data values only, never from expressions made of them.
    title
        Of the page, for the bar of a browser.
    """
    import vl_convert

    spec, svg = _spec(chart), still(chart)
    # A name may hold anything, the end of a script too.
    text = json.dumps(spec, sort_keys=True, ensure_ascii=True).replace("<", "\\u003c")
    bundle: str = vl_convert.javascript_bundle(vl_version=_version())  # type: ignore[call-arg]
    script = bundle.replace("</script", "<\\/script")
    page = _PAGE.format(title=escape(title), font=FONT, script=script, svg=svg, spec=text)
    return {f"{name}.html": page.encode(), f"{name}.svg": svg.encode()}


def still(chart: Any) -> str:
    """A chart as SVG alone; the script that makes a page of it live takes seconds to put together."""
    import vl_convert

    return renumbered(vl_convert.vegalite_to_svg(_spec(chart), vl_version=_version()))


def _spec(chart: Any) -> dict[str, Any]:
    spec: dict[str, Any] = chart.to_dict(context={"pre_transform": False})
    return spec


def _version() -> str:
    """The version of Vega-Lite that Altair writes for."""
    import altair

    return ".".join(altair.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


def renumbered(svg: str) -> str:
    """Number gradients and clips from 0: the library counts on from picture to picture."""
    known: dict[str, str] = {}

    def renumber(found: re.Match[str]) -> str:
        before, sort, old = found.groups()
        return before + known.setdefault(old, f"{sort}{len(known)}")

    return re.sub(r'((?: id="|url\(#))(?=((?:gradient_|clip))\d+["\)])(\w+)', renumber, svg)

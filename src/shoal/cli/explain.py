"""One method, model, publisher or attack in full: what it does, what it promises, where it comes from, how to ask."""

from __future__ import annotations

import inspect
import re
from typing import Any

_HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)


def sections(spec: type) -> dict[str, str]:
    """The parts of a docstring by heading, without code; what stands before the first heading is under "".

    >>> class Some:
    ...     '''A title.
    ...
    ...     What it is.
    ...
    ...     Guarantee
    ...     ---------
    ...     Nothing with ``k=1``.
    ...
    ...     >>> 1
    ...     1
    ...     '''
    >>> sections(Some)
    {'': 'A title. What it is.', 'Guarantee': 'Nothing with k=1.'}
    """
    text = inspect.cleandoc(spec.__doc__ or "")
    parts = _HEADING.split(text)
    found = {"": parts[0]} | dict(zip(parts[1::2], parts[2::2], strict=True))
    return {heading: said for heading, part in found.items() if (said := _plain(part))}


def _plain(text: str) -> str:
    """Paragraphs as one line each, without examples and marks of code."""
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n") if not part.lstrip().startswith(">>>")]
    return " ".join(part for part in paragraphs if part).replace("``", "")


def facts(spec: type[Any]) -> dict[str, str]:
    """What is known of one, in words: of its docstring, then how it is asked for."""
    said = sections(spec)
    found = {"what it does": said.get("", ""), "guarantee": said.get("Guarantee", "")}
    found["reference"] = said.get("References", getattr(spec, "reference", "")) or getattr(spec, "paper", "")
    return {name: text for name, text in found.items() if text} | {"in Python": _call(spec)}


def _call(spec: type[Any]) -> str:
    """How one is written in Python, with what it must be given."""
    import shoal

    if getattr(spec, "registry", None) is not None and spec.__name__ in dir(shoal):
        needed = ", ".join(f"{one.name}=..." for one in spec.parameters() if one.required)
        return f"shoal.{spec.__name__}({needed})"
    what = spec.registry.group.rpartition(".")[2].removesuffix("s")
    return f'release.{what}(..., "{spec.name}")' if what == "attack" else spec.__name__

"""What can be asked for by name: of Shoal itself, and of other packages that are installed beside it.

Another package brings a method, a model, a publisher or a measure through an entry point of the group `shoal.methods`,
`shoal.models`, `shoal.publishers` or `shoal.measures`; a notebook, through `register`. Nothing is imported before it is
asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from shoal.errors import ParameterError, Problem

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """Things by name, loaded when they are asked for.

    Parameters
    ----------
    group
        The group of entry points through which other packages add to it.
    homes
        Where Shoal's own are: ``"module:name"`` by the name they are asked for.
    """

    def __init__(self, group: str, homes: Mapping[str, str]) -> None:
        self.group = group
        self._homes = dict(homes)
        self._loaded: dict[str, T] = {}
        self._discovered = False

    @property
    def own(self) -> tuple[str, ...]:
        """Names of what is known without looking at other packages."""
        return tuple(self._homes)

    def home(self, name: str) -> str:
        """Where a thing is: ``"module:name"``."""
        return self._homes[name]

    def register(self, name: str, thing: T) -> T:
        """Add a thing under a name that is not taken."""
        if name in self:
            raise ParameterError(Problem(self.group, f"already has an entry {name!r}", "choose another name"))
        self._homes[name] = ""
        self._loaded[name] = thing
        return thing

    def __getitem__(self, name: str) -> T:
        """Load a thing by its name."""
        self._discover(name)
        if name not in self._loaded:
            module, _, attribute = self._homes[name].partition(":")
            self._loaded[name] = getattr(import_module(module), attribute)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        self._discover()
        return iter(self._homes)

    def __len__(self) -> int:
        self._discover()
        return len(self._homes)

    def _discover(self, name: str | None = None) -> None:
        """Look for what other packages bring, unless a name is one of our own."""
        if self._discovered or name in self._homes:
            return
        self._discovered = True
        for entry in entry_points(group=self.group):
            self._homes.setdefault(entry.name, entry.value)

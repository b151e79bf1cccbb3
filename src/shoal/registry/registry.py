"""What can be asked for by name: of Shoal itself, and of other packages that are installed beside it.

Another package brings a method, a model, a publisher, a measure or an attack through an entry point of the group
`shoal.methods`, `shoal.models`, `shoal.publishers`, `shoal.measures` or `shoal.attacks`; a notebook, through
`register`. Nothing is imported before it is asked for.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from shoal.errors import ParameterError, Problem, Problems, ShoalError, ShoalWarning
from shoal.spec import checked_call

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")

NAME = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")
"""What things are called in recipes and manifests: a word that has no room for a message."""


class Registry(Mapping[str, T], Generic[T]):
    """Things by name, loaded when they are asked for.

    What belongs here says so itself: its attribute `registry` is this one, and its attribute `name` is the name it is
    asked for by. Where it has a class method `check_declared(where, problems)`, that notes what is wrong with it.

    Parameters
    ----------
    group
        The group of entry points through which other packages add to it; empty where they cannot.
    homes
        Where Shoal's own are: ``"module:name"`` by the name they are asked for.
    what
        What it holds, in a few words, for errors.
    """

    def __init__(self, group: str, homes: Mapping[str, str], what: str = "") -> None:
        self.group, self.what = group, what or group
        self._homes = dict(homes)
        self._loaded: dict[str, T] = {}
        self._entries: dict[str, list[EntryPoint]] | None = None

    @property
    def own(self) -> tuple[str, ...]:
        """Names of what Shoal itself has."""
        return tuple(self._homes)

    def home(self, name: str) -> str:
        """Where a thing of Shoal's own is: ``"module:name"``."""
        return self._homes[name]

    def class_names(self) -> dict[str, str]:
        """The names of Shoal's own by those of their classes."""
        return {home.rpartition(":")[2]: name for name, home in self._homes.items()}

    def register(self, thing: T) -> T:
        """Add a thing under its name, which must not be taken; a class that is written anew takes its own place."""
        name, problems = str(getattr(thing, "name", "")), Problems()
        known = self._loaded.get(name)
        anew = known is thing or (name not in self._homes and _written(known) == _written(thing))
        if name in self and not anew:
            problems.add("register", f"there is {self.what} called {name!r} already", "choose another name")
        self._check(name, thing, "register", problems)
        problems.raise_if_any(ParameterError)
        self._loaded[name] = thing
        return thing

    def loadable(self) -> Iterator[tuple[str, T]]:
        """Everything by name; what another package brings and cannot be loaded is passed over, with a warning."""
        for name in self:
            try:
                yield name, self[name]
            except ShoalError as error:
                warnings.warn(str(error), ShoalWarning, stacklevel=2)

    def __getitem__(self, name: str) -> T:
        """Load a thing by its name."""
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._homes or name in self._loaded or name in self._brought)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._homes, *self._brought, *self._loaded]))

    def __len__(self) -> int:
        return len(list(iter(self)))

    @property
    def _brought(self) -> dict[str, list[EntryPoint]]:
        """What other packages bring, by name; Shoal's own names cannot be taken."""
        if self._entries is None:
            from importlib.metadata import entry_points

            self._entries = {}
            for entry in entry_points(group=self.group):
                if entry.name in self._homes:
                    what = f"{_package(entry)} brings {self.what} called {entry.name!r}, which Shoal has itself"
                    warnings.warn(f"{what}; it is passed over", ShoalWarning, stacklevel=2)
                elif entry not in self._entries.setdefault(entry.name, []):
                    self._entries[entry.name].append(entry)
        return self._entries

    def _load(self, name: str) -> T:
        if name in self._homes:
            module, _, attribute = self._homes[name].partition(":")
            found: T = getattr(import_module(module), attribute)
            return found
        entries = self._brought[name]
        where = f"{self.group}: {name!r}"
        if len(entries) > 1:
            what = f"is brought by more than one package: {', '.join(map(_package, entries))}"
            raise ParameterError(Problem(where, what, "uninstall all but one"))
        problems = Problems()
        try:
            brought: T = entries[0].load()
            self._check(name, brought, f"{_package(entries[0])}, {where}", problems)
        except (Exception, SystemExit) as error:  # whatever another package does
            what = f"{_package(entries[0])} brings it, and it cannot be loaded: {type(error).__name__}"
            raise ParameterError(Problem(where, what, "update that package, or uninstall it")) from error
        problems.raise_if_any(ParameterError)
        return brought

    def _check(self, name: str, thing: Any, where: str, problems: Problems) -> None:
        """Note why a thing cannot be asked for by a name."""
        if getattr(thing, "registry", None) is not self:
            problems.add(where, f"is not {self.what}")
            return
        if getattr(thing, "name", None) != name:
            problems.add(where, f"has another name: {getattr(thing, 'name', None)!r}", "write the same name twice")
        if not NAME.fullmatch(name):
            problems.add(where, f"has the name {name!r}", "use small letters, digits, single hyphens or underscores")
        if inspect.isabstract(thing):
            lacking = ", ".join(sorted(thing.__abstractmethods__))
            problems.add(where, f"does not say: {lacking}", "write these methods")
        if hasattr(thing, "check_declared"):
            thing.check_declared(where, problems)


@checked_call(examples={"thing": "a class after shoal.Method"})
def register(thing: T) -> T:
    """Add a method, a model, a publisher, a measure or an attack of your own, to be asked for by its name.

    It may stand above the class as a decorator. A package that is installed needs no call: its entry points say what
    it brings.

    Raises
    ------
    ParameterError
        With everything that is wrong: a name that is taken, or a declaration that is not complete.
    """
    registry = getattr(thing, "registry", None)
    if not isinstance(registry, Registry):
        got = getattr(thing, "__name__", type(thing).__name__)
        what = f"needs a method, a model, a publisher, a measure or an attack, got {got}"
        fix = "write a class after Method, Requirement, Publisher, Measure or Attack"
        raise ParameterError(Problem("register", what, fix))
    registry.register(thing)
    return thing


def stranger(registry: Registry[Any], thing: object) -> tuple[str, str] | None:
    """Say that the class of an object is not the one that is asked for by its name, and what to do; or None."""
    name = str(getattr(thing, "name", ""))
    if registry.get(name) is type(thing):
        return None
    if name in registry:
        return f"{type(thing).__name__} is called {name!r}, and so is another", "give it a name of its own"
    return f"{type(thing).__name__} is not registered", f"call shoal.register({type(thing).__name__}) first"


def _written(thing: object) -> tuple[object, object]:
    """Where a class is written: a cell of a notebook that runs again writes the same class."""
    return getattr(thing, "__module__", None), getattr(thing, "__qualname__", thing)


def _package(entry: EntryPoint) -> str:
    return "a package" if entry.dist is None else f"package {entry.dist.name!r}"


__all__ = ["Registry", "register", "stranger"]

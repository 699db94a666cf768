"""Every public name says what it is and shows, by an example that doctest runs, how it is used.

A room is a module or package of `vmqp`, a package further down, or a module that another room lists; it lists its
public names in ``__all__``. A public class or function has a docstring of its own with an example; its public methods
and properties have at least a docstring. Constants, type aliases and instances are exempt.
"""

import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import vmqp


def list_rooms() -> list[str]:
    """The names of `vmqp` and of the modules below it that list public names."""
    found = {"vmqp"}
    for module in pkgutil.walk_packages(vmqp.__path__, "vmqp."):
        private = any(part.startswith("_") for part in module.name.split("."))
        direct_child = module.name.count(".") == 1
        if private or not (direct_child or module.ispkg):
            continue
        room = import_module(module.name)
        if hasattr(room, "__all__"):
            listed = (getattr(room, name) for name in room.__all__)
            found |= {module.name, *(value.__name__ for value in listed if inspect.ismodule(value))}
    return sorted(found)


def public_names(room: ModuleType | SimpleNamespace) -> Iterator[tuple[str, object]]:
    """The classes and functions that a room lists, by name."""
    for name in room.__all__:
        value = getattr(room, name)
        if inspect.isclass(value) or inspect.isroutine(value):
            yield name, value


def own_docstring(value: object) -> str:
    """The docstring that was written for a class or function itself: not its base class's, and not a made one."""
    written = vars(value).get("__doc__") if inspect.isclass(value) else getattr(value, "__doc__", None)
    return written or ""


def is_member(value: object) -> bool:
    """Whether an attribute of a class is a method or property."""
    return inspect.isroutine(value) or isinstance(value, property | cached_property)


def public_members(kind: type) -> Iterator[tuple[str, object]]:
    """The public methods and properties that a class, or one of its bases in the package, defines."""
    seen = set()
    for base in kind.__mro__:
        if not base.__module__.startswith(("vmqp", __name__)):
            continue
        for name, value in vars(base).items():
            if not name.startswith("_") and name not in seen and is_member(value):
                seen.add(name)
                yield name, value


def faults(room: ModuleType | SimpleNamespace) -> list[str]:
    """What the public names of a room lack."""
    found = []
    for name, value in public_names(room):
        if ">>>" not in own_docstring(value):
            found.append(f"{name} has no example")
        if inspect.isclass(value):
            found += [
                f"{name}.{member} has no docstring"
                for member, method in public_members(value)
                if not getattr(method, "__doc__", None)
            ]
    return found


ROOMS = list_rooms()
REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
INTERNAL = {
    "vmqp.checks",
    "vmqp.cli",
    "vmqp.demo",
    "vmqp.files",
    "vmqp.peers.baselines",
}  # the last two have their names in vmqp and in vmqp.peers


def test_rooms_are_found():
    assert {"vmqp", "vmqp.circle", "vmqp.kernels", "vmqp.peers.baselines", "vmqp.datasets"} <= set(ROOMS)
    assert not {"vmqp._version", "vmqp.__main__", "vmqp.kernels.algebra"} & set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_public_names_are_documented_with_an_example(room):
    assert faults(import_module(room)) == []


def missing_names(room: ModuleType | SimpleNamespace, page: str) -> list[str]:
    """The public names of a room that its page of the reference, as text, does not show."""
    if f".. automodule:: {room.__name__}\n   :members:\n" in page:
        return []
    shown = {line.split(":: ")[1].split("(")[0] for line in page.splitlines() if ":: " in line}
    return [name for name, _ in public_names(room) if name not in shown]


@pytest.mark.parametrize("room", sorted(set(ROOMS) - INTERNAL))
def test_the_reference_shows_every_public_name(room):
    page = (REFERENCE / f"{room.removeprefix('vmqp.')}.rst").read_text(encoding="utf-8")
    assert missing_names(import_module(room), page) == []


def test_a_name_that_the_reference_lacks_is_found():
    room = planted(shown=shown, Shown=Shown)
    room.__name__ = "vmqp.planted"
    assert missing_names(room, ".. automodule:: vmqp.planted\n\n.. autofunction:: shown\n") == ["Shown"]
    assert missing_names(room, ".. automodule:: vmqp.planted\n   :members:\n") == []


class Shown:
    """A class that is in order.

    >>> Shown().told()
    """

    LIMIT = 3

    def told(self):
        """Return nothing."""

    @property
    def size(self):
        """Of nothing."""

    def _private(self):
        pass


class Heir(Shown):
    def told(self):
        return 1

    @cached_property
    def length(self):
        return 1

    @classmethod
    def of(cls):
        return cls()


@dataclass
class Plain:
    x: int = 0


def shown():
    """Do nothing.

    >>> shown()
    """


def told():
    """Do nothing, without an example."""


def silent():
    pass


def planted(**names):
    return SimpleNamespace(__all__=list(names), **names)


def test_what_is_in_order_passes():
    assert faults(planted(Shown=Shown, shown=shown, LIMIT=3, Alias=dict[str, int], module=inspect)) == []


@pytest.mark.parametrize("value", [told, silent, Plain])
def test_a_name_without_an_example_is_found(value):
    assert faults(planted(name=value)) == ["name has no example"]


def test_what_a_base_class_says_does_not_count():
    assert faults(planted(Heir=Heir)) == [
        "Heir has no example",
        "Heir.told has no docstring",
        "Heir.length has no docstring",
        "Heir.of has no docstring",
    ]

"""The pages of the reference: every public name is on one of them, and each of them names what there is."""

from __future__ import annotations

import importlib
import re

import pytest

from tests.support.shared import PROJECT

REFERENCE = PROJECT / "docs" / "reference"
NAMES = [
    name
    for page in sorted(REFERENCE.glob("*.md"))
    for name in re.findall(r"^::: (\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
]
PUBLIC = [
    (package, name)
    for package in (
        *("unspool", "unspool.typed", "unspool.llm", "unspool.patch", "unspool.select", "unspool.testing"),
        *("unspool.relay", "unspool.relay.web"),
    )
    for name in importlib.import_module(package).__all__
    if name != "StreamResponse"  # `Relay.sse` makes it
]


@pytest.mark.parametrize(("package", "name"), PUBLIC, ids=lambda part: str(part))
def test_every_public_name_is_documented(package: str, name: str) -> None:
    """Each name is on a page once, under its package."""
    assert NAMES.count(f"{package}.{name}") == 1


@pytest.mark.parametrize("name", NAMES)
def test_what_is_documented_is_there(name: str) -> None:
    """Each name on a page of the reference can be imported as it stands."""
    module, _, last = name.rpartition(".")
    assert hasattr(importlib.import_module(module), last)


def test_nothing_is_documented_twice() -> None:
    """A name has one place."""
    assert sorted(set(NAMES)) == sorted(NAMES)

"""missing.py: there is one MISSING, and it is nothing else."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import unspool
from unspool import MISSING
from unspool._missing import MissingType


def test_it_is_false_and_says_its_name() -> None:
    """It reads as nothing in a condition, and as its name anywhere else."""
    assert not MISSING
    assert repr(MISSING) == str(MISSING) == "MISSING"
    assert isinstance(MISSING, MissingType)
    assert unspool.MISSING is MISSING


@pytest.mark.parametrize("other", [None, False, 0, "", [], {}, "MISSING", ..., MissingType], ids=repr)
def test_it_equals_nothing_else(other: object) -> None:
    """No other thing equals it, whatever else is false."""
    assert other != MISSING


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_there_is_one(protocol: int) -> None:
    """Copied or pickled, alone or inside of something, it is the same object."""
    assert pickle.loads(pickle.dumps(MISSING, protocol)) is MISSING
    assert pickle.loads(pickle.dumps({"a": [MISSING]}, protocol))["a"][0] is MISSING
    assert copy.copy(MISSING) is copy.deepcopy(MISSING) is MISSING


def test_it_cannot_be_changed() -> None:
    """Nothing can be hung on it."""
    with pytest.raises(AttributeError):
        MISSING.name = 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("key", [0, "a", slice(None)], ids=repr)
def test_it_has_no_items(key: Any) -> None:
    """The error says what is the matter."""
    value: Any = MISSING
    with pytest.raises(TypeError, match="there is no value yet"):
        value[key]
    with pytest.raises(TypeError):
        list(value)

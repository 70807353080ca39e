"""Recordings to look at without having any: invented messages, with the times at which such messages come.

>>> read("trip").startswith(b'{"unspool_recording": 1}')
True
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Final

from ..._errors import UnspoolError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["SAMPLES", "SampleError", "find", "read"]

PACKAGE: Final = "unspool.tools.viewer"
FOLDER: Final = "samples"  # no package: this module has the name
SAMPLES: Final = {
    "trip": "OpenAI chat: a structured answer of a hundred fields, in six seconds",
    "weather-tools": "Anthropic: thinking, a sentence, then two tool calls",
    "gemini-leaves": "Gemini: the arguments of a call, leaf by leaf",
    "snapshots": "whole values, each later than the one before; some fields have to wait",
    "broken": "JSON that breaks in its seventh line",
    "cut-off": "OpenAI chat: the answer is cut off, it was too long",
    "unordered-a": "OpenAI chat: a verdict at the end of its reasons",
    "unordered-b": "the same with the verdict first, to compare",
}
"""What there is, by name, and what it shows."""


class SampleError(UnspoolError, ValueError):
    """There is no sample of this name."""


def find(name: str) -> Traversable:
    """Where a sample is. Raises `SampleError` with the names that there are."""
    if name not in SAMPLES:
        raise SampleError(f"there is no sample {name!r}; there are {', '.join(SAMPLES)}")
    return files(PACKAGE) / FOLDER / f"{name}.jsonl"


def read(name: str) -> bytes:
    """A sample: a recording with times."""
    return find(name).read_bytes()

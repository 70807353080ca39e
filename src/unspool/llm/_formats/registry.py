"""All wire formats by name: what reads their chunks, and which one a chunk is of. A new format is one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from ..._errors import OptionsError
from . import (
    anthropic,
    bedrock_converse,
    cohere,
    gemini,
    gemini_interactions,
    ollama,
    openai_chat,
    openai_responses,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._deltas import Delta

__all__ = ["FORMATS", "Format", "deltas_for", "detect"]


class Format(Protocol):
    """What the module of a format has."""

    def deltas(self, chunk: object, /) -> list[Delta]:
        """What the chunk says. Never raises: what it does not understand is `Ignored`."""
        ...

    def is_chunk(self, chunk: object, /) -> bool:
        """Whether the chunk is of this format, as far as one chunk can tell."""
        ...


# The first that knows a chunk has it: those that recognise their own come first, what is everybody's dialect last.
FORMATS: Final[dict[str, Format]] = {
    "openai-responses": openai_responses,
    "anthropic": anthropic,
    "gemini-interactions": gemini_interactions,
    "bedrock-converse": bedrock_converse,
    "cohere": cohere,
    "gemini": gemini,
    "ollama": ollama,
    "openai-chat": openai_chat,
}


def deltas_for(format: str) -> Callable[[object], list[Delta]]:
    """The function from a chunk of this format to its deltas.

    >>> deltas_for("ollama")({"message": {"content": "Hi"}, "done": True, "done_reason": "stop"})
    [TextDelta(text='Hi'), Finish(reason='stop', raw='stop')]
    """
    found = FORMATS.get(format)
    if found is None:
        raise OptionsError(f"format must be {' or '.join(map(repr, FORMATS))}")
    return found.deltas


def detect(chunk: object) -> str | None:
    """The name of the format that the chunk is of; None if it could be any, or none.

    >>> detect({"type": "message_start", "message": {}})
    'anthropic'
    """
    for name, wire in FORMATS.items():
        if wire.is_chunk(chunk):
            return name
    return None

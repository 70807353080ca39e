"""All wire formats by name. A new format is one line here."""

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
    """The interface of a format module."""

    def deltas(self, chunk: object, /) -> list[Delta]:
        """Return the deltas of the chunk. Never raise: unknown content becomes `Ignored`."""
        ...

    def is_chunk(self, chunk: object, /) -> bool:
        """Tell whether the chunk has this format, judging by this chunk alone."""
        ...


# Detection takes the first match: formats with unmistakable chunks come first, the most common dialect last.
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
    """Return the function that turns a chunk of this format into deltas.

    >>> deltas_for("ollama")({"message": {"content": "Hi"}, "done": True, "done_reason": "stop"})
    [TextDelta(text='Hi'), Finish(reason='stop', raw='stop')]
    """
    found = FORMATS.get(format)
    if found is None:
        raise OptionsError(f"format must be {' or '.join(map(repr, FORMATS))}")
    return found.deltas


def detect(chunk: object) -> str | None:
    """Return the name of the format of the chunk; None if the chunk does not identify one.

    >>> detect({"type": "message_start", "message": {}})
    'anthropic'
    """
    for name, wire in FORMATS.items():
        if wire.is_chunk(chunk):
            return name
    return None

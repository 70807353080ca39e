"""All writers of requests by the name of their format. A new format is one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

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
    from .turn import RequestWriter

__all__ = ["WRITERS", "writer_for"]

WRITERS: Final[dict[str, RequestWriter]] = {
    "openai-responses": openai_responses,
    "anthropic": anthropic,
    "gemini-interactions": gemini_interactions,
    "bedrock-converse": bedrock_converse,
    "cohere": cohere,
    "gemini": gemini,
    "ollama": ollama,
    "openai-chat": openai_chat,
}


def writer_for(format: str) -> RequestWriter:
    """Return the writer of requests in this format."""
    found = WRITERS.get(format)
    if found is None:
        raise OptionsError(f"format must be {' or '.join(map(repr, WRITERS))}")
    return found

"""All targets by name. A new target is one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ..._errors import OptionsError
from . import ag_ui, anthropic, openai_chat, openai_responses, vercel_ui

if TYPE_CHECKING:
    from .machine import Target

__all__ = ["TARGETS", "TargetWire", "wire_for"]

STREAM: Final = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
}
VERCEL: Final = {"x-vercel-ai-ui-message-stream": "v1"}


class TargetWire(NamedTuple):
    """A target, and how its chunks go over HTTP as server-sent events."""

    target: Target
    prefix: str
    """The beginning of the ids that an encoder makes."""
    has_names: bool = False
    """Each event has the type of its chunk as its name."""
    is_done: bool = False
    """The stream ends with ``[DONE]``."""
    headers: dict[str, str] = STREAM


TARGETS: Final[dict[str, TargetWire]] = {
    "openai-chat": TargetWire(openai_chat.TARGET, "chatcmpl-", is_done=True),
    "openai-responses": TargetWire(openai_responses.TARGET, "resp_", has_names=True),
    "anthropic": TargetWire(anthropic.TARGET, "msg_", has_names=True),
    "vercel-ui": TargetWire(vercel_ui.TARGET, "msg_", is_done=True, headers={**STREAM, **VERCEL}),
    "ag-ui": TargetWire(ag_ui.TARGET, "msg_"),
}


def wire_for(target: str) -> TargetWire:
    """Return the target with this name."""
    found = TARGETS.get(target)
    if found is None:
        raise OptionsError(f"target must be {' or '.join(map(repr, TARGETS))}")
    return found

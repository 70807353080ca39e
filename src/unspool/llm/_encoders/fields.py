"""What several targets need to know about a message: who made a part, why the message ended, and its tokens."""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast, final

from .._calls import ToolCall
from .._parts import FilePart, OpaquePart, ReasoningPart, SourcePart, TextPart, ToolResultPart, native_in
from .._requests.turn import base64_of, result_text, string_in

if TYPE_CHECKING:
    from .._deltas import FinishReason, Usage
    from .._message import MessageState
    from .._parts import Part
    from .machine import Slot, Step

__all__ = [
    "ENCRYPTED_AGAIN",
    "ERROR_TYPES",
    "Tokens",
    "data_url",
    "error_type",
    "is_anthropic",
    "is_responses",
    "is_whole",
    "lose_part",
    "native_type",
    "reason_of",
    "result_text",
    "text_of",
    "tokens_of",
]

RESULT: Final = "_tool_result"
ANTHROPIC_OPAQUE: Final = frozenset({"compaction", "fallback", "mcp_tool_listing"})
RESPONSES_OPAQUE: Final = frozenset({
    *("additional_tools", "compaction", "mcp_approval_request", "mcp_approval_response", "mcp_list_tools"),
})  # fmt: skip
ENCRYPTED_AGAIN: Final = "the provider encrypted it again at the end; what the client has is valid, too"
GOOD_ENDS: Final = ("stop", "tool_calls")
ERROR_TYPES: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
"""The names that Anthropic has for errors, by their HTTP status."""


def native_type(part: Part) -> str:
    """Return the type of the provider's own block; an empty text if it has none."""
    return string_in(native_in(part), "type") or ""


def is_anthropic(part: Part) -> bool:
    """Tell whether the part is a block of Anthropic's that is not text. No other provider has blocks of these types."""
    kind = native_type(part)
    if isinstance(part, ToolCall):
        return kind.endswith("tool_use")
    if isinstance(part, ToolResultPart):
        return kind.endswith(RESULT)
    if isinstance(part, OpaquePart):
        return kind == part.kind and kind in ANTHROPIC_OPAQUE and part.id is None
    return isinstance(part, FilePart) and kind == "container_upload" and part.file_id is not None


def is_responses(part: Part) -> bool:
    """Tell whether the part is an item of OpenAI's Responses that is not text."""
    kind = native_type(part)
    if isinstance(part, ToolCall):
        return kind == "program" or kind.endswith("_call")
    if isinstance(part, ToolResultPart):
        return kind.endswith("_output")
    if isinstance(part, OpaquePart):
        return kind == part.kind and kind in RESPONSES_OPAQUE and part.id is not None
    return isinstance(part, FilePart) and kind == "image_generation_call"


def is_whole(slot: Slot, call: ToolCall) -> bool:
    """Tell whether all arguments of a call are there."""
    return call.is_complete or (slot.is_settled and call.error is None)


def text_of(data: str | bytes | None) -> str | None:
    """Return data as text: bytes as base64."""
    return base64_of(FilePart(data=data)) if isinstance(data, bytes) else data


def data_url(part: FilePart) -> str | None:
    """Return the address of a file, or its content as an address; None if it has neither."""
    if part.url:
        return part.url
    data = base64_of(part)
    return None if not data else f"data:{part.media_type or 'application/octet-stream'};base64,{data}"


def reason_of(step: Step, state: MessageState) -> FinishReason:
    """Return why the message ended. Calls that the client must run decide between the two good ends."""
    reason = state.finish_reason
    if reason is None or reason in GOOD_ENDS:
        found: FinishReason = "tool_calls" if step.state.app_calls > 0 else "stop"
        if reason is not None and reason != found:
            step.lose(None, "finish_reason", "the calls that the model waits for have no place in the target")
        return found
    return reason


def error_type(status: int | None) -> str:
    """Return the name of an error with this HTTP status."""
    return ERROR_TYPES.get(status or 0, "api_error")


def lose_part(step: Step, number: int, part: Part) -> None:
    """Report a part that has no place in the target."""
    if isinstance(part, ToolCall):
        step.lose(number, "server_call", "the target has no place for tools that the provider runs")
    elif isinstance(part, ToolResultPart):
        step.lose(number, "server_result", "the target has no place for results of the provider's tools")
    elif isinstance(part, FilePart):
        step.lose(number, "file", "the target has no place for files")
    elif isinstance(part, SourcePart):
        step.lose(number, "source", "the target has no place for sources")
    elif isinstance(part, OpaquePart):
        step.lose(number, "opaque", "only its own protocol has this block")
    elif isinstance(part, TextPart) and part.citations:
        step.lose(number, "citation", "the target has no place for these citations")
    elif isinstance(part, ReasoningPart):
        if part.signature is not None and not step.has(number, ("signature", part.signature)):
            step.lose(number, "signature", "a signature is valid in its own protocol only")
        if part.encrypted is not None and not step.has(number, ("encrypted", part.encrypted)):
            step.lose(number, "encrypted", "only its own provider can read encrypted reasoning")


@final
class Tokens:
    """The tokens of a message. The input includes cached tokens, and the output includes reasoning."""

    __slots__ = ("cache_written", "cached", "input", "is_told", "output", "reasoning", "total")

    def __init__(self, usage: Usage | None) -> None:
        read = None if usage is None else usage.input_tokens
        written = None if usage is None else usage.output_tokens
        total = None if usage is None else usage.total_tokens
        raw: dict[str, object] = {} if usage is None else usage.raw
        self.is_told: Final = read is not None or written is not None or total is not None
        self.input: Final = max(0, read or 0)
        self.output: Final = max(0, written or 0)
        self.total: Final = self.input + self.output if total is None else max(0, total)
        self.cached: Final = min(_count(raw, CACHED), self.input)
        self.cache_written: Final = min(_count(raw, CACHE_WRITTEN), self.input - self.cached)
        self.reasoning: Final = min(_count(raw, THOUGHT), self.output)


CACHED: Final = (
    *("cache_read_input_tokens", "prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens"),
    *("cachedContentTokenCount", "cacheReadInputTokens", "prompt_cache_hit_tokens", "total_cached_tokens"),
)
CACHE_WRITTEN: Final = (
    *("cache_creation_input_tokens", "prompt_tokens_details.cache_write_tokens"),
    *("input_tokens_details.cache_write_tokens", "cacheWriteInputTokens"),
)
THOUGHT: Final = (
    *("completion_tokens_details.reasoning_tokens", "output_tokens_details.reasoning_tokens"),
    *("thoughtsTokenCount", "reasoning_tokens", "total_thought_tokens", "output_tokens_details.thinking_tokens"),
)


def _count(raw: dict[str, object], names: tuple[str, ...]) -> int:
    """Return the first of these counts that a provider has sent."""
    for name in names:
        outer, dot, inner = name.partition(".")
        value: Any = raw.get(outer)
        if dot:
            value = cast("dict[str, object]", value).get(inner) if isinstance(value, dict) else None
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return 0


def tokens_of(step: Step) -> Tokens:
    """Return the known tokens of the message."""
    usage = step.state.usage
    tokens = Tokens(usage)
    if usage is not None:
        counts = (usage.input_tokens, usage.output_tokens, usage.total_tokens)
        if any(count is not None and count < 0 for count in counts):
            step.lose(None, "usage", "a count of tokens cannot be negative")
    return tokens

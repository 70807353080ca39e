"""OpenAI's chat completions, and the many providers with the same format.

The index of a tool call numbers the calls, if it is present; the fields of its deltas are passed on as they came.
Dialects of other providers:

- reasoning under `reasoning_content`, `reasoning` or `reasoning_text`: the name is the block of the part
- fields with a structure of their own (`chat_dialects`)
- more fields of a call, such as `extra_content` with Gemini's signature: they are native fields of the call
- usage in every chunk (Perplexity), in a choice (Moonshot) or under `x_groq`
- an empty finish reason, and errors in the middle of the stream
- chunks about content filters without choices, or with choices without a delta (Azure): they carry no content

A response that was not streamed has a `message` in place of the delta, and a legacy completion has a `text`. The
`stream()` helper of OpenAI's library wraps each chunk in an event, and repeats it in events of its own.

A stream has one chunk for every few characters, so chunks with nothing but text or arguments take a short way: they do
not repeat the id of the message, and a set of quiet names tells that no other field needs a look.
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from ..._missing import MISSING
from .._deltas import (
    Finish,
    Ignored,
    MessageData,
    MessageStart,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from .chat_dialects import DIALECT_FIELDS, add_content, add_dialects, add_reasoning, add_sources, native_fields
from .chunks import (
    block_text,
    call,
    failure,
    finish,
    get,
    index,
    is_record,
    items,
    leftovers,
    names,
    number,
    plain,
    says,
    sent,
    string,
)

if TYPE_CHECKING:
    from .._deltas import Block, Delta, FinishReason, Index

__all__ = ["deltas", "is_chunk"]

REASONS: Final[dict[str, FinishReason]] = {
    "stop": "stop",
    "end_turn": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "stop_sequence": "stop",
    "complete": "stop",
    "normal": "stop",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "tool_calls": "tool_calls",
    "tool_call": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",
    "safety": "content_filter",
    "recitation": "content_filter",
    "prohibited_content": "content_filter",
    "sensitive": "content_filter",
    "refusal": "refusal",
    "pause_turn": "paused",
    "abort": "cancelled",
    "aborted": "cancelled",
    "cancelled": "cancelled",
    "canceled": "cancelled",
    "error": "error",
    "insufficient_system_resource": "error",
    "malformed_function_call": "error",
    "network_error": "error",
    "timeout": "error",
}

# Names of fields. A chunk, choice or delta with quiet names alone takes the short way.
QUIET: Final = frozenset({
    *("id", "object", "created", "model", "choices", "usage", "obfuscation"),
    *("system_fingerprint", "service_tier", "provider"),
})  # fmt: skip
DETAILS: Final = ("system_fingerprint", "service_tier", "provider")
"""Fields of the message that come with every chunk. Chunks without text report them."""
MESSAGE_FIELDS: Final = frozenset({"prompt_filter_results", "related_questions", "timings", "moderation"})
READ: Final = frozenset({"type", "chunk", "error", "citations", "search_results"})
LEFT_OUT: Final = frozenset({"prompt_logprobs", "prompt_token_ids", "kv_transfer_params", "prefill_id"})

QUIET_CHOICE: Final = frozenset({"index", "delta", "finish_reason", "logprobs"})
CHOICE_FIELDS: Final = frozenset({"native_finish_reason", "stop_reason", "matched_stop", "seed"})
READ_BESIDE: Final = frozenset({"index", "delta", "finish_reason", "message", "text"})
CLEAN: Final[tuple[object, ...]] = (
    None,
    {"filtered": False, "severity": "safe"},
    {"filtered": False, "detected": False},
    {"filtered": False},
)
"""Results of Azure's filters that found nothing. They come with every chunk."""
LEFT_OUT_BESIDE: Final = frozenset({"content_filter_offsets", "token_ids", "logprobs"})

REASONING_NAMES: Final = ("reasoning_content", "reasoning", "reasoning_text")
REASONING_BLOCKS: Final[dict[str, Block]] = {name: (name,) for name in REASONING_NAMES}
PLAIN: Final = frozenset({"role", "content", "refusal", "tool_calls", "function_call", *REASONING_NAMES})
NOT_SENT: Final = frozenset({"channel", "token_id", "token_ids", "index", "obfuscation", "logprobs"})
READ_IN_DELTA: Final = PLAIN | DIALECT_FIELDS | NOT_SENT
ANY: Final = cast("dict[object, object]", dict.fromkeys((*READ_IN_DELTA, "")))

FUNCTION_CALL_FIELDS: Final = frozenset({"index", "id", "type", "function"})
CALL_FIELDS: Final = FUNCTION_CALL_FIELDS | {"custom"}
FUNCTION_FIELDS: Final = frozenset({"name", "arguments"})
CUSTOM_FIELDS: Final = frozenset({"name", "input"})
SIGNERS: Final = ("google", "vertex")
REPEATED: Final = ("content.", "refusal.", "tool_calls.", "logprobs.")
KINDS: Final = ("chat.completion", "text_completion")


def is_chunk(chunk: object) -> bool:
    """Tell whether this is a chunk of this format. A bare error counts too: this format is the most common."""
    if isinstance(get(chunk, "choices"), (list, tuple)) or is_record(get(chunk, "error")):
        return True
    kind = string(chunk, "type") or ""
    return (string(chunk, "object") or "").startswith(KINDS) or kind == "chunk" or kind.startswith(REPEATED)


def deltas(chunk: object) -> list[Delta]:
    """Return the deltas of the chunk."""
    found: list[Delta] = []
    is_quiet = _has_only(chunk, QUIET)
    if not is_quiet:
        kind = string(chunk, "type")
        if kind is not None:
            if kind.startswith(REPEATED):
                return found
            if kind == "chunk":
                chunk = get(chunk, "chunk")
    for choice in items(chunk, "choices"):
        _add_choice(found, chunk, choice)
    if not found or not isinstance(found[-1], (TextDelta, ReasoningDelta, ToolCallDelta)):
        for name in DETAILS:
            detail = string(chunk, name)
            if detail:
                found.append(MessageData(name, detail))
    counted = get(chunk, "usage")
    if counted is not None and counted is not MISSING and says(counted):
        _add_usage(found, counted)
    if not is_quiet:
        _add_rest(found, chunk, says(counted))
        found = _with_sources(found, chunk)
    return found if found or is_chunk(chunk) else [Ignored("chunk")]


def _with_sources(found: list[Delta], chunk: object) -> list[Delta]:
    """Return the deltas with the sources of the chunk before its text, so that they do not divide it."""
    sources: list[Delta] = []
    add_sources(sources, chunk)
    if not sources:
        return found
    starts = 0
    while starts < len(found) and isinstance(found[starts], MessageStart):
        starts += 1
    return found[:starts] + sources + found[starts:]


def _has_only(source: object, quiet: frozenset[str]) -> bool:
    """Tell whether the provider sent no other fields than these. Of some objects that is not known so cheaply."""
    came = sent(source)
    return came is not None and quiet.issuperset(came)


def _add_rest(found: list[Delta], chunk: object, is_counted: bool) -> None:
    """Add the fields of a chunk that are not in every chunk."""
    is_error = string(chunk, "object") == "error"
    is_known = is_error or is_chunk(chunk)
    for name in names(chunk):
        if name in QUIET or name in READ:
            continue
        if name == "x_groq":
            _add_groq(found, get(chunk, name), is_counted)
        elif name in MESSAGE_FIELDS:
            _add_message_data(found, chunk, name, 0)
        elif is_known and not is_error and says(get(chunk, name)):
            found.append(Ignored(name, name in LEFT_OUT))
    error = chunk if is_error else get(chunk, "error")
    if error is not None and error is not MISSING:
        found += failure(error)


def _add_groq(found: list[Delta], around: object, is_counted: bool) -> None:
    if not is_record(around):
        return
    if not is_counted:
        _add_usage(found, get(around, "usage"))
    rest = native_fields(found, around, ("usage", "error"))
    if rest:
        found.append(MessageData("x_groq", rest))
    found += failure(get(around, "error"))


def _add_message_data(found: list[Delta], source: object, name: str, at: int) -> None:
    value = get(source, name)
    if says(value):
        copy = plain(value)
        found.append(Ignored(name) if copy is MISSING else MessageData(name, copy, at))


# ---- choices -----------------------------------------------------------------------------------------


def _add_choice(found: list[Delta], chunk: object, choice: object) -> None:
    if not is_record(choice):
        found.append(Ignored("choices"))
        return
    at = number(choice, "index") or 0
    begin = len(found)
    is_quiet = _has_only(choice, QUIET_CHOICE)
    message = get(choice, "delta")
    is_whole = not is_quiet and is_record(get(choice, "message")) and _is_whole_body(chunk, message)
    is_repeated = is_whole and is_record(message)
    if is_whole:
        message = get(choice, "message")
    role: str | None = None
    if is_record(message):
        role = string(message, "role")
        if role:
            found.append(MessageStart(role, string(chunk, "id") or None, string(chunk, "model") or None, at))
        _add_delta(found, message, at, is_whole)
        if is_repeated:  # the text may be that of the deltas before
            for place in range(begin, len(found)):
                each = found[place]
                if isinstance(each, TextDelta):
                    found[place] = TextDelta(each.text, (), True, at)
    elif says(message):
        found.append(Ignored("delta"))
    elif not is_quiet:
        found += block_text(TextDelta, choice, "text", choice=at)
    if get(choice, "finish_reason") is not None:
        found += finish(choice, "finish_reason", REASONS, at)
    if not role and (len(found) == begin or isinstance(found[-1], Finish) or is_whole):
        named, model = string(chunk, "id") or None, string(chunk, "model") or None
        if named is not None or model is not None:
            found.insert(begin, MessageStart(None, named, model, at))
    if not is_quiet:
        _add_beside(found, choice, at)


def _is_whole_body(chunk: object, delta: object) -> bool:
    """Tell whether the message of a choice counts: some servers add a delta to it that has no text."""
    if not is_record(delta):
        return True
    is_body = string(chunk, "object") == "chat.completion"
    return is_body and not says(get(delta, "content")) and not says(get(delta, "tool_calls"))


def _add_beside(found: list[Delta], choice: object, at: int) -> None:
    """Add the fields of a choice that are not in every chunk."""
    for name in names(choice):
        if name in READ_BESIDE:
            continue
        value = get(choice, name)
        if value is None or value is MISSING:
            continue
        if name == "content_filter_results":
            if _has_filtered(value):
                _add_message_data(found, choice, name, at)
        elif name == "usage":
            _add_usage(found, value)
        elif name == "error":
            found += failure(value)
        elif name in CHOICE_FIELDS:
            _add_message_data(found, choice, name, at)
        elif says(value):
            found.append(Ignored(name, name in LEFT_OUT_BESIDE))


def _has_filtered(results: object) -> bool:
    """Tell whether one of Azure's filters has found anything."""
    for name in names(results):
        result = get(results, name)
        if (result if type(result) is dict else plain(result)) not in CLEAN:
            return True
    return False


def _add_delta(found: list[Delta], delta: object, at: int, is_whole: bool) -> None:
    came = _fields(delta)
    if len(came) == 1:  # mostly; there is one delta for every few characters
        content = came.get("content", MISSING)
        if type(content) is str:
            if content:
                found.append(TextDelta(content, (), False, at))
            return
        if "tool_calls" in came and not is_whole:
            for tool_call in items(delta, "tool_calls"):
                _add_call(found, tool_call, at, MISSING)
            return
    is_plain = PLAIN.issuperset(cast("dict[str, object]", came))
    carried = "" if is_plain else add_reasoning(found, delta, at)
    for name in REASONING_NAMES:
        if name in came:
            text = string(delta, name)
            if text is None:
                found += block_text(ReasoningDelta, delta, name, choice=at)
            elif text and text != carried and (name == REASONING_NAMES[0] or not _repeats(delta, name, text)):
                found.append(ReasoningDelta(text, REASONING_BLOCKS[name], False, at))
    if "content" in came:
        content = get(delta, "content")
        if isinstance(content, (list, tuple)):
            add_content(found, items(delta, "content"), at)
        else:
            found += block_text(TextDelta, delta, "content", choice=at)
    if "refusal" in came:
        found += block_text(RefusalDelta, delta, "refusal", choice=at)
    if "tool_calls" in came:
        for number_of, tool_call in enumerate(items(delta, "tool_calls")):
            _add_call(found, tool_call, at, number_of if is_whole else MISSING)
    if "function_call" in came:
        found += _function(get(delta, "function_call"), "function_call", at)
    if not is_plain:
        add_dialects(found, delta, at)
        found += leftovers(delta, READ_IN_DELTA, ())


def _fields(delta: object) -> dict[object, object]:
    """Return the fields that were sent, by name. Any field may be present in an object that does not tell."""
    if type(delta) is dict:
        return cast("dict[object, object]", delta)
    came = sent(delta)
    return ANY if came is None else cast("dict[object, object]", dict.fromkeys(came))


def _repeats(delta: object, name: str, text: str) -> bool:
    """Tell whether the delta has the same reasoning under a name that comes first."""
    for other in REASONING_NAMES:
        if other == name:
            break
        if string(delta, other) == text:
            return True
    return False


# ---- calls -------------------------------------------------------------------------------------------


def _add_call(found: list[Delta], tool_call: object, at: int, known_place: Index) -> None:
    """Add a call. Its place is known if it is in a whole message, which has no indexes."""
    if not is_record(tool_call):
        found.append(Ignored("tool_calls"))
        return
    place, named = index(tool_call, "index"), string(tool_call, "id")
    if place is MISSING:
        place = known_place
    function = get(tool_call, "function")
    if _has_only(tool_call, FUNCTION_CALL_FIELDS) and _has_only(function, FUNCTION_FIELDS):
        arguments = get(function, "arguments")
        if type(arguments) is str:  # mostly; there is one delta for every few characters
            found.append(ToolCallDelta(place, named, string(function, "name"), arguments, "function", False, False, at))
            return
    custom = get(tool_call, "custom")
    is_custom = is_record(custom)
    body = custom if is_custom else function
    made: list[Delta]
    if is_custom:
        made = call(custom, "input", index=place, id=named, tool=string(custom, "name"), kind="custom", choice=at)
    else:
        made = _function(function, "function", at, place, named)
        if not is_record(function):
            made = [ToolCallDelta(place, named, choice=at), *made]
    native = native_fields(found, tool_call, CALL_FIELDS)
    inner = native_fields(found, body, CUSTOM_FIELDS if is_custom else FUNCTION_FIELDS)
    if inner:
        native["custom" if is_custom else "function"] = inner
    if native:
        made[0] = _with_native(cast("ToolCallDelta", made[0]), _signature(tool_call), native)
    found += made


def _with_native(delta: ToolCallDelta, signature: str | None, native: dict[str, object]) -> ToolCallDelta:
    return ToolCallDelta(
        delta.index,
        delta.id,
        delta.name,
        delta.arguments,
        delta.kind,
        delta.is_done,
        delta.counts_blocks,
        delta.choice,
        signature,
        native,
    )


def _signature(tool_call: object) -> str | None:
    """Return the signature that Gemini puts on a call."""
    extra = get(tool_call, "extra_content")
    for signer in SIGNERS:
        signature = string(get(extra, signer), "thought_signature")
        if signature:
            return signature
    return string(get(tool_call, "provider_specific_fields"), "thought_signature") or None


def _function(function: object, name: str, at: int, place: Index = MISSING, id: str | None = None) -> list[Delta]:
    if is_record(function):
        tool = string(function, "name")
        return call(function, "arguments", index=place, id=id, tool=tool, kind="function", choice=at)
    return [Ignored(name)] if says(function) else []


# ---- usage -------------------------------------------------------------------------------------------


def _add_usage(found: list[Delta], source: object) -> None:
    read, written = number(source, "prompt_tokens"), number(source, "completion_tokens")
    total = number(source, "total_tokens")
    if read is None and written is None and total is None:
        return
    if read is not None and written is not None and total is not None and total > read + written:
        thought = number(get(source, "completion_tokens_details"), "reasoning_tokens")
        if thought is not None and read + written + thought == total:
            written = total - read  # xAI counts reasoning beside the completion, the others as a part of it
    raw = plain(source)
    found.append(Usage(read, written, total, cast("dict[str, object]", raw) if isinstance(raw, dict) else None))

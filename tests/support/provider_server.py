"""Servers on this machine that answer like providers in a tool loop, and check the second request like they do.

The first request gets a turn with thoughts and two parallel calls. The second one must bring that turn back, with what
the provider wants unchanged, and a result for each call: then the server streams the final text. Otherwise it answers
with the status and the words of the provider. A request is a second one if its conversation has an assistant's turn.
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tests.support.replay import Answer, Payload, Replay, Script, answer, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

CITIES: Final = {"Suva": "rain", "Nadi": "sun"}
"""What the tool knows."""
THOUGHT: Final = "Two cities 😀, so two calls."
FINAL: Final = "Rain in Suva, sun in Nadi."
LAST: Final = Script(("Rain in Suva", ", sun in Nadi."))
SIGNATURE: Final = "EqQBCkgIARABGAIiQL+/8J+YgA=="
NAME: Final = "weather"


class RefusedError(Exception):
    """The words of a provider that refuses a request, and the status that goes with them."""

    def __init__(self, words: str, status: int = 400) -> None:
        super().__init__(words)
        self.words = words
        self.status = status


@dataclass(frozen=True)
class Provider:
    """A provider: the turn that it streams first, its check of the request that follows, and its way to refuse."""

    format: str
    turn: list[Payload]
    """The first turn, as the next request has to hold it."""
    results: list[Payload]
    """The results of the calls, as one way to write them."""
    first: list[Payload]
    history: str
    """The member of a request that holds the conversation."""
    check: Callable[[list[Payload]], None]
    refuse: Callable[[str, int], Payload]

    def answer(self, body: Payload) -> Answer:
        """The answer to a request."""
        entries: list[Payload] = body[self.history]
        if not any(is_of_the_model(entry) for entry in entries):
            return answer(self.format, self.first)
        try:
            self.check(entries)
        except RefusedError as error:
            return refusal(error.status, json.dumps(self.refuse(error.words, error.status)).encode())
        return answer(self.format, LAST.write(self.format))


class ProviderServer(Replay):
    """Serves a provider for this number of requests, and then stops: ``with ProviderServer(provider) as server``."""

    def __init__(self, provider: Provider, requests: int = 2) -> None:
        super().__init__(*[Answer(())] * requests)
        self.provider: Final = provider

    def next_answer(self) -> Answer:
        super().next_answer()
        return self.provider.answer(json.loads(self.requests[-1]))


def is_of_the_model(entry: Payload) -> bool:
    """Whether an entry of a conversation is one that the model wrote."""
    return entry.get("role") in ("assistant", "model") or entry.get("type") in ("reasoning", "function_call")


def turn_in(entries: list[Payload]) -> tuple[int, list[Payload], list[Payload]]:
    """The place of the model's turn in a conversation, its entries, and the entries after it."""
    at = next(at for at, entry in enumerate(entries) if is_of_the_model(entry))
    end = next((at for at, entry in enumerate(entries[at:], at) if not is_of_the_model(entry)), len(entries))
    return at, entries[at:end], entries[end:]


def halves(text: str) -> tuple[str, str]:
    """A text in two pieces."""
    return text[: len(text) // 2], text[len(text) // 2 :]


def arguments(city: str) -> str:
    return json.dumps({"city": city})


# Anthropic

ANTHROPIC_CONTENT: Final[list[Payload]] = [
    {"type": "thinking", "thinking": THOUGHT, "signature": SIGNATURE},
    {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3p"},
    {"type": "text", "text": "Let me see."},
    {"type": "tool_use", "id": "toolu_1", "name": NAME, "input": {"city": "Suva"}},
    {"type": "tool_use", "id": "toolu_2", "name": NAME, "input": {"city": "Nadi"}},
]
THINKING: Final = ("thinking", "redacted_thinking")


def anthropic_stream() -> list[Payload]:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    start = {**message, "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 11, "output_tokens": 1}}
    events: list[Payload] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(ANTHROPIC_CONTENT):
        empty, deltas = _anthropic_block(block)
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": "tool_use", "stop_sequence": None}
    return [*events, {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5}}, {"type": "message_stop"}]


def _anthropic_block(block: Payload) -> tuple[Payload, list[Payload]]:
    """A block as it starts, and its deltas."""
    match block:
        case {"type": "thinking", "thinking": text, "signature": signature}:
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in halves(text)]
            return {**block, "thinking": "", "signature": ""}, [
                *deltas,
                {"type": "signature_delta", "signature": signature},
            ]
        case {"type": "text", "text": text}:
            return {**block, "text": ""}, [{"type": "text_delta", "text": piece} for piece in halves(text)]
        case {"type": "tool_use", "input": given}:
            pieces = halves(json.dumps(given))
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return block, []


def check_anthropic(entries: list[Payload]) -> None:
    at, (turn, *more), behind = turn_in(entries)
    content = turn["content"]
    if more or not isinstance(content, list):
        raise RefusedError("messages: roles must alternate between `user` and `assistant`")
    for number, block in enumerate(content):
        _check_anthropic_block(f"messages.{at}.content.{number}", block)
    if content[0]["type"] not in THINKING:
        raise RefusedError(
            f"messages.{at}.content.0.type: Expected `thinking` or `redacted_thinking`, "
            f"but found `{content[0]['type']}`. When `thinking` is enabled, a final `assistant` message must start "
            "with a thinking block"
        )
    given = [block for block in ANTHROPIC_CONTENT if block["type"] in THINKING]
    if [block for block in content if block["type"] in THINKING] != given or content[: len(given)] != given:
        raise RefusedError(
            f"messages.{at}.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot "
            "be modified. These blocks must remain as they were in the original response."
        )
    calls = [block["id"] for block in content if block["type"] == "tool_use"]
    blocks: list[Payload] = behind[0]["content"] if behind else []
    results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    if missing := [call for call in calls if call not in results]:
        raise RefusedError(
            f"messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
            "message."
        )
    if extra := [result for result in results if result not in calls]:
        raise RefusedError(
            f"messages.{at + 1}.content.0: unexpected `tool_use_id` found in `tool_result` blocks: {', '.join(extra)}"
        )


def _check_anthropic_block(place: str, block: Payload) -> None:
    match block:
        case {"type": "thinking"} if "signature" not in block:
            raise RefusedError(f"{place}.thinking.signature: Field required")
        case {"type": "thinking", "signature": signature} if signature != SIGNATURE:
            raise RefusedError(f"{place}: Invalid `signature` in `thinking` block")
        case {"type": "text", "text": ""}:
            raise RefusedError("messages: text content blocks must be non-empty")
        case {"type": "tool_use", "input": given} if not isinstance(given, dict):
            raise RefusedError(f"{place}.tool_use.input: Input should be a valid dictionary")


def refuse_like_anthropic(words: str, status: int) -> Payload:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": words}, "request_id": "req_1"}


ANTHROPIC: Final = Provider(
    "anthropic",
    [{"role": "assistant", "content": ANTHROPIC_CONTENT}],
    [
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "rain"},
                {"type": "tool_result", "tool_use_id": "toolu_2", "content": "sun"},
            ],
        }
    ],
    anthropic_stream(),
    "messages",
    check_anthropic,
    refuse_like_anthropic,
)


# OpenAI Responses

ENCRYPTED: Final = ("gAAAAABo_done==", "gAAAAABo_completed==")
"""The last event encrypts the reasoning again; the provider takes both."""
RESPONSES_ITEMS: Final[list[Payload]] = [
    {
        "id": "rs_1",
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": THOUGHT}],
        "encrypted_content": ENCRYPTED[1],
    },
    *(
        {
            "id": f"fc_{number}",
            "type": "function_call",
            "status": "completed",
            "call_id": f"call_{number}",
            "name": NAME,
            "arguments": arguments(city),
        }
        for number, city in enumerate(CITIES, 1)
    ),
]


def responses_stream() -> list[Payload]:
    events: list[Payload] = []

    def add(kind: str, **more: Any) -> None:
        events.append({"type": f"response.{kind}", "sequence_number": len(events), **more})

    fixed = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "tools": [], "tool_choice": "auto"}
    response: Payload = {**fixed, "parallel_tool_calls": True, "status": "in_progress", "output": []}
    add("created", response=response)
    reasoning, *calls = RESPONSES_ITEMS
    add("output_item.added", output_index=0, item={**reasoning, "summary": [], "encrypted_content": ENCRYPTED[0]})
    place = {"item_id": reasoning["id"], "output_index": 0, "summary_index": 0}
    add("reasoning_summary_part.added", **place, part={"type": "summary_text", "text": ""})
    for piece in halves(THOUGHT):
        add("reasoning_summary_text.delta", **place, delta=piece)
    add("reasoning_summary_text.done", **place, text=THOUGHT)
    add("reasoning_summary_part.done", **place, part=reasoning["summary"][0])
    add("output_item.done", output_index=0, item={**reasoning, "encrypted_content": ENCRYPTED[0]})
    for index, call in enumerate(calls, 1):
        add("output_item.added", output_index=index, item={**call, "status": "in_progress", "arguments": ""})
        for piece in halves(call["arguments"]):
            add("function_call_arguments.delta", item_id=call["id"], output_index=index, delta=piece)
        done = {"item_id": call["id"], "output_index": index, "name": NAME, "arguments": call["arguments"]}
        add("function_call_arguments.done", **done)
        add("output_item.done", output_index=index, item=call)
    usage = {"input_tokens": 11, "output_tokens": 5, "total_tokens": 16}
    add("completed", response={**response, "status": "completed", "output": RESPONSES_ITEMS, "usage": usage})
    return events


def check_responses(entries: list[Payload]) -> None:
    _, turn, behind = turn_in(entries)
    reasoning = [item for item in turn if item["type"] == "reasoning"]
    calls = [item for item in turn if item["type"] == "function_call"]
    for item in reasoning:
        if not item.get("encrypted_content"):
            raise RefusedError(
                f"Item with id '{item['id']}' not found. Items are not persisted when `store` is set to false. Try "
                "again with `store` set to true, or remove this item from your input.",
                404,
            )
        if item["encrypted_content"] not in ENCRYPTED:
            raise RefusedError(f"The encrypted content for item {item['id']} could not be verified.")
    if reasoning and turn[-1]["type"] == "reasoning":
        raise RefusedError(
            f"Item '{reasoning[-1]['id']}' of type 'reasoning' was provided without its required following item."
        )
    if calls and turn[0] not in reasoning:
        raise RefusedError(
            f"Item '{turn[0].get('id')}' of type 'function_call' was provided without its required 'reasoning' item: "
            "'rs_1'."
        )
    outputs = [item["call_id"] for item in behind if item.get("type") == "function_call_output"]
    for item in calls:
        if item["call_id"] not in outputs:
            raise RefusedError(f"No tool output found for function call {item['call_id']}.")
    for call in outputs:
        if call not in [item["call_id"] for item in calls]:
            raise RefusedError(f"No tool call found for function call output with call_id {call}.")


def refuse_like_openai(words: str, status: int) -> Payload:
    return {"error": {"message": words, "type": "invalid_request_error", "param": "input", "code": None}}


RESPONSES: Final = Provider(
    "openai-responses",
    RESPONSES_ITEMS,
    [
        {"type": "function_call_output", "call_id": "call_1", "output": "rain"},
        {"type": "function_call_output", "call_id": "call_2", "output": "sun"},
    ],
    responses_stream(),
    "input",
    check_responses,
    refuse_like_openai,
)


# OpenAI chat completions, with the accent of DeepSeek

CHAT_MESSAGE: Final[Payload] = {
    "role": "assistant",
    "content": None,
    "reasoning_content": THOUGHT,
    "tool_calls": [
        {"id": f"call_{number}", "type": "function", "function": {"name": NAME, "arguments": arguments(city)}}
        for number, city in enumerate(CITIES, 1)
    ],
}


def chat_stream() -> list[Payload]:
    def chunk(delta: Payload, reason: str | None = None) -> Payload:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}

    chunks = [chunk({"role": "assistant", "content": None, "reasoning_content": ""})]
    chunks += [chunk({"content": None, "reasoning_content": piece}) for piece in halves(THOUGHT)]
    for index, call in enumerate(CHAT_MESSAGE["tool_calls"]):
        function = {**call["function"], "arguments": ""}
        chunks.append(chunk({"tool_calls": [{**call, "index": index, "function": function}]}))
        for piece in halves(call["function"]["arguments"]):
            chunks.append(chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}))
    return [*chunks, chunk({"content": ""}, "tool_calls")]


def check_chat(entries: list[Payload]) -> None:
    at, (message, *_), behind = turn_in(entries)
    if message.get("reasoning_content") != THOUGHT:
        raise RefusedError(f"Missing `reasoning_content` field in the assistant message at message index {at}.")
    results = [entry["tool_call_id"] for entry in behind if entry["role"] == "tool"]
    if missing := [call["id"] for call in message["tool_calls"] if call["id"] not in results]:
        raise RefusedError(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(missing)}"
        )
    for call in message["tool_calls"]:
        if not isinstance(call["function"]["arguments"], str):
            raise RefusedError(f"messages[{at}].tool_calls[0].function.arguments: expected a string")


CHAT: Final = Provider(
    "openai-chat",
    [CHAT_MESSAGE],
    [
        {"role": "tool", "tool_call_id": "call_1", "content": "rain"},
        {"role": "tool", "tool_call_id": "call_2", "content": "sun"},
    ],
    chat_stream(),
    "messages",
    check_chat,
    refuse_like_openai,
)


# Gemini

GEMINI_PARTS: Final[list[Payload]] = [
    {"text": THOUGHT, "thought": True},
    {
        "functionCall": {"id": "fc_1", "name": NAME, "args": {"city": "Suva"}},
        "thoughtSignature": SIGNATURE,
    },
    {"functionCall": {"id": "fc_2", "name": NAME, "args": {"city": "Nadi"}}},
]


def gemini_stream() -> list[Payload]:
    thoughts = [{"text": piece, "thought": True} for piece in halves(THOUGHT)]
    parts = [*thoughts, *GEMINI_PARTS[1:]]
    chunks: list[Payload] = []
    for at, part in enumerate(parts, 1):
        candidate: Payload = {"index": 0, "content": {"role": "model", "parts": [part]}}
        if at == len(parts):
            candidate["finishReason"] = "STOP"
        usage = {"promptTokenCount": 11, "candidatesTokenCount": 5, "totalTokenCount": 16}
        chunks.append({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m", "responseId": "g1"})
    return chunks


def check_gemini(entries: list[Payload]) -> None:
    at, turn, behind = turn_in(entries)
    calls = [part for entry in turn for part in entry["parts"] if "functionCall" in part]
    if calls and not calls[0].get("thoughtSignature"):
        raise RefusedError(
            "Function call is missing a thought_signature in functionCall parts. This is required for tools to work "
            "correctly, and missing thought_signature may lead to degraded model performance. Additional data, "
            f"function call `default_api:{calls[0]['functionCall']['name']}` , position {at + 1}."
        )
    if any(decoded(part["thoughtSignature"]) != decoded(SIGNATURE) for part in calls[:1]):
        raise RefusedError("Thought signature is not valid")
    if any("partialArgs" in part["functionCall"] or "willContinue" in part["functionCall"] for part in calls):
        raise RefusedError("Invalid JSON payload received. Unknown name: Cannot find field.")
    responses = [part for entry in behind for part in entry["parts"] if "functionResponse" in part]
    if len(responses) != len(calls):
        raise RefusedError(
            "Please ensure that the number of function response parts is equal to the number of function call parts "
            "of the function call turn."
        )
    for part in responses:
        if part["functionResponse"].get("name") != NAME or not isinstance(part["functionResponse"]["response"], dict):
            raise RefusedError(
                "GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty."
            )


def decoded(signature: str) -> bytes:
    """The bytes of a signature, in either alphabet of base64; none where it is not base64."""
    standard = signature.translate(str.maketrans("-_", "+/")).rstrip("=")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except binascii.Error:
        return b""


def refuse_like_google(words: str, status: int) -> Payload:
    return {"error": {"code": status, "message": words, "status": "INVALID_ARGUMENT"}}


GEMINI: Final = Provider(
    "gemini",
    [{"role": "model", "parts": GEMINI_PARTS}],
    [
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "fc_1", "name": NAME, "response": {"result": "rain"}}},
                {"functionResponse": {"id": "fc_2", "name": NAME, "response": {"result": "sun"}}},
            ],
        }
    ],
    gemini_stream(),
    "contents",
    check_gemini,
    refuse_like_google,
)

PROVIDERS: Final = {provider.format: provider for provider in (ANTHROPIC, RESPONSES, CHAT, GEMINI)}
QUESTIONS: Final[dict[str, Payload]] = {
    **{name: {"role": "user", "content": "How is the weather?"} for name in PROVIDERS},
    "gemini": {"role": "user", "parts": [{"text": "How is the weather?"}]},
}
"""The first entry of a conversation, by wire format."""

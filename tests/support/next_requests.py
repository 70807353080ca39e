"""The assistant's turn of the next request, as the vendor's own client sends it. It shares no code with the library.

`next_turn(format, chunks)` gives the entries that a conversation gains by one streamed message: messages, items,
contents or steps. There are two kinds of oracle:

- The real client, on a transport that never leaves the process: it reads the stream, and what it then sends as the next
  request is the turn (Anthropic, OpenAI Responses, Gemini).
- A plain reading of the chunks, written from the wire format, whose result the vendor's client or types must accept
  (OpenAI chat, Gemini Interactions, Bedrock, Cohere, Ollama). Those clients have no accumulator, or one that changes
  what it reads.

`CannotSendError` is raised where a client refuses its own history. `same_turn` compares two turns, and `DIFFERENCES`
names all that it forgives.
"""

from __future__ import annotations

import base64
import copy
import json
import warnings
from typing import TYPE_CHECKING, Any, Final

from tests.support import readings
from tests.support.replay import answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Payload = dict[str, Any]

ASKED: Final[Any] = {"role": "user", "content": "Where?"}
STARTS: Final = {"anthropic": "message_start", "openai-responses": "response.created"}
"""The event that begins a message. A recording in another format holds one message."""


class CannotSendError(Exception):
    """The client of the vendor cannot read the stream, or refuses to send what it read."""


def messages_in(format: str, chunks: Sequence[Payload]) -> list[list[Payload]]:
    """The chunks of each message in a recording."""
    kind = STARTS.get(format)
    return [list(chunks)] if kind is None else readings.split(list(chunks), kind)


def next_turn(format: str, chunks: Sequence[Payload]) -> list[Payload]:
    """The turn that a conversation gains by this message."""
    return TURNS[format](list(chunks))


# The real clients


class Transport:
    """Answers the first request with a recorded stream, and keeps the body of the second."""

    def __init__(self, library: Any, format: str, chunks: Iterable[Payload]) -> None:
        self.library = library
        self.stream = b"".join(answer(format, chunks).frames)
        self.bodies: list[Payload] = []

    def respond(self, request: Any) -> Any:
        self.bodies.append(json.loads(request.read()))
        body = self.stream if len(self.bodies) == 1 else b""
        return self.library.Response(200, headers={"content-type": "text/event-stream"}, content=body)

    def client(self) -> Any:
        return self.library.Client(transport=self.library.MockTransport(self.respond))


def anthropic(chunks: list[Payload]) -> list[Payload]:
    """Read with the beta helper: the accumulator of `messages.stream` loses the input of MCP calls."""
    import httpx2
    from anthropic import Anthropic

    transport = Transport(httpx2, "anthropic", chunks)
    with Anthropic(api_key="test", base_url="http://test", http_client=transport.client(), max_retries=0) as client:
        asking: dict[str, Any] = {"model": "m", "max_tokens": 1}
        try:
            with client.beta.messages.stream(**asking, messages=[ASKED]) as stream:
                content = stream.get_final_message().content
            turn: Any = {"role": "assistant", "content": content}
            following: Any = client.beta.messages.create(**asking, messages=[ASKED, turn], stream=True)
            following.close()
        except (ValueError, TypeError, AttributeError, RuntimeError, IndexError) as error:
            raise CannotSendError(f"{type(error).__name__}: {error}") from error
    return [transport.bodies[1]["messages"][1]]


ENDS: Final = ("response.completed", "response.incomplete", "response.failed")


def openai_responses(chunks: list[Payload]) -> list[Payload]:
    """The output of the last event, which holds the whole response."""
    import httpx2
    from openai import OpenAI

    transport = Transport(httpx2, "openai-responses", chunks)
    with OpenAI(api_key="test", base_url="http://test", http_client=transport.client(), max_retries=0) as client:
        asked: list[Any] = [ASKED]
        ends = [event for event in client.responses.create(model="m", input=asked, stream=True) if event.type in ENDS]
        if not ends:
            raise CannotSendError("the stream has no event that ends it")
        last: Any = ends[-1]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns about items that its types do not know
            client.responses.create(model="m", input=[*asked, *last.response.output], stream=True).close()
    return list(transport.bodies[1]["input"][1:])


def gemini(chunks: list[Payload]) -> list[Payload]:
    """The history of a chat. The client sends one content per chunk; here they are one."""
    import httpx
    from google.genai import Client
    from google.genai.errors import UnknownApiResponseError
    from google.genai.types import HttpOptions

    transport = Transport(httpx, "gemini", chunks)
    options = HttpOptions(base_url="http://test", httpx_client=transport.client())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own types
        client = Client(api_key="test", vertexai=False, http_options=options)
        chat = client.chats.create(model="m")
        try:
            for _ in chat.send_message_stream("Where?"):
                pass
            for _ in chat.send_message_stream("And then?"):
                pass
        except (ValueError, TypeError, UnknownApiResponseError) as error:
            raise CannotSendError(f"{type(error).__name__}: {error}") from error
        finally:
            client.close()
    contents = transport.bodies[1]["contents"]
    parts = [part for content in contents if content["role"] == "model" for part in content["parts"]]
    if not parts:
        raise CannotSendError("the client leaves the turn out of its history")
    return [{"role": "model", "parts": parts}]


# Plain readings, accepted by the vendor's types


def openai_chat(chunks: list[Payload]) -> list[Payload]:
    """One message: the deltas of the first choice, each field under its own name."""
    message = _chat_message(chunks)
    if not isinstance(message["content"], list):  # lists are an accent of Mistral, which the types do not have
        from openai.types.chat import ChatCompletionAssistantMessageParam

        _validate(ChatCompletionAssistantMessageParam, message)
    return [message]


# Fields of the accents of chat completions, which go back as they came: texts that grow.
GROWING: Final = ("reasoning_content", "reasoning", "refusal")
# What grows in an entry of `reasoning_details`.
DETAILS: Final = ("text", "summary", "data")


def _chat_message(chunks: list[Payload]) -> Payload:
    content: list[Payload] = []
    texts: dict[str, str] = {}
    details: dict[Any, Payload] = {}
    calls: dict[Any, Payload] = {}
    deltas = [choice.get("delta") or {} for chunk in chunks for choice in chunk.get("choices") or []]
    for delta in deltas:
        said = delta.get("content") or []
        for piece in [{"type": "text", "text": said}] if isinstance(said, str) else said:
            _add_content(content, piece)
        for name in GROWING:
            if isinstance(delta.get(name), str):
                texts[name] = texts.get(name, "") + delta[name]
        for detail in delta.get("reasoning_details") or []:
            _add_detail(details.setdefault((detail["index"], detail["type"]), {}), detail)
        for piece in delta.get("tool_calls") or []:
            _add_call(calls, piece)
    is_text = all(piece["type"] == "text" for piece in content)
    told = "".join(piece["text"] for piece in content) if is_text else content
    message: Payload = {
        "role": "assistant",
        "content": told or None,
        **{name: text for name, text in texts.items() if text},
    }
    if details:
        message["reasoning_details"] = [*details.values()]
    if calls:
        message["tool_calls"] = [*calls.values()]
    return message


def _add_content(content: list[Payload], piece: Payload) -> None:
    """Join what is of one kind: text with text, thoughts with thoughts."""
    if not content or content[-1]["type"] != piece["type"]:
        content.append(copy.deepcopy(piece))
    elif piece["type"] == "text":
        content[-1]["text"] += piece["text"]
    else:
        content[-1]["thinking"][-1]["text"] += "".join(thought["text"] for thought in piece["thinking"])


def _add_detail(detail: Payload, piece: Payload) -> None:
    for name, value in piece.items():
        detail[name] = detail.get(name, "") + value if name in DETAILS and value is not None else value


def _add_call(calls: dict[Any, Payload], piece: Payload) -> None:
    """Add a piece to the call with its index; a piece without one is a call. Repeated ids and names are the same."""
    call = calls.setdefault(piece.get("index", len(calls)), {"type": "function", "function": {"arguments": ""}})
    function = piece.get("function") or {}
    call["function"]["arguments"] += function.get("arguments") or ""
    if function.get("name"):
        call["function"]["name"] = function["name"]
    for name, value in piece.items():
        if name not in ("index", "function") and value:
            call[name] = value


def chat_of_the_client(chunks: list[Payload]) -> Payload:
    """The message that `ChatCompletionStreamState` accumulates. It adds up ids, names and roles that are repeated."""
    import httpx2
    from openai import OpenAI
    from openai.lib.streaming.chat import ChatCompletionStreamState

    transport = Transport(httpx2, "openai-chat", chunks)
    with OpenAI(api_key="test", base_url="http://test", http_client=transport.client(), max_retries=0) as client:
        state: Any = ChatCompletionStreamState()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its own types
            for chunk in client.chat.completions.create(model="m", messages=[ASKED], stream=True):
                state.handle_chunk(chunk)
            message = state.get_final_completion().choices[0].message
            asked: Any = [ASKED, message]
            client.chat.completions.create(model="m", messages=asked, stream=True).close()
    sent: Payload = transport.bodies[1]["messages"][1]
    return sent


def bedrock_converse(chunks: list[Payload]) -> list[Payload]:
    """The content blocks. Blank text is left out, since the service refuses it."""
    blocks: dict[int, Payload] = {}
    texts: dict[int, str] = {}
    for chunk in chunks:
        match chunk:
            case {"contentBlockStart": {"contentBlockIndex": at, "start": {"toolUse": start}}}:
                blocks[at], texts[at] = {"toolUse": dict(start)}, ""
            case {"contentBlockStart": {"contentBlockIndex": at, "start": {"toolResult": start}}}:
                blocks[at] = {"toolResult": {**start, "content": []}}
            case {"contentBlockDelta": {"contentBlockIndex": at, "delta": {"toolUse": {"input": piece}}}}:
                texts[at] += piece
            case {"contentBlockDelta": {"contentBlockIndex": at, "delta": {"toolResult": pieces}}}:
                blocks[at]["toolResult"]["content"] += pieces
            case {"contentBlockDelta": {"contentBlockIndex": at, "delta": {"text": piece}}}:
                blocks.setdefault(at, {"text": ""})["text"] += piece
            case {"contentBlockDelta": {"contentBlockIndex": at, "delta": {"reasoningContent": thought}}}:
                _add_thought(blocks.setdefault(at, {"reasoningContent": {}})["reasoningContent"], thought)
    for at, text in texts.items():
        blocks[at]["toolUse"]["input"] = json.loads(text or "{}")
    content = [block for block in blocks.values() if block.get("text", "some").strip()]
    turn = [{"role": "assistant", "content": content}]
    _validate_for_aws(turn)
    return turn


def _add_thought(block: Payload, thought: Payload) -> None:
    match thought:
        case {"text": piece}:
            told = block.setdefault("reasoningText", {"text": ""})
            told["text"] += piece
        case {"signature": signature}:
            block.setdefault("reasoningText", {"text": ""})["signature"] = signature
        case {"redactedContent": data}:
            block["redactedContent"] = data


def _validate_for_aws(turn: list[Payload]) -> None:
    import botocore.session
    from botocore.validate import ParamValidator

    model = botocore.session.Session().get_service_model("bedrock-runtime")
    shape = model.operation_model("Converse").input_shape
    report = ParamValidator().validate({"modelId": "m", "messages": turn}, shape)
    assert not report.has_errors(), report.generate_report()


def gemini_interactions(chunks: list[Payload]) -> list[Payload]:
    """The steps, with the deltas that each of them got."""
    steps: dict[int, Payload] = {}
    arguments: dict[int, str] = {}
    for chunk in chunks:
        match chunk:
            case {"event_type": "step.start", "index": at, "step": step}:
                steps[at] = copy.deepcopy(step)
            case {"event_type": "step.delta", "index": at, "delta": {"type": "text", "text": piece}}:
                _add_content(steps[at].setdefault("content", []), {"type": "text", "text": piece})
            case {"event_type": "step.delta", "index": at, "delta": {"type": "thought_signature", "signature": it}}:
                steps[at]["signature"] = it
            case {"event_type": "step.delta", "index": at, "delta": {"type": "thought_summary", "content": it}}:
                steps[at].setdefault("summary", []).append(it)
            case {"event_type": "step.delta", "index": at, "delta": {"type": "arguments_delta", "arguments": piece}}:
                arguments[at] = arguments.get(at, "") + piece
    for at, text in arguments.items():
        steps[at]["arguments"] = json.loads(text)
    return _through_interactions([*steps.values()])


def _through_interactions(steps: list[Payload]) -> list[Payload]:
    """The steps in the body that the client sends; it validates them on the way."""
    import httpx
    from google.genai import Client
    from google.genai.types import HttpOptions

    transport = Transport(httpx, "gemini-interactions", [])
    options = HttpOptions(base_url="http://test", httpx_client=transport.client())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it calls the interface experimental
        client = Client(api_key="test", vertexai=False, http_options=options)
        asked: Any = [{"type": "user_input", "content": [{"type": "text", "text": "Where?"}]}, *steps]
        for _ in client.interactions.create(model="m", input=asked, stream=True, store=False):
            pass
        client.close()
    return list(transport.bodies[0]["input"][1:])


def cohere(chunks: list[Payload]) -> list[Payload]:
    """One message with a plan, calls, content and citations. Arguments are JSON: an empty text is an empty object."""
    message: Payload = {"role": "assistant"}
    content: dict[int, Payload] = {}
    calls: dict[int, Payload] = {}
    for chunk in chunks:
        match chunk:
            case {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": piece}}}:
                message["tool_plan"] = message.get("tool_plan", "") + piece
            case {"type": "content-start", "index": at, "delta": {"message": {"content": start}}}:
                content[at] = dict(start)
            case {"type": "content-delta", "index": at, "delta": {"message": {"content": pieces}}}:
                for name, piece in pieces.items():
                    content[at][name] += piece
            case {"type": "tool-call-start", "index": at, "delta": {"message": {"tool_calls": start}}}:
                calls[at] = copy.deepcopy(start)
            case {"type": "tool-call-delta", "index": at, "delta": {"message": {"tool_calls": {"function": piece}}}}:
                calls[at]["function"]["arguments"] += piece["arguments"]
            case {"type": "citation-start", "delta": {"message": {"citations": citation}}}:
                message.setdefault("citations", []).append(citation)
    for call in calls.values():
        call["function"]["arguments"] = call["function"]["arguments"] or "{}"
    if calls:
        message["tool_calls"] = [*calls.values()]
    if content:
        message["content"] = [*content.values()]
    from cohere.types import AssistantChatMessageV2

    AssistantChatMessageV2.model_validate(message)
    return [message]


def ollama(chunks: list[Payload]) -> list[Payload]:
    """One message; calls and images come whole."""
    message: Payload = {"role": "assistant", "content": ""}
    for chunk in chunks:
        said = chunk.get("message") or {}
        message["content"] += said.get("content") or ""
        if said.get("thinking"):
            message["thinking"] = message.get("thinking", "") + said["thinking"]
        for name in ("images", "tool_calls"):
            if said.get(name):
                message.setdefault(name, []).extend(said[name])
    from ollama import Message

    Message.model_validate(message)
    return [message]


def _validate(type: Any, value: object) -> None:
    from pydantic import TypeAdapter

    TypeAdapter(type).validate_python(value)


TURNS: Final[dict[str, Callable[[list[Payload]], list[Payload]]]] = {
    "anthropic": anthropic,
    "bedrock-converse": bedrock_converse,
    "cohere": cohere,
    "gemini": gemini,
    "gemini-interactions": gemini_interactions,
    "ollama": ollama,
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
}


# Equal turns


def without_new_nulls(value: Any, came: frozenset[str]) -> Any:
    """A client writes null for fields that it knows and that never came. `came` are those that did come as null."""
    if isinstance(value, dict):
        kept = {name: inner for name, inner in value.items() if inner is not None or name in came}
        return {name: without_new_nulls(inner, came) for name, inner in kept.items()}
    return [without_new_nulls(inner, came) for inner in value] if isinstance(value, list) else value


def null_names(value: Any) -> frozenset[str]:
    """The names under which null came on the wire."""
    if isinstance(value, dict):
        own = frozenset(name for name, inner in value.items() if inner is None)
        return own.union(*map(null_names, value.values()))
    return frozenset().union(*map(null_names, value)) if isinstance(value, list | tuple) else frozenset()


def _blocks_on_the_wire(format: str, chunks: Sequence[Payload]) -> list[Any]:
    """The chunks; for Anthropic only their blocks, since a message has nulls of its own, such as its stop reason."""
    if format != "anthropic":
        return list(chunks)
    starts = [chunk["message"]["content"] for chunk in chunks if chunk["type"] == "message_start"]
    return [*starts, *(chunk.get("content_block") for chunk in chunks), *_deltas(chunks)]


def _deltas(chunks: Sequence[Payload]) -> list[Any]:
    return [chunk["delta"] for chunk in chunks if chunk["type"] == "content_block_delta"]


def without_empty_text(format: str, turn: list[Payload]) -> list[Payload]:
    """Anthropic answers 400 to a text block without text; its client sends it all the same."""
    if format != "anthropic":
        return turn
    return [
        _with_inner(entry, "content", [it for it in entry.get("content", []) if not _is_empty(it)]) for entry in turn
    ]


def _is_empty(block: Payload) -> bool:
    return block.get("type") == "text" and block.get("text") == ""


def _with_inner(entry: Payload, name: str, inner: list[Payload]) -> Payload:
    """An entry with other blocks. An entry without any stays as it is."""
    return {**entry, name: inner} if name in entry else entry


def with_one_alphabet(format: str, turn: list[Payload]) -> list[Payload]:
    """google-genai writes the bytes of a signature, and of inline data, in the other alphabet of base64."""
    return _standard(turn) if format == "gemini" else turn


def _standard(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: _reencoded(inner)
            if name in ("thoughtSignature", "data") and isinstance(inner, str)
            else _standard(inner)
            for name, inner in value.items()
        }
    return [_standard(inner) for inner in value] if isinstance(value, list) else value


def _reencoded(text: str) -> str:
    standard = text.translate(str.maketrans("-_", "+/")).rstrip("=")
    return base64.b64encode(base64.b64decode(standard + "=" * (-len(standard) % 4))).decode()


def with_joined_text(format: str, turn: list[Payload]) -> list[Payload]:
    """google-genai sends a part per chunk. Unsigned neighbours are one text, and an empty unsigned one is nothing."""
    return [_joined(entry) for entry in turn] if format == "gemini" else turn


def _joined(entry: Payload) -> Payload:
    joined: list[Payload] = []
    for part in entry.get("parts", []):
        if _is_plain_text(part) and not part["text"]:
            continue
        if _is_plain_text(part) and joined and _is_plain_text(joined[-1]) and _same_flag(part, joined[-1]):
            joined[-1] = {**joined[-1], "text": joined[-1]["text"] + part["text"]}
        else:
            joined.append(part)
    return _with_inner(entry, "parts", joined)


def _is_plain_text(part: Payload) -> bool:
    return part.keys() <= {"text", "thought"} and "text" in part


def _same_flag(one: Payload, other: Payload) -> bool:
    return bool(one.get("thought")) == bool(other.get("thought"))


def without_own_keys(format: str, turn: list[Payload]) -> list[Payload]:
    """The accumulator of openai leaves the index on a call, and adds what it parsed."""
    if format != "openai-chat":
        return turn
    bare = [_without(entry, {"parsed"}) for entry in turn]
    return [
        {**entry, "tool_calls": [_bare_call(call) for call in entry["tool_calls"]]}
        if entry.get("tool_calls")
        else entry
        for entry in bare
    ]


def _bare_call(call: Payload) -> Payload:
    bare = _without(call, {"index"})
    return {**bare, "function": _without(call["function"], {"parsed_arguments"})} if "function" in call else bare


def _without(entry: Payload, names: set[str]) -> Payload:
    return {name: value for name, value in entry.items() if name not in names}


def without_repeated_reasoning(format: str, turn: list[Payload]) -> list[Payload]:
    """OpenRouter sends its reasoning twice, and takes either: `reasoning` repeats `reasoning_details`."""
    if format != "openai-chat":
        return turn
    return [_without(entry, {"reasoning"}) if "reasoning_details" in entry else entry for entry in turn]


def without_empty_content(format: str, turn: list[Payload]) -> list[Payload]:
    """A chat message with calls has no text: null, an empty text and no content at all say the same."""
    if format not in ("openai-chat", "ollama"):
        return turn
    return [entry if entry.get("content") else _without(entry, {"content"}) for entry in turn]


def with_one_spelling(format: str, turn: list[Payload]) -> list[Payload]:
    """google-genai writes `tool_type` where the wire has `toolType`; the service takes both."""
    if format != "gemini":
        return turn
    return [_with_inner(entry, "parts", [_spelled(part) for part in entry.get("parts", [])]) for entry in turn]


def _spelled(part: Payload) -> Payload:
    spelled = dict(part)
    for name in ("toolCall", "toolResponse"):
        if "tool_type" in part.get(name, {}):
            spelled[name] = {**_without(part[name], {"tool_type"}), "toolType": part[name]["tool_type"]}
    return spelled


DIFFERENCES: Final[tuple[Callable[[str, list[Payload]], list[Payload]], ...]] = (
    without_empty_text,
    with_one_alphabet,
    with_one_spelling,
    with_joined_text,
    without_own_keys,
    without_repeated_reasoning,
    without_empty_content,
)
"""All that two equal turns may differ in, beside nulls that never came. Each function says why."""


def normal(format: str, turn: Sequence[Payload], chunks: Sequence[Payload]) -> list[Payload]:
    """A turn after JSON, without what is forgiven. Bytes, which only Bedrock has, stay bytes."""
    plain = list(turn) if format == "bedrock-converse" else json.loads(json.dumps(list(turn)))
    told: list[Payload] = without_new_nulls(plain, null_names(_blocks_on_the_wire(format, chunks)))
    for without in DIFFERENCES:
        told = without(format, told)
    return told


def same_turn(format: str, ours: Sequence[Payload], theirs: Sequence[Payload], chunks: Sequence[Payload]) -> bool:
    """Whether two turns say the same, for a message that came in these chunks."""
    return normal(format, ours, chunks) == normal(format, theirs, chunks)

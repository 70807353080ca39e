"""llm/deltas.py and the wire formats: what each chunk says, in dicts and in objects, and that no chunk is too odd."""

from __future__ import annotations

import copy
import enum
import pickle
from collections import UserDict
from collections.abc import Mapping
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.chunks import EXAMPLES, function, one_call, tool
from tests.support.standins import as_model, as_object
from unspool import MISSING
from unspool._errors import OptionsError
from unspool.llm._deltas import (
    BlockEnd,
    BlockStart,
    Delta,
    Finish,
    FinishReason,
    Ignored,
    Leaf,
    MessageData,
    MessageStart,
    PartData,
    PartStart,
    ProviderError,
    ReasoningDelta,
    Recount,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
    Whole,
)
from unspool.llm._formats import chunks
from unspool.llm._formats.registry import FORMATS, deltas_for, detect
from unspool.llm._parts import Part, native_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hypothesis.strategies import SearchStrategy

# ---- what the deltas are -----------------------------------------------------------------------------


SAMPLES: list[Delta | Whole | Leaf] = [
    MessageStart("assistant", "m1", "model", 1),
    TextDelta("a", (0, 1), True, 1),
    ReasoningDelta("a"),
    RefusalDelta("a"),
    ToolCallDelta(0, "c1", "f", '{"a"', "function", True, True, 1),
    ToolCallDelta("0", arguments=Whole({"a": [1]})),
    ToolCallDelta(None, arguments=(Leaf("$.a", None), Leaf("$.b", "x", True))),
    BlockEnd(0),
    Usage(1, 2, 3, {"n": {}}),
    Finish("stop", "end_turn", 1),
    ProviderError("no", "500", {"message": "no"}),
    Ignored("ping", True),
]


@pytest.mark.parametrize("sample", SAMPLES, ids=repr)
def test_deltas_are_values(sample: Delta) -> None:
    """A delta equals its copy and nothing else, can be hashed and pickled, and has no room for more."""
    again = pickle.loads(pickle.dumps(sample))
    assert again == sample
    assert hash(again) == hash(sample)
    assert copy.copy(sample) == sample
    assert [other == sample for other in SAMPLES].count(True) == 1
    assert sample != "text"
    assert not hasattr(sample, "__dict__")
    assert set(sample.__match_args__) >= {
        name for cls in type(sample).__mro__ for name in getattr(cls, "__slots__", ())
    }


@pytest.mark.parametrize("kind", [TextDelta, ReasoningDelta, RefusalDelta])
def test_kinds_of_words_differ(kind: type[TextDelta]) -> None:
    """The same text as an answer, as reasoning and as a refusal are three different things."""
    assert [kind("a") == other("a") for other in (TextDelta, ReasoningDelta, RefusalDelta)].count(True) == 1


def test_deltas_match_by_position() -> None:
    """`match` takes a delta apart, the most important field first."""
    match TextDelta("hi", (1,)):
        case TextDelta(text, block):
            assert (text, block) == ("hi", (1,))


@pytest.mark.parametrize(
    ("delta", "text"),
    [
        (TextDelta("hi"), "TextDelta(text='hi')"),
        (TextDelta("hi", (0,), True, 2), "TextDelta(text='hi', block=(0,), is_whole=True, choice=2)"),
        (ToolCallDelta(0, arguments=""), "ToolCallDelta(index=0, arguments='')"),
        (ToolCallDelta(None), "ToolCallDelta(index=None)"),
        (ToolCallDelta(arguments=(Leaf("$.a", None),)), "ToolCallDelta(arguments=(Leaf(path='$.a', value=None),))"),
        (Usage(1), "Usage(input_tokens=1, raw={})"),
        (Ignored("x"), "Ignored(kind='x')"),
    ],
)
def test_deltas_show_what_they_say(delta: Delta, text: str) -> None:
    """The representation has the fields that say something; a null that came is one of them."""
    assert repr(delta) == text


def test_later_usage_replaces_earlier() -> None:
    """Counts are not added up: a later one stands, and what it does not tell is taken from the earlier one."""
    first = Usage(17, 1, None, {"input_tokens": 17, "output_tokens": 1, "tier": "x"})
    later = Usage(None, 65, None, {"output_tokens": 65})
    assert first.over(None) is first
    assert later.over(first) == Usage(17, 65, None, {"input_tokens": 17, "output_tokens": 65, "tier": "x"})
    assert Usage(1, 2, 9).over(Usage(5, 6, 7)) == Usage(1, 2, 9)
    assert Usage(1, 2).over(Usage(5, 6, 7)).told_total == 7


@pytest.mark.parametrize(
    ("usage", "total"),
    [(Usage(1, 2), 3), (Usage(1, 2, 7), 7), (Usage(1), None), (Usage(None, 1), None), (Usage(), None)],
)
def test_total_usage(usage: Usage, total: int | None) -> None:
    """The total is what the provider says, or else the sum, if both are known."""
    assert usage.total_tokens == total


# ---- what chunks say ---------------------------------------------------------------------------------


each_example = pytest.mark.parametrize(
    ("format", "chunk", "expected"),
    [
        pytest.param(name, chunk, expected, id=f"{name}: {rule}")
        for name, examples in EXAMPLES.items()
        for rule, (chunk, expected) in examples.items()
    ],
)


def test_every_format_has_examples() -> None:
    """A format without examples is not tested."""
    assert set(EXAMPLES) == set(FORMATS)


@each_example
def test_examples(format: str, chunk: Any, expected: list[Delta]) -> None:
    """A chunk says exactly this, and is not changed by being read."""
    before = copy.deepcopy(chunk)
    assert deltas_for(format)(chunk) == expected
    assert chunk == before


@each_example
def test_objects_say_the_same(format: str, chunk: Any, expected: list[Delta]) -> None:
    """A chunk may be an object with attributes, with or without defaults for what did not come."""
    assert deltas_for(format)(as_object(chunk)) == expected
    assert deltas_for(format)(as_model(chunk)) == expected


@each_example
def test_pydantic_models_say_the_same(format: str, chunk: Any, expected: list[Delta]) -> None:
    """Real models, too."""
    pydantic = pytest.importorskip("pydantic")
    loose: Any = pydantic.create_model("Loose", __config__={"extra": "allow"}, content=(Any, None), index=(Any, None))

    def modelled(value: Any) -> Any:
        if isinstance(value, dict):
            return loose.model_construct(**{name: modelled(item) for name, item in value.items()})
        return [modelled(item) for item in value] if isinstance(value, list) else value

    assert deltas_for(format)(modelled(chunk)) == expected


FINISHES: dict[str, dict[str, str]] = {
    "anthropic": {
        "stop": "end_turn stop_sequence",
        "length": "max_tokens model_context_window_exceeded",
        "tool_calls": "tool_use",
        "refusal": "refusal",
        "paused": "pause_turn compaction",
        "other": "new",
    },
    "bedrock-converse": {
        "stop": "end_turn stop_sequence",
        "length": "max_tokens model_context_window_exceeded",
        "tool_calls": "tool_use",
        "content_filter": "guardrail_intervened content_filtered",
        "error": "malformed_model_output malformed_tool_use",
    },
    "cohere": {
        "stop": "COMPLETE STOP_SEQUENCE",
        "length": "MAX_TOKENS ERROR_LIMIT",
        "tool_calls": "TOOL_CALL",
        "content_filter": "ERROR_TOXIC",
        "cancelled": "USER_CANCEL",
        "error": "ERROR TIMEOUT",
    },
    "gemini": {
        "stop": "STOP",
        "length": "MAX_TOKENS",
        "content_filter": "SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII MODEL_ARMOR IMAGE_SAFETY "
        "IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION JAILBREAK",
        "error": "MALFORMED_FUNCTION_CALL MALFORMED_RESPONSE UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS "
        "MISSING_THOUGHT_SIGNATURE",
        "paused": "CONTINUATION",
        "other": "OTHER LANGUAGE FINISH_REASON_UNSPECIFIED NO_IMAGE IMAGE_OTHER NEW",
    },
    "gemini-interactions": {
        "stop": "completed",
        "length": "incomplete budget_exceeded",
        "tool_calls": "requires_action",
        "paused": "requires_continuation",
        "cancelled": "cancelled",
        "error": "failed",
        "other": "new",
    },
    "ollama": {"stop": "stop", "length": "length", "other": "load unload new"},
    "openai-chat": {
        "stop": "stop end_turn eos eos_token stop_sequence",
        "length": "length max_tokens model_length model_context_window_exceeded",
        "tool_calls": "tool_calls tool_call tool_use function_call",
        "content_filter": "content_filter sensitive SAFETY",
        "refusal": "refusal",
        "paused": "pause_turn",
        "cancelled": "abort aborted cancelled canceled",
        "error": "error insufficient_system_resource network_error",
        "other": "new null",
    },
    "openai-responses": {"length": "max_output_tokens", "content_filter": "content_filter", "other": "new"},
}


def finished(format: str, raw: str) -> Any:
    """The chunk in which a message of this format ends for this reason."""
    return {
        "anthropic": {"type": "message_delta", "delta": {"stop_reason": raw}},
        "bedrock-converse": {"messageStop": {"stopReason": raw}},
        "cohere": {"type": "message-end", "delta": {"finish_reason": raw}},
        "gemini": {"candidates": [{"finishReason": raw}]},
        "gemini-interactions": {"event_type": "interaction.completed", "interaction": {"status": raw}},
        "ollama": {"message": {}, "done": True, "done_reason": raw},
        "openai-chat": {"choices": [{"delta": {}, "finish_reason": raw}]},
        "openai-responses": {"type": "response.incomplete", "response": {"incomplete_details": {"reason": raw}}},
    }[format]


@pytest.mark.parametrize("format", FINISHES)
def test_reasons_to_finish(format: str) -> None:
    """Every reason that a provider has is one of ours, and stays as it was beside it."""
    for reason, raws in FINISHES[format].items():
        for raw in raws.split():
            told = deltas_for(format)(finished(format, raw))
            (finish,) = [delta for delta in told if isinstance(delta, Finish)]
            assert (finish.reason, finish.raw) == (reason, raw)


# ---- objects of libraries ----------------------------------------------------------------------------


def test_googles_library_spells_fields_otherwise() -> None:
    """Attributes are snake_case, enums are members, and every field is there, None if it did not come."""

    class Reason(str, enum.Enum):  # noqa: UP042 - the kind whose hash is that of its name
        STOP = "STOP"

    class Null(enum.Enum):
        NULL_VALUE = 0

    def leaf_object(**came: Any) -> Any:
        names = ("json_path", "string_value", "number_value", "bool_value", "null_value", "will_continue")
        return SimpleNamespace(**{**dict.fromkeys(names), **came})

    partial_args = [
        leaf_object(json_path="$.a", string_value="x", will_continue=True),
        leaf_object(json_path="$.b", null_value=Null.NULL_VALUE),
        leaf_object(json_path="$.c", number_value=0.0),
    ]
    call = SimpleNamespace(id=None, name="f", args=None, partial_args=partial_args, will_continue=None)
    more = SimpleNamespace(id=None, name="g", args=None, partial_args=None, will_continue=True)
    parts = [SimpleNamespace(text=None, thought=None, function_call=function_call) for function_call in (call, more)]
    content = SimpleNamespace(role="model", parts=parts)
    chunk = SimpleNamespace(
        candidates=[SimpleNamespace(index=None, content=content, finish_reason=Reason.STOP)],
        response_id="r1",
        model_version="m",
        prompt_feedback=None,
        usage_metadata=SimpleNamespace(prompt_token_count=1, candidates_token_count=2, total_token_count=3),
    )
    found = deltas_for("gemini")(chunk)
    assert found == [
        MessageStart("assistant", "r1", "m"),
        *one_call(name="f", arguments=(Leaf("$.a", "x", True), Leaf("$.b", None), Leaf("$.c", 0.0)), is_done=True),
        *one_call(name="g"),
        Finish("stop", "STOP"),
        Usage(1, 2, 3, {"prompt_token_count": 1, "candidates_token_count": 2, "total_token_count": 3}),
    ]
    finish = found[3]
    assert isinstance(finish, Finish)
    assert type(finish.raw) is str
    assert detect(chunk) == "gemini"


def test_other_mappings_and_attributes() -> None:
    """A mapping need not be a dict, and an attribute may be that of the class; pydantic's methods are no fields."""

    class Chunk:
        choices = (MappingProxyType({"index": 1, "delta": UserDict({"content": "Hi"})}),)

    class Strict:
        content: ClassVar[str] = "never read"

        def __init__(self, **came: Any) -> None:
            self.__dict__.update(came, __pydantic_extra__=None, model_fields_set=set(came))

    assert deltas_for("openai-chat")(Chunk()) == [TextDelta("Hi", choice=1)]
    assert deltas_for("openai-chat")({"choices": [Strict(delta=Strict(refusal="No"))]}) == [RefusalDelta("No")]


@pytest.mark.parametrize(
    "place",
    [
        lambda odd: {**odd, "choices": [{"delta": {"content": "Hi"}}]},
        lambda odd: {"choices": [{**odd, "delta": {"content": "Hi"}}]},
        lambda odd: {"choices": [{"delta": {**odd, "content": "Hi"}}]},
    ],
)
def test_keys_that_are_no_text(place: Callable[[dict[Any, Any]], object]) -> None:
    """A dict of Python may have them; nothing reads them, and nothing trips over them."""
    for key in (5, None, ("a",), b"content"):
        assert deltas_for("openai-chat")(place({key: "x"})) == [TextDelta("Hi")]


def test_a_null_index_is_told_from_none_at_all() -> None:
    """In an object, None is a null only if the field came."""
    deltas = deltas_for("openai-chat")
    assert deltas(as_model(tool(index=None, function={}))) == one_call(None)
    assert deltas(as_model(tool(function={}))) == one_call(MISSING)


def test_the_delta_is_a_copy() -> None:
    """What the caller does to a chunk later changes no delta."""
    chunk = function(arguments={"a": [1]})
    (delta,) = deltas_for("openai-chat")(chunk)
    chunk["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"]["a"].append(2)
    assert delta == one_call(0, None, None, Whole({"a": [1]}))[0]


def test_plain_data() -> None:
    """Objects, tuples, enums and unknown things become plain JSON data, in the same order. Bytes may stay bytes."""

    class Color(enum.Enum):
        RED = 1

    value = SimpleNamespace(b=(1, True, None, 0.5), a={"c": Color.RED, 3: "no text, no key"}, d=b"raw", e=[])
    expected = {"b": [1, True, None, 0.5], "a": {"c": "RED"}, "d": "b'raw'", "e": []}
    assert repr(chunks.plain(value, keeps_bytes=False)) == repr(expected)
    assert repr(chunks.plain(value)) == repr({**expected, "d": b"raw"})
    assert chunks.plain(bytearray(b"raw")) == b"raw"


def test_native_fields_have_the_names_of_the_wire() -> None:
    """Some names are keywords of Python: a library spells them otherwise. Fields that did not come are not there."""
    pydantic = pytest.importorskip("pydantic")
    aliased = pydantic.Field(None, alias="from")
    model: Any = pydantic.create_model("Fallback", from_=(Any, aliased), to=(Any, None), type=(Any, None))
    block = model.model_validate({"from": {"model": "a"}, "type": "fallback"})
    assert chunks.native(block) == {"from": {"model": "a"}, "type": "fallback"}
    assert chunks.native(block, {"from"}) == {"type": "fallback"}
    assert chunks.plain([block]) == [{"from": {"model": "a"}, "type": "fallback"}]


@pytest.mark.parametrize("later", [{"input_tokens": 20}, {"input_tokens": 20.0, "cache_read_input_tokens": None}])
def test_cached_tokens_are_counted_once(later: dict[str, Any]) -> None:
    """Anthropic counts cached tokens beside the input, and the end of a message may repeat only some counts."""
    deltas = deltas_for("anthropic")
    counts = {"input_tokens": 10, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 3, "output_tokens": 1}
    first = deltas({"type": "message_start", "message": {"usage": counts}})[-1]
    last = deltas({"type": "message_delta", "delta": {}, "usage": {**later, "output_tokens": 9}})[-1]
    assert isinstance(first, Usage)
    assert isinstance(last, Usage)
    assert first.over(None).input_tokens == 18
    assert last.over(first) == Usage(28, 9, None, {**counts, "input_tokens": 20, "output_tokens": 9})
    assert last.over(None).input_tokens == 20
    cached = deltas({"type": "message_delta", "delta": {}, "usage": {"cache_read_input_tokens": 4}})[-1]
    assert isinstance(cached, Usage)
    assert cached.over(first).input_tokens == 19
    assert cached.over(first).output_tokens == 1


def test_nested_too_deep() -> None:
    """Arguments nested deeper than the limit, or in themselves, are left out; nothing recurses."""
    deep: Any = 1
    for _ in range(chunks.MAX_DEPTH):
        deep = [deep]
    assert chunks.plain(deep) == deep
    assert chunks.plain([deep]) is MISSING
    endless: dict[str, Any] = {}
    endless["a"] = [endless, endless]
    assert deltas_for("openai-chat")(function(arguments=endless)) == [*one_call(0), Ignored("arguments")]
    usage = {"choices": [], "usage": {"prompt_tokens": 1, "more": endless}}
    assert deltas_for("openai-chat")(usage) == [Usage(1)]


@pytest.mark.parametrize("value", ["text", b"", 1, 0.5, None, MISSING, [], (), {1}, range(3), dict, enum.Enum])
def test_values_are_no_records(value: object) -> None:
    """Numbers, texts and lists have attributes, which are no fields."""
    assert not chunks.is_record(value)
    assert chunks.get(value, "index") is MISSING
    assert chunks.names(value) == []


# ---- which format ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("format", "chunk"),
    [
        ("anthropic", {"type": "ping"}),
        ("anthropic", {"type": "error", "error": {"type": "overloaded_error", "message": "no"}}),
        ("bedrock-converse", {"messageStart": {"role": "assistant"}}),
        ("bedrock-converse", {"throttlingException": {"message": "no"}}),
        ("cohere", {"type": "content-end", "index": 0}),
        ("cohere", {"type": "citation-start", "index": 0}),
        ("cohere", {"id": "m1", "finish_reason": "COMPLETE", "message": {"role": "assistant", "content": []}}),
        ("gemini", {"candidates": []}),
        ("gemini", {"usageMetadata": {}}),
        ("gemini", {"promptFeedback": {"blockReason": "SAFETY"}}),
        ("gemini", {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "no"}}),
        ("gemini-interactions", {"event_type": "error", "error": {"message": "no"}}),
        ("ollama", {"model": "m", "message": {"role": "assistant", "content": ""}, "done": False}),
        ("ollama", {"model": "m", "response": "Hi", "done": True}),
        ("ollama", {"error": "no"}),
        ("openai-chat", {"choices": []}),
        ("openai-chat", {"object": "chat.completion.chunk"}),
        ("openai-chat", {"object": "text_completion", "choices": [{"text": "Hi"}]}),
        ("openai-chat", {"choices": [{"message": {"role": "assistant"}}], "message": {}, "finish_reason": "stop"}),
        ("openai-chat", {"error": {"message": "no", "type": "server_error"}}),
        ("openai-chat", {"type": "chunk", "chunk": {}}),
        ("openai-chat", {"type": "tool_calls.function.arguments.delta", "index": 0}),
        ("openai-responses", {"type": "response.new"}),
        ("openai-responses", {"type": "keepalive"}),
        ("openai-responses", {"type": "error", "message": "no", "code": None}),
        ("openai-responses", {"type": "error", "sequence_number": 0, "error": {"message": "no"}}),
        (None, {}),
        (None, {"type": "new"}),
        (None, {"type": "error"}),
        (None, {"messageStart": {}, "messageStop": {}}),
        (None, {"done": True}),
        (None, None),
        (None, "data"),
        (None, [{"choices": []}]),
    ],
)
def test_detect(format: str | None, chunk: Any) -> None:
    """A chunk tells its format, as a dict and as an object, or it tells none."""
    assert detect(chunk) == format
    assert detect(as_object(chunk)) == format
    assert detect(as_model(chunk)) == format


@pytest.mark.parametrize("format", ["", "openai", "OpenAI-chat"])
def test_unknown_format(format: str) -> None:
    """A format that is none is refused, with the names of those that are."""
    with pytest.raises(OptionsError, match="'anthropic'"):
        deltas_for(format)


# ---- whatever comes ----------------------------------------------------------------------------------

each_format = pytest.mark.parametrize("format", FORMATS)

CHUNKS = [chunk for examples in EXAMPLES.values() for chunk, _ in examples.values()]


def within(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place inside a value: the container, and the key or index."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, (dict, list)):
            for key in value if isinstance(value, dict) else range(len(value)):
                yield value, key
                waiting.append(value[key])


KEYS = sorted({key for chunk in CHUNKS for holder, key in within(chunk) if isinstance(holder, dict)})
WORDS = sorted({holder[key] for chunk in CHUNKS for holder, key in within(chunk) if isinstance(holder[key], str)})


def anything() -> SearchStrategy[Any]:
    """JSON values made of the words of all formats, in no order."""
    scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=3)
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
        max_leaves=12,
    )


@st.composite
def broken(draw: st.DrawFn, examples: list[Any]) -> Any:
    """A good chunk with a few places that hold something else, or nothing."""
    chunk = {"": copy.deepcopy(draw(st.sampled_from(examples)))}
    for _ in range(draw(st.integers(1, 3))):
        holder, key = draw(st.sampled_from(list(within(chunk))))
        if isinstance(holder, dict) and key and draw(st.booleans()):
            del holder[key]
        else:
            holder[key] = draw(anything())
    return chunk[""]


def assert_sound(deltas: list[Delta]) -> None:
    """Whatever the chunk was, its deltas hold what their types say."""
    for delta in deltas:
        match delta:
            case TextDelta() | ReasoningDelta() | RefusalDelta():
                assert type(delta.text) is str
                assert delta.text
                assert all(type(number) in {int, str} for number in delta.block)
            case ToolCallDelta():
                assert type(delta.index) in {int, str, type(None), type(MISSING)}
                assert type(delta.id) in {str, type(None)}
                assert type(delta.name) in {str, type(None)}
                match delta.arguments:
                    case Whole(value):
                        assert type(value) in {str, dict, list}
                    case tuple(found):
                        assert all(type(leaf.path) is str for leaf in found)
                        assert all(type(leaf.value) not in {dict, list} for leaf in found)
                    case other:
                        assert type(other) in {str, type(None)}
                assert type(delta.signature) in {str, type(None)}
                assert_plain(delta.native)
            case PartStart(part):
                assert isinstance(part, Part)
                assert all(type(number) in {int, str} for number in part.block)
                assert_plain(native_in(part))
                assert pickle.loads(pickle.dumps(part)) == part
            case PartData(name, _, block, native):
                assert type(name) is str
                assert name or native
                assert all(type(number) in {int, str} for number in block)
                assert_plain(native)
            case BlockStart(block, native):
                assert block
                assert_plain(native)
            case MessageData(name, value):
                assert name
                assert_plain(value)
            case MessageStart(role, id, model):
                assert all(type(text) in {str, type(None)} for text in (role, id, model))
            case Usage():
                counts = [delta.input_tokens, delta.output_tokens, delta.told_total]
                assert {type(count) for count in counts} <= {int, type(None)}
                assert any(count is not None for count in counts)
                assert type(delta.raw) is dict
            case ProviderError(message, code):
                assert type(message) is str
                assert type(code) in {str, type(None)}
            case BlockEnd(index):
                assert type(index) in {int, str, type(None), type(MISSING)}
            case Finish(reason, raw):
                assert reason in get_args(FinishReason)
                assert type(raw) in {str, type(None)}
            case Ignored(kind):
                assert type(kind) is str
                assert kind
            case Recount(ids):
                assert {type(named) for named in ids} <= {str, type(None)}
            case _:
                raise AssertionError(delta)
        hash(delta)
        repr(delta)


def assert_plain(value: object) -> None:
    """JSON data, and bytes where a provider sends them."""
    match value:
        case Mapping():
            for name, inner in value.items():
                assert type(name) is str
                assert_plain(inner)
        case list():
            for inner in value:
                assert_plain(inner)
        case _:
            assert type(value) in {str, int, float, bool, bytes, type(None)}


@each_format
@given(data=st.data())
def test_no_value_is_too_odd(format: str, data: st.DataObject) -> None:
    """Any JSON value at all gives deltas, never an exception, and says the same as an object."""
    chunk = data.draw(anything())
    found = deltas_for(format)(chunk)
    assert_sound(found)
    assert repr(deltas_for(format)(as_object(chunk))) == repr(found)
    assert detect(as_object(chunk)) == detect(chunk)


@each_format
@given(data=st.data())
def test_no_broken_chunk_is_too_odd(format: str, data: st.DataObject) -> None:
    """Chunks that were good but for some places give deltas, never an exception, in a dict and in objects."""
    chunk = data.draw(broken([chunk for chunk, _ in EXAMPLES[format].values()]))
    found = deltas_for(format)(chunk)
    assert_sound(found)
    assert repr(deltas_for(format)(as_object(chunk))) == repr(found)
    assert_sound(deltas_for(format)(as_model(chunk)))


@each_format
@pytest.mark.parametrize(
    "chunk",
    [None, MISSING, "", "x", b"x", 0, 1.5, True, [], [{}], (), {1}, {1: 2}, object(), iter(()), lambda: 0],
)
def test_no_object_is_too_odd(format: str, chunk: object) -> None:
    """What is no chunk at all is ignored."""
    assert deltas_for(format)(chunk) == [Ignored("chunk")]
    assert detect(chunk) is None


@each_format
def test_chunks_of_other_formats(format: str) -> None:
    """The chunks of one format say little to another, but do no harm."""
    for chunk in CHUNKS:
        assert_sound(deltas_for(format)(chunk))

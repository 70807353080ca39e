"""`iter_changes`: which paths of a typed value appear, grow and complete, and the patches for a client."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from dataclasses import dataclass, make_dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest

pytest.importorskip("pydantic")
from typing import NotRequired

import msgspec
import pydantic.dataclasses
from pydantic import (
    AfterValidator,
    Base64Str,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    RootModel,
    computed_field,
    field_serializer,
    model_serializer,
)
from typing_extensions import TypedDict

from tests.support.steps import steps
from unspool import COMPILED, Options, OptionsError, UnspoolError
from unspool.patch import apply
from unspool.typed import Atomic, InvalidError, NotNull, WholeItems, aiter_changes, iter_changes, iter_partial

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable


class Stop(BaseModel):
    name: str
    kind: Literal["walk", "ride"] = "walk"
    hours: float | None = None


class Trip(BaseModel):
    title: str
    stops: list[Stop] = []


FRAGMENTS = ['{"title": "Por', 'to", "stops": [{"name": "Rib', 'eira", "kind": "ri', 'de"}', "]}"]


def changes_of(type: Any, fragments: Any, **options: Any) -> list[list[tuple[str, str]]]:
    """The kinds and paths of the changes of each fragment."""
    return [[(one.kind, str(one.path)) for one in changes] for changes in iter_changes(type, fragments, **options)]


def document_of(type: Any, fragments: Any, **options: Any) -> Any:
    """The document that all patches build."""
    document: Any = None
    for changes in iter_changes(type, fragments, **options):
        document = apply(document, json.loads(json.dumps(changes.patch)))
    return document


def test_each_fragment_says_what_appeared_grew_and_completed() -> None:
    """A held-back literal appears when it is known, a default with its object, and a container completes last."""
    assert changes_of(Trip, FRAGMENTS) == [
        [("appeared", "$"), ("appeared", "$.title")],
        [
            *[("grew", "$.title"), ("completed", "$.title"), ("appeared", "$.stops"), ("appeared", "$.stops[0]")],
            ("appeared", "$.stops[0].name"),
        ],
        [("grew", "$.stops[0].name"), ("completed", "$.stops[0].name")],
        [
            *[("appeared", "$.stops[0].kind"), ("appeared", "$.stops[0].hours")],
            *[("completed", "$.stops[0].kind"), ("completed", "$.stops[0].hours"), ("completed", "$.stops[0]")],
        ],
        [("completed", "$.stops"), ("completed", "$")],
    ]


def test_the_patches_of_each_fragment() -> None:
    """Text that grows is appended, and everything else is added once."""
    patches = [changes.patch for changes in iter_changes(Trip, FRAGMENTS)]
    assert patches == [
        [{"op": "add", "path": "", "value": {"title": "Por"}}],
        [
            {"op": "append", "path": "/title", "value": "to"},
            {"op": "add", "path": "/stops", "value": [{"name": "Rib"}]},
        ],
        [{"op": "append", "path": "/stops/0/name", "value": "eira"}],
        [
            {"op": "add", "path": "/stops/0/kind", "value": "ride"},
            {"op": "add", "path": "/stops/0/hours", "value": None},
        ],
        [],
    ]


def test_changes_have_the_value_and_the_added_text() -> None:
    """`value`, `partial` and `is_complete` are those of `iter_partial`; `text` is the text that was added."""
    partials = list(iter_partial(Trip, FRAGMENTS))
    steps = list(iter_changes(Trip, FRAGMENTS))
    assert [one.value for one in steps] == [one.value for one in partials]
    assert [one.is_complete for one in steps] == [False, False, False, False, True]
    assert [one.text for one in steps[1]] == ["to", "", "", "", ""]
    assert steps[1].paths("appeared") == [("stops",), ("stops", 0), ("stops", 0, "name")]
    assert len(steps[0]) == 2
    assert repr(steps[0]).startswith("Changes([ValueChange(kind='appeared'")


def test_an_async_source_gives_the_same() -> None:
    """`aiter_changes` yields what `iter_changes` yields."""

    async def source() -> AsyncIterator[str]:
        for fragment in FRAGMENTS:
            yield fragment

    async def collected() -> list[Any]:
        return [changes.patch async for changes in aiter_changes(Trip, source())]

    assert asyncio.run(collected()) == [changes.patch for changes in iter_changes(Trip, FRAGMENTS)]


def test_markers_are_respected() -> None:
    """Atomic values appear whole, NotNull holds the object back, and WholeItems shows complete items only."""

    class Place(BaseModel):
        name: Annotated[str, Atomic]
        order: Annotated[int, NotNull]

    class Route(BaseModel):
        places: list[Place]
        notes: Annotated[list[str], WholeItems]

    fragments = ['{"places": [{"name": "Pin', 'hão"', ', "order": 1', '}], "notes": ["Sit", "Br', 'ing"]}']
    assert [changes.patch for changes in iter_changes(Route, fragments)] == [
        [{"op": "add", "path": "", "value": {"places": []}}],
        [
            {"op": "add", "path": "/places/0", "value": {"name": "Pinhão", "order": 1}},
            {"op": "add", "path": "/notes", "value": ["Sit"]},
        ],
        [{"op": "add", "path": "/notes/1", "value": "Bring"}],
    ]


def test_aliases_extras_roots_and_computed_fields() -> None:
    """In the end the document is what the model dumps, with aliases."""

    class Tags(RootModel[dict[int, list[str]]]):
        pass

    class Note(BaseModel):
        model_config = ConfigDict(extra="allow")
        text: str = Field(alias="theText")
        secret: str = Field("", exclude=True)
        tags: Tags

        @computed_field  # type: ignore[prop-decorator]
        @property
        def size(self) -> int:
            return len(self.text)

    text = '{"theText": "abc", "secret": "s", "more": {"a": [1, {"b": "x"}]}, "tags": {"1": ["a", "b"], "2": []}}'
    for size in (1, 7, 1000):
        fragments = [text[at : at + size] for at in range(0, len(text), size)]
        assert document_of(Note, fragments) == json.loads(Note.model_validate_json(text).model_dump_json(by_alias=True))
        assert "secret" not in str(changes_of(Note, fragments))


def test_values_with_serializers_appear_when_they_are_complete() -> None:
    """A serializer of the user's runs for complete values only."""
    seen: list[str] = []

    def shout(text: str) -> str:
        seen.append(text)
        return text.upper()

    class Whole(BaseModel):
        word: str

        @model_serializer
        def write(self) -> str:
            return f"<{self.word}>"

    class Note(BaseModel):
        loud: Annotated[str, PlainSerializer(shout)]
        words: list[Whole]

    text = '{"loud": "abc", "words": [{"word": "x"}, {"word": "y"}]}'
    assert document_of(Note, list(text)) == {"loud": "ABC", "words": ["<x>", "<y>"]}
    assert set(seen) == {"abc"}


def test_a_serializer_that_reads_other_fields_runs_when_they_are_complete() -> None:
    """A method that leaves its `self` alone needs the value only."""

    class Price(BaseModel):
        amount: float
        size: int
        unit: str = "kg"

        @field_serializer("amount")
        def per_unit(self, amount: float) -> float:
            return amount / self.size

        @field_serializer("unit")
        def short(self, unit: str) -> str:
            return unit[:1]

    fragments = ['{"amount": 3, ', '"unit": "kilogram", ', '"size": 2, ', "}"]
    assert changes_of(Price, ['{"amount": 3 ', ', "unit": "kilogram" ', ', "size": 2 ', "}"]) == [
        [("appeared", "$")],
        [("appeared", "$.unit"), ("completed", "$.unit")],
        [("appeared", "$.size"), ("completed", "$.size")],
        [("appeared", "$.amount"), ("completed", "$.amount"), ("completed", "$")],
    ]
    fragments = ['{"amount": 3 ', ', "unit": "kilogram" ', ', "size": 2 ', "}"]
    assert document_of(Price, fragments) == {"amount": 1.5, "size": 2, "unit": "k"}


def test_a_set_is_written_when_it_is_complete() -> None:
    """A set has an order of its own, and a set of models is shown as a list before: so it appears once, and whole."""

    class Word(BaseModel):
        model_config = ConfigDict(frozen=True)
        text: str

    class Box(BaseModel):
        words: set[Word]
        numbers: frozenset[int] = frozenset()

    text = '{"words": [{"text": "a"}, {"text": "b"}], "numbers": [1, 2]}'
    for size in (1, 9, 1000):
        fragments = [text[at : at + size] for at in range(0, len(text), size)]
        *_, last = iter_partial(Box, fragments)
        assert document_of(Box, fragments) == json.loads(last.value.model_dump_json())
        appeared = [(kind, path) for one in changes_of(Box, fragments) for kind, path in one if ".words" in path]
        assert [kind for kind, _ in appeared] == ["appeared"] * 5 + ["completed"] * 5


def test_a_value_of_a_schema_that_is_judged_when_it_closes() -> None:
    """Nothing in it is complete before, also where it is shown as a plain value."""
    for schema in ({"contains": {"const": 7}}, {"uniqueItems": True}, {"not": {"maxItems": 1}}):
        first, last = changes_of(schema, ["[1, 7, 2", "]"])
        assert first == [("appeared", "$"), ("appeared", "$[0]"), ("appeared", "$[1]")]
        assert ("appeared", "$[2]") in last
        assert [path for kind, path in last if kind == "completed"] == ["$[0]", "$[1]", "$[2]", "$"]
    inside = {"properties": {"list": {"contains": {"const": 7}}}}
    first, last = changes_of(inside, ['{"list": [7, 8', "]}"])
    assert ("completed", "$.list[0]") in last
    assert "completed" not in [kind for kind, _ in first]


def test_a_dataclass_is_written_by_the_serializers_around_it() -> None:
    """Pydantic made no serializer for a plain dataclass: the model or the type around it has the one of its fields."""

    @dataclass
    class Secret:
        code: Base64Str

    class Note(BaseModel):
        one: Secret
        more: list[Secret] = []

    text = '{"one": {"code": "YQ=="}, "more": [{"code": "Yg=="}]}'
    for hint, written in ((Note, text), (dict[str, Note], f'{{"a": {text}}}'), (list[Secret], '[{"code": "YQ=="}]')):
        for size in (1, 9, 1000):
            fragments = [written[at : at + size] for at in range(0, len(written), size)]
            assert document_of(hint, fragments) == json.loads(written)
            assert "replaced" not in [kind for one in changes_of(hint, fragments) for kind, _ in one]
    first, _ = iter_partial(Note, ['{"one": {"code": "YQ=="}, "more": [{"code": "Yg=="}', "]}"])
    assert json.loads(first.value.model_dump_json()) == json.loads(text)


class Ride(TypedDict):
    line: Annotated[str, Field(serialization_alias="Line")]
    pin: NotRequired[Annotated[int, Field(exclude=True)]]


@dataclass
class Walk:
    name: Annotated[str, Field(serialization_alias="Name")]
    pin: Annotated[int, Field(exclude=True)] = 0


@pytest.mark.parametrize(("type", "key", "written"), [(Ride, "line", "Line"), (Walk, "name", "Name")])
def test_typed_dicts_and_dataclasses_with_other_keys(type: Any, key: str, written: str) -> None:
    """Their excluded values are never sent, and their keys are those that the library writes."""

    class Way(BaseModel):
        name: str
        parts: list[type]

    parts = [{key: "a", "pin": 7}, {key: "b", "pin": 7}]
    expected = [{written: "a"}, {written: "b"}]
    assert document_of(list[type], list(json.dumps(parts))) == expected
    fragments = list(json.dumps({"name": "abc", "parts": parts}))
    assert document_of(Way, fragments) == {"name": "abc", "parts": expected}
    assert "7" not in str([changes.patch for changes in iter_changes(Way, fragments)])
    assert ("grew", "$.name") in [one for some in changes_of(Way, fragments) for one in some]


def test_computed_fields_of_a_dataclass() -> None:
    """They are written with the complete object, as those of a model are."""

    @pydantic.dataclasses.dataclass
    class Price:
        amount: float
        size: int = 1

        @computed_field  # type: ignore[prop-decorator]
        @property
        def each(self) -> float:
            return self.amount / self.size

    text = '[{"amount": 3, "size": 2}, {"amount": 1}]'
    assert document_of(list[Price], list(text)) == [
        {"amount": 3, "size": 2, "each": 1.5},
        {"amount": 1, "size": 1, "each": 1},
    ]


@pytest.mark.parametrize("library", ["pydantic", "msgspec"])
def test_an_object_that_was_refused_keeps_what_it_shows(library: str) -> None:
    """A null that was written stays, and nothing else appears, when the text ends without a required field."""
    fields: list[Any] = [("name", str), ("nick", str | None, None), ("age", int | None, None)]
    if library == "msgspec":
        hint: Any = msgspec.defstruct("Person", fields, gc=False)
    else:
        hint = make_dataclass("Person", fields)
    text = '{"nick": null, "more": 1}'
    for fragments in ([text], [*text], [text[:-1], "}"]):
        assert document_of(hint, fragments, on_invalid="ignore") == {"nick": None}


def test_the_types_of_extra_keys_are_no_field() -> None:
    """A class may declare them: nothing of that name is shown or written."""

    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")
        __pydantic_extra__: dict[str, list[int]] = Field(init=False)  # pyright: ignore[reportIncompatibleVariableOverride]
        name: str

    first, last = iter_partial(Open, ['{"more": [1]', ', "name": "a"}'])
    assert first.value.model_fields_set == set()
    assert document_of(Open, ['{"more": [1]', "}"], on_invalid="ignore") == {"more": [1]}
    assert document_of(Open, ['{"more": [1]', ', "name": "a"}']) == last.value.model_dump()


def test_a_value_that_cannot_be_written_names_its_path() -> None:
    """A serializer that fails ends the iteration with an error that says where."""

    def fail(_: str) -> str:
        raise KeyError("lost")

    class Note(BaseModel):
        text: Annotated[str, PlainSerializer(fail)]

    class Notes(BaseModel):
        items: list[Annotated[str, AfterValidator(lambda _: object())]]

    with pytest.raises(UnspoolError, match=r"^\$.*: the value cannot be written as JSON: .*lost"):
        changes_of(Note, ['{"text": "a"}'])
    for fragments in (['{"items": [', '"a", "b"]', "}"], ['{"items": ["a', '", "b"]}']):
        with pytest.raises(UnspoolError, match=r"^\$\.items\[0\]: the value cannot be written as JSON: .*object"):
            changes_of(Notes, fragments)


def test_invalid_parts() -> None:
    """An error is raised as by `iter_partial`. If it is ignored, invalid parts are left out and never complete."""
    text = '{"title": "x", "stops": [{"name": "a", "kind": "fly"}, {"name": "b"}]}'
    with pytest.raises(InvalidError):
        changes_of(Trip, list(text))
    stream = [one for changes in changes_of(Trip, list(text), on_invalid="ignore") for one in changes]
    completed = [path for kind, path in stream if kind == "completed"]
    assert "$.stops[1]" in completed
    assert not {"$", "$.stops", "$.stops[0]", "$.stops[0].kind"} & {*completed}


def test_documents_that_are_too_deep_are_refused() -> None:
    """Deeper values cannot be written, so the limit must be set."""
    with pytest.raises(OptionsError, match="max_depth must be at most 200"):
        iter_changes(Trip, [], Options(max_depth=None))


def many_items(n: int) -> tuple[Any, str]:
    return list[Stop], json.dumps([{"name": "a", "hours": 1}] * n)


def many_extras(n: int) -> tuple[Any, str]:
    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")
        name: str

    return Open, json.dumps({"name": "x", **{f"k{at}": [at] for at in range(n)}})


def tag_behind(n: int) -> tuple[Any, str]:
    class One(BaseModel):
        model_config = ConfigDict(extra="allow")
        kind: Literal["one"]

    class Two(BaseModel):
        kind: Literal["two"]

    return Annotated[One | Two, Field(discriminator="kind")], json.dumps(
        {**{f"k{at}": at for at in range(n)}, "kind": "one", "after": [*range(n)]}
    )


def strings(n: int) -> tuple[Any, str]:
    return set[str], json.dumps([str(at) for at in range(n)])


def a_map(n: int) -> tuple[Any, str]:
    return dict[str, Any], json.dumps({f"k{at}": {"a": [at, "x"]} for at in range(n)})


def deep(n: int) -> tuple[Any, str]:
    return DeepNode, '{"a": "x", "inner": ' * 60 + '{"a": "' + "y" * n + '"}' + "}" * 60


def long_text(n: int) -> tuple[Any, str]:
    return DeepNode, '{"a": "' + "y" * 20 * n + '"}'


class DeepNode(BaseModel):
    a: str
    inner: DeepNode | None = None


@pytest.mark.skipif(COMPILED, reason="steps are counted in the plain sources only")
@pytest.mark.parametrize("read", [iter_partial, iter_changes])
@pytest.mark.parametrize("make", [many_items, many_extras, tag_behind, strings, a_map, deep])
def test_law_13_twice_the_document_is_twice_the_work(read: Any, make: Callable[[int], tuple[Any, str]]) -> None:
    """Shapes that grow: extras, a tag behind many keys, sets, lists of models, dicts of anything, and 60 levels."""

    def count(n: int) -> int:
        hint, text = make(n)
        size = max(12, len(text) // 40)
        fragments = [text[at : at + size] for at in range(0, len(text), size)]

        def run() -> None:
            for _ in read(hint, fragments):
                pass

        run()  # the shape, and the serializers, are made once
        return steps(run)

    assert count(80) <= 2.3 * count(40) + 1000


@pytest.mark.skipif(COMPILED, reason="steps are counted in the plain sources only")
@pytest.mark.parametrize("read", [iter_partial, iter_changes])
@pytest.mark.parametrize("make", [many_items, many_extras, tag_behind, strings, a_map, deep])
def test_law_13_twice_the_fragments_are_twice_the_work(read: Any, make: Callable[[int], tuple[Any, str]]) -> None:
    """The same shapes in fragments of 8 characters: each fragment costs the same, however long the document is."""

    def count(n: int) -> int:
        hint, text = make(n)
        fragments = [text[at : at + 8] for at in range(0, len(text), 8)]
        return steps(lambda: [None for _ in read(hint, fragments)])

    count(1)  # the shape, and the serializers, are made once
    assert count(80) <= 2.3 * count(40) + 1000


@pytest.mark.parametrize("make", [many_items, many_extras, tag_behind, strings, a_map, deep, long_text])
def test_law_13_values_that_nobody_reads_cost_nothing(make: Callable[[int], tuple[Any, str]]) -> None:
    """A program that keeps each outcome of a long document, and reads none, has no copy of the document in each."""

    def memory(n: int) -> int:
        hint, text = make(n)
        fragments = [text[at : at + 8] for at in range(0, len(text), 8)]
        tracemalloc.start()
        kept = list(iter_partial(hint, fragments))
        size, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(kept) > len(fragments) / 4
        return size

    memory(1)  # the shape is made once
    assert memory(800) <= 2.3 * memory(400)


@pytest.mark.long
@pytest.mark.skipif(COMPILED, reason="steps are counted in the plain sources only")
@pytest.mark.parametrize("read", [iter_partial, iter_changes])
def test_law_13_five_thousand_items(read: Any) -> None:
    """A list of 5,000 models costs at most 2.3 times as much as one of 2,500, in fragments of 40 characters."""

    def count(n: int) -> int:
        hint, text = many_items(n)
        fragments = [text[at : at + 40] for at in range(0, len(text), 40)]
        return steps(lambda: [None for _ in read(hint, fragments)])

    count(1)  # the shape, and the serializers, are made once
    assert count(5000) <= 2.3 * count(2500)


@pytest.mark.skipif(COMPILED, reason="steps are counted in the plain sources only")
def test_law_13_a_change_costs_what_changed() -> None:
    """One more fragment costs the same behind 10 items and behind 300."""

    def cost(n: int) -> int:
        hint, text = many_items(n)
        fragments = iter([text[:-1], ', {"name": "', "b", "c", "d"])
        stream = iter_changes(hint, fragments)
        next(stream)
        next(stream)
        return steps(lambda: [next(stream), next(stream)])

    assert cost(300) <= cost(10) + 20

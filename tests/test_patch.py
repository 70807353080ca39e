"""patch.py: what events become on a wire, what a patch does to a document, and what it never does."""

from __future__ import annotations

import copy
import json
import pickle
import time
from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.support import oracle, strategies
from tests.support.observe import Fold, fold
from tests.support.oracle import MISSING, same
from tests.support.strategies import Tape
from unspool import Event, FragmentParser, Kind, Options, Path
from unspool._errors import PatchError, StateError, UnspoolError
from unspool.patch import Operation, Patcher, apply, ops

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from hypothesis.strategies import SearchStrategy

Steps = tuple[str, ...]

CONSTANT = len('{"op":"replace","path":"","value":""}')
ON_ERROR: list[dict[str, Any]] = [{"on_error": "stop"}, {"on_error": "skip"}]
LONGEST_FLOAT = 24  # of what repr() writes


def told(
    fragments: Iterable[str], *, append: bool = True, close: bool = False, **options: Any
) -> list[list[Operation]]:
    """The operations of each fragment."""
    parser, patcher = FragmentParser(Options(**options)), Patcher(append)
    calls = [patcher.ops(parser.feed(fragment)) for fragment in fragments]
    return [*calls, patcher.ops(parser.close())] if close else calls


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def steps_of(pointer: str) -> Steps:
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:])


def children(value: Any) -> Iterator[tuple[str, Any]]:
    """The values in a container, by what they are called in a pointer."""
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from ((str(index), item) for index, item in enumerate(value))


def containers(value: Any) -> Iterator[Any]:
    """All objects and arrays, the outermost first."""
    values = [value]
    while values:
        value = values.pop()
        if isinstance(value, (dict, list)):
            yield value
            values += [child for _, child in children(value)]


def assert_shared(before: Any, after: Any, changed: set[Steps]) -> None:
    """Whatever has no changed place in it is the same object in both."""
    pairs: list[tuple[Steps, Any, Any]] = [((), before, after)]
    while pairs:
        steps, old, new = pairs.pop()
        if not any(place[: len(steps)] == steps for place in changed):
            assert old is new
        elif steps not in changed:
            found = dict(children(new))
            pairs += [((*steps, step), child, found[step]) for step, child in children(old)]


# ---- law 20 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("append", [True, False])
@given(st.data())
def test_law_20_operations_give_the_value_at_each_step(append: bool, data: st.DataObject) -> None:
    """Applied fragment by fragment, the operations give what the text so far means; the rest is shared."""
    text, fragments = data.draw(strategies.cut(strategies.documents(halves=True)))
    parser, patcher, added = FragmentParser(), Patcher(append), Fold()
    document: Any = MISSING
    shown: list[tuple[Any, Any]] = []
    prefix = ""
    for fragment in [*fragments, None]:
        events = parser.close() if fragment is None else parser.feed(fragment)
        patch = patcher.ops(events)
        document, older = apply(document, patch), document
        for event in events:
            added.add(event)
        prefix += fragment or ""
        expected = added.values[-1] if added.values else MISSING
        assert same(document, expected)
        if fragment is not None and len(text) < 200:
            assert same(document, oracle.read(prefix).value)
        assert_shared(older, document, {steps_of(operation["path"]) for operation in patch})
        if document is not MISSING:
            shown.append((document, copy.deepcopy(document)))
    assert all(same(given_out, kept) for given_out, kept in shown), "a document once given out never changes"
    assert same(document, oracle.read(text).final)


@given(strategies.cut(strategies.documents(halves=True)))
def test_law_20_size_of_operations(case: tuple[str, list[str]]) -> None:
    """With append: an operation for each new node and one for each call at most, and their values are the text."""
    text, fragments = case
    parser, patcher = FragmentParser(), Patcher(append=True)
    patch: list[Operation] = []
    numbers = 0
    for fragment in [*fragments, None]:
        events = parser.close() if fragment is None else parser.feed(fragment)
        part = patcher.ops(events)
        starts = {e.node_id for e in events if e.kind.startswith("start") or e.kind is Kind.COMPLETE_NUMBER}
        nodes = starts | {e.node_id for e in events if e.kind in {Kind.COMPLETE_BOOLEAN, Kind.COMPLETE_NULL}}
        assert len([operation for operation in part if operation["op"] == "add"]) <= len(nodes)
        assert [operation["op"] for operation in part if operation["op"] != "add"] in ([], ["append"])
        numbers += len([e for e in events if e.kind is Kind.COMPLETE_NUMBER])
        patch += part
    values = sum(len(compact(operation["value"])) for operation in patch)
    assert values <= len(text) + LONGEST_FLOAT * numbers + 2 * len(patch)
    total = sum(len(compact({**operation, "path": ""})) + len(operation["path"]) for operation in patch)
    assert total <= sum(CONSTANT + len(operation["path"]) for operation in patch) + len(text) + LONGEST_FLOAT * numbers


def test_law_20_size_of_operations_doubles_with_the_text() -> None:
    """For one length of fragments, twice the text makes twice the operations; without append, the square."""

    def size(count: int, *, append: bool) -> int:
        fragments = ['{"rows": ["', *["word"] * count, '", ', *['{"a": 1}, '] * count, "null]}"]
        return sum(len(compact(part)) for part in told(fragments, append=append))

    assert 1.9 < size(400, append=True) / size(200, append=True) < 2.1
    assert size(4000, append=False) / size(2000, append=False) > 3


@given(st.data())
def test_law_20_holds_where_the_text_is_broken(data: st.DataObject) -> None:
    """Broken texts too: a string that an error cut short stays, and is removed as soon as reading goes on."""
    _, fragments = data.draw(strategies.cut(strategies.broken_documents(halves=True)))
    append, on_error = data.draw(st.booleans()), data.draw(st.sampled_from(ON_ERROR))
    parser, patcher = FragmentParser(Options(**on_error)), Patcher(append)
    document: Any = MISSING
    events: list[Event] = []
    for fragment in [*fragments, None]:
        news = parser.close() if fragment is None else parser.feed(fragment)
        events += news
        document = apply(document, patcher.ops(news))
        values = fold(events)
        assert same(document, values[-1] if values else MISSING)


@given(strategies.cut(strategies.documents()), st.booleans())
def test_log_in_one_patch(case: tuple[str, list[str]], append: bool) -> None:
    """All operations of a stream, applied as one patch, give the document as well."""
    text, fragments = case
    log = [operation for part in told(fragments, append=append, close=True) for operation in part]
    assert same(apply(None, log), oracle.read(text).final)
    assert same(apply(None, json.loads(json.dumps(log))), oracle.read(text).final)


# ---- events to operations ----------------------------------------------------------------------------


def test_whole_document_is_one_operation() -> None:
    """What began and ended in one call is told at once, by what added it."""
    text = '{"a": [1, {"b": "x", "c": ""}], "d": null, "a": true}'
    assert told([text]) == [[{"op": "add", "path": "", "value": {"a": True, "d": None}}]]
    assert ops(FragmentParser().feed(text)) == told([text])[0]
    assert told(['{"a": [', '[[1], "x"], [', "]]}"]) == [
        [{"op": "add", "path": "", "value": {"a": []}}],
        [{"op": "add", "path": "/a/0", "value": [[1], "x"]}, {"op": "add", "path": "/a/1", "value": []}],
        [],
    ]


STRING = ['["', "a", "b\\n", '\\n", "c"', "]"]


def test_string_growth_as_append() -> None:
    """With append, an open string is told by what is new in it."""
    assert told(STRING, append=True) == [
        [{"op": "add", "path": "", "value": [""]}],
        [{"op": "append", "path": "/0", "value": "a"}],
        [{"op": "append", "path": "/0", "value": "b\n"}],
        [{"op": "append", "path": "/0", "value": "\n"}, {"op": "add", "path": "/1", "value": "c"}],
        [],
    ]


def test_string_growth_as_replace() -> None:
    """Without append, an open string is told whole each time, in the six operations of the RFC."""
    assert told(STRING, append=False) == [
        [{"op": "add", "path": "", "value": [""]}],
        [{"op": "replace", "path": "/0", "value": "a"}],
        [{"op": "replace", "path": "/0", "value": "ab\n"}],
        [{"op": "replace", "path": "/0", "value": "ab\n\n"}, {"op": "add", "path": "/1", "value": "c"}],
        [],
    ]
    assert ops(FragmentParser().feed('"ab'), append=False) == [{"op": "add", "path": "", "value": "ab"}]


def test_nothing_new_is_no_operation() -> None:
    """Ends, white space and tokens in flight change nothing, so they tell nothing."""
    assert told(["[", " ", "tru", "e ", ' , "', '"', "]", ""])[1:] == [
        [],
        [],
        [{"op": "add", "path": "/0", "value": True}],
        [{"op": "add", "path": "/1", "value": ""}],
        [],
        [],
        [],
    ]
    assert ops([]) == []


def test_root_string_and_number() -> None:
    """A root is added at the empty pointer, a number at the root by close()."""
    assert told(['"a', 'b"'], close=True) == [
        [{"op": "add", "path": "", "value": "a"}],
        [{"op": "append", "path": "", "value": "b"}],
        [],
    ]
    assert told(["1", "2"], close=True) == [[], [], [{"op": "add", "path": "", "value": 12}]]
    assert told(["1.50"], close=True, floats="decimal")[1][0]["value"] == Decimal("1.50")


def test_pointers_are_escaped() -> None:
    """Keys may be anything; operations name them as RFC 6901 does."""
    patch = [operation for part in told(["{", '"~/": {', '"": {', '"~1": 1, "0": 2}}}']) for operation in part]
    assert [operation["path"] for operation in patch] == ["", "/~0~1", "/~0~1/", "/~0~1//~01", "/~0~1//0"]
    assert apply(None, patch) == {"~/": {"": {"~1": 1, "0": 2}}}


def test_duplicate_key_replaces() -> None:
    """A key that comes again is added again, which replaces it and keeps its place."""
    assert told(['{"a": "x", "b": 1', ', "a": "y']) == [
        [{"op": "add", "path": "", "value": {"a": "x"}}],
        [{"op": "add", "path": "/b", "value": 1}, {"op": "add", "path": "/a", "value": "y"}],
    ]
    assert list(apply({"a": "x", "b": 1}, [{"op": "add", "path": "/a", "value": "y"}])) == ["a", "b"]


def test_several_roots() -> None:
    """Each root takes the place of the one before it."""
    calls = told(['{"a": "x"} [', '1] "s', '"'], multiple=True)
    assert calls == [
        [{"op": "add", "path": "", "value": {"a": "x"}}, {"op": "add", "path": "", "value": []}],
        [{"op": "add", "path": "/0", "value": 1}, {"op": "add", "path": "", "value": "s"}],
        [],
    ]


def test_broken_string_stays() -> None:
    """Where an error ends the reading, the open string keeps what it had."""
    assert told(['["a\\q", 1]'], close=True) == [[{"op": "add", "path": "", "value": ["a"]}], []]
    assert told(['["a', 'b\n"]']) == [
        [{"op": "add", "path": "", "value": ["a"]}],
        [{"op": "append", "path": "/0", "value": "b"}],
    ]


def test_broken_string_is_removed_when_reading_goes_on() -> None:
    """Where errors are skipped, the next event tells that the string is gone, in this call or a later one."""
    assert told(['["a\\q", 1', "]"], on_error="skip")[0] == [{"op": "add", "path": "", "value": ["a"]}]
    assert told(['["a\\q', '", 1', "]"], on_error="skip") == [
        [{"op": "add", "path": "", "value": ["a"]}],
        [],
        [{"op": "remove", "path": "/0"}, {"op": "add", "path": "/0", "value": 1}],
    ]
    assert told(['{"a": "b\\q", "c": {"d": "\\q"}}'], on_error="skip") == [
        [{"op": "add", "path": "", "value": {"c": {}}}]
    ]
    assert told(["{", '"a": "b\\q", "c": "d"}'], on_error="skip")[1] == [
        {"op": "add", "path": "/a", "value": "b"},
        {"op": "remove", "path": "/a"},
        {"op": "add", "path": "/c", "value": "d"},
    ]


def test_broken_member_takes_the_older_one_along() -> None:
    """A duplicate key whose string is broken leaves no member: the older value was gone when the string began."""
    for fragments in (
        ['{"a": 1, "a": "\\q", "b": 2}'],
        ['{"a": 1, ', '"a": "\\q", "b": 2}'],
        ['{"a": 1, "a": "', '\\q"}'],
    ):
        document: Any = None
        for patch in told(fragments, on_error="skip"):
            document = apply(document, patch)
        assert "a" not in document


def test_broken_root_stays_until_the_next_root() -> None:
    """There is no document without a value, so a root string is not removed."""
    assert told(['"a\\q"\n', "[]"], on_error="skip", multiple=True) == [
        [{"op": "add", "path": "", "value": "a"}],
        [{"op": "add", "path": "", "value": []}],
    ]


def test_whole_strings_without_partial_ones() -> None:
    """Whoever leaves out partial_string gets whole strings: complete_string says what was not told."""
    fragments = ['["a', "b", 'c", "', 'd"]']
    parser, patcher = FragmentParser(), Patcher()
    calls = [
        patcher.ops([event for event in parser.feed(fragment) if event.kind is not Kind.PARTIAL_STRING])
        for fragment in fragments
    ]
    assert calls == [
        [{"op": "add", "path": "", "value": [""]}],
        [],
        [{"op": "replace", "path": "/0", "value": "abc"}, {"op": "add", "path": "/1", "value": ""}],
        [{"op": "replace", "path": "/1", "value": "d"}],
    ]


@pytest.mark.parametrize("append", [True, False])
def test_string_that_did_not_start(append: bool) -> None:
    """A Patcher that comes into the middle of a string does not guess what was before."""
    path = Path.of("a")
    for kind in (Kind.PARTIAL_STRING, Kind.COMPLETE_STRING):
        patcher = Patcher(append)
        with pytest.raises(StateError):
            patcher.ops([Event(kind, path, "x", 3)])
        patcher.ops([Event(Kind.START_STRING, path, None, 2)])
        with pytest.raises(StateError):
            patcher.ops([Event(kind, path, "x", 3)])


@pytest.mark.parametrize("append", [True, False])
def test_operations_given_out_do_not_change(append: bool) -> None:
    """What a call returned is the caller's: no later call grows it."""
    parser, patcher = FragmentParser(), Patcher(append)
    given_out = [patcher.ops(parser.feed(char)) for char in '{"a": ["b", {"c": "de"}], "f": [[]]}']
    assert given_out == told('{"a": ["b", {"c": "de"}], "f": [[]]}', append=append)
    first = given_out[0]
    assert first == [{"op": "add", "path": "", "value": {}}]


# ---- operations to documents: RFC 6902 ---------------------------------------------------------------

Case = tuple[Any, list[Any], Any]


def add(path: str, value: Any) -> Operation:
    return {"op": "add", "path": path, "value": value}


def remove(path: str) -> Operation:
    return {"op": "remove", "path": path}


def replace(path: str, value: Any) -> Operation:
    return {"op": "replace", "path": path, "value": value}


def move(origin: str, path: str) -> Operation:
    return {"op": "move", "from": origin, "path": path}


def copied(origin: str, path: str) -> Operation:
    return {"op": "copy", "from": origin, "path": path}


def check(path: str, value: Any) -> Operation:
    return {"op": "test", "path": path, "value": value}


def append_to(path: str, value: Any) -> Operation:
    return {"op": "append", "path": path, "value": value}


SHARED: dict[str, Any] = {"x": {}}

FITTING: dict[str, Case] = {
    "add a member": ({"city": "Porto"}, [add("/days", 3)], {"city": "Porto", "days": 3}),
    "add a member that is there: it is replaced": ({"a": 1, "b": 2}, [add("/a", [])], {"a": [], "b": 2}),
    "add an item: those after it move up": (["a", "c"], [add("/1", "b")], ["a", "b", "c"]),
    "add an item at the front": ([1], [add("/0", 0)], [0, 1]),
    "add an item at the end, by its index": ([1], [add("/1", 2)], [1, 2]),
    "add an item at the end, by the hyphen": ({"a": [1]}, [add("/a/-", [2, 3])], {"a": [1, [2, 3]]}),
    "add an item to nothing": ([], [add("/0", None)], [None]),
    "add a member in depth": ({"a": [{"b": {}}]}, [add("/a/0/b/c", {"d": 1})], {"a": [{"b": {"c": {"d": 1}}}]}),
    "add a null: it is a value": ({}, [add("/a", None)], {"a": None}),
    "add the whole document": ({"a": 1}, [add("", [2])], [2]),
    "add to no document": (None, [add("", {}), add("/a", "")], {"a": ""}),
    "remove a member": ({"a": 1, "b": 2}, [remove("/a")], {"b": 2}),
    "remove an item: those after it move down": ([1, 2, 3], [remove("/1")], [1, 3]),
    "replace a member, in its place": ({"a": 1, "b": 2}, [replace("/a", "x")], {"a": "x", "b": 2}),
    "replace an item": ([1, 2], [replace("/1", {})], [1, {}]),
    "replace the whole document": ([1], [replace("", "x")], "x"),
    "move a member": ({"a": {"x": 1}, "b": {}}, [move("/a/x", "/b/y")], {"a": {}, "b": {"y": 1}}),
    "move a member onto another": ({"a": 1, "b": 2}, [move("/a", "/b")], {"b": 1}),
    "move an item up": (["a", "b", "c", "d"], [move("/1", "/3")], ["a", "c", "d", "b"]),
    "move an item down": (["a", "b", "c"], [move("/2", "/0")], ["c", "a", "b"]),
    "move an item to the end": (["a", "b"], [move("/0", "/-")], ["b", "a"]),
    "move an item out": ({"a": [1, 2]}, [move("/a/0", "/b")], {"a": [2], "b": 1}),
    "move a value to where it is": ({"a": 1, "b": 2}, [move("/a", "/a")], {"a": 1, "b": 2}),
    "move the document to where it is": ([1], [move("", "")], [1]),
    "move a part to the root": ({"a": {"b": 1}}, [move("/a", "")], {"b": 1}),
    "move to a key that starts alike": ({"a": 1}, [move("/a", "/ab")], {"ab": 1}),
    "copy a member": ({"a": {"x": 1}}, [copied("/a", "/b")], {"a": {"x": 1}, "b": {"x": 1}}),
    "copy an item among items": ([1, 2], [copied("/1", "/0")], [2, 1, 2]),
    "copy a value into itself": (
        {"a": {}},
        [copied("/a", "/a/a"), copied("", "/b")],
        {"a": {"a": {}}, "b": {"a": {"a": {}}}},
    ),
    "a copy does not follow its origin": (
        {"a": {"x": [1]}},
        [add("/a/x/-", 2), copied("/a", "/b"), add("/a/x/-", 3), add("/b/x/-", 4), remove("/a/x/0")],
        {"a": {"x": [2, 3]}, "b": {"x": [1, 2, 4]}},
    ),
    "a value that was added twice is two": (
        {},
        [add("/a", SHARED), add("/b", SHARED), add("/a/x/y", 1)],
        {"a": {"x": {"y": 1}}, "b": {"x": {}}},
    ),
    "test strings, arrays and literals": (
        {"a": ["x", None, True]},
        [check("/a", ["x", None, True])],
        {"a": ["x", None, True]},
    ),
    "test objects, in any order": ({"a": 1, "b": [2]}, [check("", {"b": [2], "a": 1})], {"a": 1, "b": [2]}),
    "test numbers by their worth": ([1, 10.0, 0], [check("/0", 1.0), check("", [1.0, 10, -0.0])], [1, 10.0, 0]),
    "test decimals": ([Decimal("1.50")], [check("/0", 1.5)], [Decimal("1.50")]),
    "test the hyphen and the digit as keys": (
        {"-": 1, "0": 2, "01": 3},
        [check("/-", 1), check("/01", 3), remove("/0")],
        {"-": 1, "01": 3},
    ),
    "test between changes": ({"a": 1}, [replace("/a", 2), check("/a", 2), remove("/a"), check("", {})], {}),
    "further members of an operation mean nothing": ({}, [{**add("/a", 1), "xyz": [2], "from": 5}], {"a": 1}),
    "the last of two equal members counts": (
        {"a": 1},
        json.loads('[{"op":"add","path":"/b","value":2,"op":"remove","path":"/a"}]'),
        {},
    ),
    "escapes in pointers": (
        {"/": 9, "~1": 10},
        [check("/~01", 10), check("/~1", 9), add("/~0~1~00", 1)],
        {"/": 9, "~1": 10, "~/~0": 1},
    ),
    "odd keys in pointers": (
        {"": {"": 1}, " ": 2, "é😀": 3},
        [check("//", 1), check("/ ", 2), remove("/é😀")],
        {"": {"": 1}, " ": 2},
    ),
    "no operation": ([1], [], [1]),
    "append to a member": ({"a": "x"}, [append_to("/a", "y"), append_to("/a", "")], {"a": "xy"}),
    "append to an item": (["", ["x"]], [append_to("/1/0", "y"), append_to("/0", "z")], ["z", ["xy"]]),
    "append to the document": ("", [append_to("", "x"), append_to("", "y")], "xy"),
    "append before other operations": (
        ["a"],
        [
            append_to("/0", "b"),
            check("/0", "ab"),
            append_to("/0", "c"),
            add("/0", "z"),
            append_to("/0", "y"),
            append_to("/1", "d"),
        ],
        ["zy", "abcd"],
    ),
}


@pytest.mark.parametrize("title", FITTING)
def test_patch_that_fits(title: str) -> None:
    """Every operation does what RFC 6902 says, as a list or a tuple, and the document given stays as it was."""
    document, patch, expected = FITTING[title]
    document_before, patch_before = copy.deepcopy((document, patch))
    assert same(apply(document, patch), expected)
    assert same(apply(document, tuple(patch)), expected)
    assert same(document, document_before)
    assert patch == patch_before


DOCUMENT = {"a": [1, "x", {"b": None}], "s": "text", "n": 1}

MISFITS: dict[str, tuple[Any, str, str | None]] = {
    "not an object": ("add", "an operation must be an object", None),
    "a list": ([], "an operation must be an object", None),
    "no operation named": ({"path": "/a"}, "unknown operation", "/a"),
    "an operation of no patch": ({"op": "merge", "path": "/a"}, "unknown operation", "/a"),
    "an operation in capitals": ({"op": "ADD", "path": "/a", "value": 1}, "unknown operation", "/a"),
    "an operation that is no string": ({"op": ["add"], "path": "/a"}, "unknown operation", "/a"),
    "no path": ({"op": "add", "value": 1}, "'path' is missing or not a string", None),
    "a path that is no string": ({"op": "remove", "path": ["a"]}, "'path' is missing or not a string", None),
    "a path that is null": ({"op": "remove", "path": None}, "'path' is missing or not a string", None),
    "no origin to move": ({"op": "move", "path": "/a"}, "'from' is missing or not a string", None),
    "no origin to copy": ({"op": "copy", "path": "/a", "from": 0}, "'from' is missing or not a string", None),
    "nothing to add": ({"op": "add", "path": "/z"}, "'value' is missing", "/z"),
    "nothing to replace with": ({"op": "replace", "path": "/n"}, "'value' is missing", "/n"),
    "nothing to test against": ({"op": "test", "path": "/a/2/b"}, "'value' is missing", "/a/2/b"),
    "nothing to append": ({"op": "append", "path": "/s"}, "'value' is missing", "/s"),
    "a pointer without a slash": (remove("a"), "a pointer must be empty or start with '/'", "a"),
    "a pointer as a fragment": (remove("#/a"), "a pointer must be empty or start with '/'", "#/a"),
    "an escape that is none": (remove("/~2"), "'~' in a pointer must be followed by 0 or 1", "/~2"),
    "an escape cut short": (add("/~", 1), "'~' in a pointer must be followed by 0 or 1", "/~"),
    "a bad escape in the origin": (move("/~a", "/b"), "'~' in a pointer must be followed by 0 or 1", "/~a"),
    "add in a container that is not there": (add("/z/b", 1), "no such member", "/z/b"),
    "add in a scalar": (add("/n/b", 1), "not an object or an array", "/n/b"),
    "add in a string": (add("/s/0", "x"), "not an object or an array", "/s/0"),
    "add in a null": (add("/a/2/b/c", 1), "not an object or an array", "/a/2/b/c"),
    "add beyond the end": (add("/a/4", 1), "no such item", "/a/4"),
    "add at a key of an array": (add("/a/x", 1), "invalid array index", "/a/x"),
    "add at the empty key of an array": (add("/a/", 1), "invalid array index", "/a/"),
    "an index with a zero before it": (add("/a/01", 1), "invalid array index", "/a/01"),
    "an index of two zeros": (check("/a/00", 1), "invalid array index", "/a/00"),
    "an index with a sign": (check("/a/-1", 1), "invalid array index", "/a/-1"),
    "an index with a plus": (check("/a/+1", 1), "invalid array index", "/a/+1"),
    "an index with a fraction": (check("/a/1.0", 1), "invalid array index", "/a/1.0"),
    "an index with a blank": (check("/a/1 ", 1), "invalid array index", "/a/1 "),
    "an index with a line end": (check("/a/1\n", 1), "invalid array index", "/a/1\n"),
    "an index in other digits": (check("/a/\u0661", 1), "invalid array index", "/a/\u0661"),
    "an index beyond all lists": (add("/a/" + "9" * 5000, 1), "no such item", "/a/" + "9" * 5000),
    "through the hyphen": (add("/a/-/b", 1), "no such item", "/a/-/b"),
    "remove at the hyphen": (remove("/a/-"), "no such item", "/a/-"),
    "remove what is not there": (remove("/z"), "no such member", "/z"),
    "remove an item that is not there": (remove("/a/3"), "no such item", "/a/3"),
    "remove the whole document": (remove(""), "cannot remove the whole document", ""),
    "replace what is not there": (replace("/z", 1), "no such member", "/z"),
    "replace an item that is not there": (replace("/a/3", 1), "no such item", "/a/3"),
    "replace at the hyphen": (replace("/a/-", 1), "no such item", "/a/-"),
    "replace in a scalar": (replace("/n/0", 1), "not an object or an array", "/n/0"),
    "move what is not there": (move("/z", "/n"), "no such member", "/z"),
    "move what is not there to where it is not": (move("/z", "/z"), "no such member", "/z"),
    "move to where nothing can be": (move("/n", "/z/b"), "no such member", "/z/b"),
    "move to where the removed one was counted": (move("/a/0", "/a/3"), "no such item", "/a/3"),
    "move a value into itself": (move("/a", "/a/2/b"), "cannot move a value into itself", "/a/2/b"),
    "move the document into itself": (move("", "/z"), "cannot move a value into itself", "/z"),
    "copy what is not there": (copied("/z", "/n"), "no such member", "/z"),
    "copy to where nothing can be": (copied("/n", "/s/0"), "not an object or an array", "/s/0"),
    "test another string": (check("/s", "Text"), "the test failed", "/s"),
    "test a string for a number": (check("/n", "1"), "the test failed", "/n"),
    "test a literal for a number": (check("/n", True), "the test failed", "/n"),
    "test a null for nothing": (check("/z", None), "no such member", "/z"),
    "test an array in another order": (check("/a", ["x", 1, {"b": None}]), "the test failed", "/a"),
    "test an array for a longer one": (check("/a", [1, "x", {"b": None}, 2]), "the test failed", "/a"),
    "test an object for another key": (check("/a/2", {"c": None}), "the test failed", "/a/2"),
    "test an object for more": (check("/a/2", {"b": None, "c": 1}), "the test failed", "/a/2"),
    "test an object for an array": (check("/a/2", []), "the test failed", "/a/2"),
    "test in depth": (check("", {**DOCUMENT, "a": [1, "x", {"b": False}]}), "the test failed", ""),
    "append to what is not there": (append_to("/z", "x"), "no such member", "/z"),
    "append to a number": (append_to("/n", "x"), "can only append to a string", "/n"),
    "append to an array": (append_to("/a", "x"), "can only append to a string", "/a"),
    "append a number": (append_to("/s", 1), "can only append a string", "/s"),
}


@pytest.mark.parametrize("title", MISFITS)
def test_patch_that_does_not_fit(title: str) -> None:
    """An operation that does not fit is told by its index, its place and the reason; nothing has happened."""
    operation, reason, pointer = MISFITS[title]
    document = copy.deepcopy(DOCUMENT)
    patch = [add("/new", {}), append_to("/s", "!"), add("/a/2/b", None), operation, remove("/new")]
    with pytest.raises(PatchError) as caught:
        apply(document, patch)
    assert (caught.value.reason, caught.value.index, caught.value.pointer) == (reason, 3, pointer)
    assert same(document, DOCUMENT)


@pytest.mark.parametrize("patch", [None, {}, {"op": "add"}, "add", 1, iter([])])
def test_patch_that_is_no_list(patch: Any) -> None:
    """A patch that is no list at all is refused as a whole."""
    with pytest.raises(PatchError) as caught:
        apply([1], patch)
    assert (str(caught.value), caught.value.index, caught.value.pointer) == (
        "a patch must be a list of operations",
        None,
        None,
    )


def test_error_is_data_and_one_line() -> None:
    """The message is made from the data; it shows the place, shortened, and no value."""
    error = PatchError("no such member", 4, "/a\nb/\ud83d")
    assert str(error) == r"no such member: operation 4, at '/a\nb/\ud83d'"
    assert str(PatchError("an operation must be an object", 0)) == "an operation must be an object: operation 0"
    assert len(str(PatchError("no such member", 4, "/key" * 1000))) < 200
    assert isinstance(error, UnspoolError)
    assert isinstance(error, ValueError)
    again = pickle.loads(pickle.dumps(error))
    assert (again.reason, again.index, again.pointer) == (error.reason, error.index, error.pointer)
    with pytest.raises(PatchError) as caught:
        apply({"password": "hunter2"}, [check("/password", "sesame")])
    assert str(caught.value) == "the test failed: operation 0, at '/password'"


# ---- sharing -----------------------------------------------------------------------------------------


def test_unchanged_parts_are_the_same_objects() -> None:
    """Only the containers on the way to the change are new."""
    before: dict[str, Any] = {"a": [[1], {"b": [2]}, [3]], "c": {"d": {}}}
    after = apply(before, [add("/a/1/x", 1)])
    assert after["c"] is before["c"]
    assert after["a"][0] is before["a"][0]
    assert after["a"][2] is before["a"][2]
    assert after["a"][1]["b"] is before["a"][1]["b"]
    assert after["a"][1] is not before["a"][1]
    assert apply(before, []) is before
    assert apply(before, [check("/c", {"d": {}}), move("/c/d", "/c/d")]) is before


def test_values_are_placed_as_they_are() -> None:
    """What is added, moved or copied is not copied in turn; and it is not written to either."""
    value: dict[str, Any] = {"x": []}
    before = {"a": {"y": [0]}}
    after = apply(before, [add("/b", value), copied("/a", "/c"), move("/a", "/d")])
    assert after["b"] is value
    assert after["c"] is after["d"] is before["a"]
    later = apply(before, [add("/b", value), add("/b/x/-", 1), copied("/a", "/c"), add("/c/y/-", 1)])
    assert later == {"a": {"y": [0]}, "b": {"x": [1]}, "c": {"y": [0, 1]}}
    assert value == {"x": []}


class Counting(list[Any]):
    """A list that counts how often it is copied."""

    copies = 0

    def copy(self) -> Counting:
        Counting.copies += 1
        return Counting(self)


def test_each_container_is_copied_once_in_a_call() -> None:
    """However many operations write to an array, and copy other values about, it is copied once."""
    Counting.copies = 0
    before = {"rows": Counting([{}]), "other": Counting(), "row": [0]}
    patch = [add("/rows/-", index) for index in range(50)] + [copied("/row", "/rows/0"), copied("/rows/1", "/rows/2")]
    after = apply(before, [*patch, *patch, add("/rows/0/-", 1)])
    assert len(after["rows"]) == 105
    assert (after["rows"][0], after["row"]) == ([0, 1], [0])
    assert Counting.copies == 1


def test_new_containers_for_each_fragment() -> None:
    """A fragment makes as many containers as there are on the way to what it changes, and those it brings."""
    parser, patcher = FragmentParser(), Patcher(append=True)
    document: Any = None
    kept: list[Any] = []  # so that no id is used twice
    for fragment in ['{"a": [{"b": [', *["1, "] * 30, '"', *["text"] * 30, '"]}, {"c": ', '{"d": []}', "}]}"]:
        events = parser.feed(fragment)
        known = {id(container) for container in containers(document)}
        document = apply(document, patcher.ops(events))
        kept.append(document)
        new = [container for container in containers(document) if id(container) not in known]
        depth = max((len(event.path) for event in events), default=0)
        assert len(new) <= depth + len([event for event in events if event.kind.startswith("start")])
    assert document == {"a": [{"b": [*[1] * 30, "text" * 30]}, {"c": {"d": []}}]}


# ---- foreign patches ---------------------------------------------------------------------------------

JUNK = ["", "/", "/-", "/0", "/00", "/a", "/a/b", "/~0~1", "/~2", "a", "/0/0/0", "/a/-", "//", "/\ud83d"]
NAMES = ["add", "remove", "replace", "move", "copy", "test", "append"]


def places(document: Any) -> dict[str, Any]:
    """Everything in a document, by its pointer."""
    found: dict[str, Any] = {}
    values = [("", document)]
    while values:
        pointer, value = values.pop()
        found[pointer] = value
        values += [(f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}", item) for key, item in children(value)]
    return found


def outcome(document: Any, patch: list[Any]) -> tuple[Any, PatchError | None]:
    try:
        return apply(document, patch), None
    except PatchError as error:
        return MISSING, error


def foreign(*, junk: bool) -> SearchStrategy[tuple[Any, list[Any]]]:
    """A document and a patch that was made with it in mind, more or less; `junk` has worse than that in it."""
    return st.builds(
        lambda value, data: make_patch({"list": [value, []], "text": ""}, Tape(data), junk),
        strategies.values(small=True),
        st.binary(min_size=40, max_size=160),
    )


def make_patch(document: Any, tape: Tape, junk: bool) -> tuple[Any, list[Any]]:
    patch: list[Any] = []
    latest = document
    for _ in range(1 + tape.pick(12)):
        known = places(latest)
        if len(known) > 300:
            break
        operation = make_operation(known, tape)
        result, error = outcome(latest, [operation])
        latest = result if error is None else latest
        patch.append(spoil(operation, tape) if junk and tape.pick(4) == 3 else operation)
    return document, patch


def make_operation(known: dict[str, Any], tape: Tape) -> Operation:
    name, path = tape.choose(NAMES), make_pointer(known, tape)
    value = tape.choose([0, "x", None, [], {"a": [1]}, known[""], tape.choose(list(known.values()))])
    if name == "test" and path in known and tape.pick(4) < 3:
        value = copy.deepcopy(known[path])
    if name == "append" and tape.pick(4) < 3:
        path, value = tape.choose([place for place, found in known.items() if isinstance(found, str)] or [""]), "x"
    return {"op": name, "path": path, "from": make_pointer(known, tape), "value": value}


def make_pointer(known: dict[str, Any], tape: Tape) -> Any:
    way = tape.pick(8)
    if way == 7:
        return tape.choose(JUNK)
    if way < 4:
        return tape.choose(list(known))
    spaces = [place for place, found in known.items() if isinstance(found, (dict, list))] or [""]
    return f"{tape.choose(spaces)}/{tape.choose(['-', '0', '1', 'a', '', '~0'])}"


def spoil(operation: Operation, tape: Tape) -> Any:
    member = tape.choose(["op", "path", "from", "value"])
    without = {key: value for key, value in operation.items() if key != member}
    return tape.choose(
        [None, 1, "add", [operation], {}, without, without, {**without, member: tape.choose([None, 1, [], "", "x"])}]
    )


@given(foreign(junk=True))
def test_foreign_patch_fits_or_is_refused(case: tuple[Any, Any]) -> None:
    """Whatever a patch is, it gives a document or a PatchError, and changes neither what was given nor itself."""
    document, patch = case
    kept = copy.deepcopy(case)
    result, error = outcome(document, patch)
    assert same(list(case), list(kept))
    if error is None:
        written = copy.deepcopy(result)
        apply(result, [add("", None)])
        outcome(result, patch)
        assert same(result, written)
    else:
        assert error.index in range(len(patch))
        assert str(error).count("\n") == 0


@given(st.data())
def test_foreign_patch_equals_its_operations_one_by_one(data: st.DataObject) -> None:
    """A patch does what its operations do one after another, each on a copy of its own: nothing shared shows."""
    document, candidates = data.draw(foreign(junk=False))
    model, patch = copy.deepcopy(document), []
    for operation in candidates:
        result, error = outcome(model, [operation])
        if error is None:
            patch.append(operation)
            model = copy.deepcopy(result)
        else:
            with pytest.raises(PatchError) as caught:
                apply(document, [*patch, operation])
            assert (caught.value.reason, caught.value.pointer) == (error.reason, error.pointer)
            assert caught.value.index == len(patch)
    changed = {steps_of(operation[member]) for operation in patch for member in ("path", "from")}
    result = apply(document, patch)
    assert same(result, model)
    if all(operation["op"] in {"replace", "test", "append"} for operation in patch):
        assert_shared(document, result, changed)


def test_generator_reaches_every_operation_that_fits() -> None:
    """Enough of the patches fit: each operation is carried out, and refused, many times."""
    carried_out: Counter[str] = Counter()
    refused: Counter[str] = Counter()

    @settings(derandomize=True, max_examples=200, phases=[Phase.generate])
    @given(foreign(junk=False))
    def collect(case: tuple[Any, list[Any]]) -> None:
        document, patch = case
        for operation in patch:
            _, error = outcome(document, [operation])
            (carried_out if error is None else refused)[operation["op"]] += 1

    collect()
    assert min(carried_out[name] for name in NAMES) > 10, carried_out
    assert min(refused[name] for name in NAMES) > 10, refused


# ---- cost --------------------------------------------------------------------------------------------


def test_deep_documents() -> None:
    """Nothing recurses: pointers, comparisons and copies are as deep as the document is."""
    depth = 5000
    deep: Any = []
    for _ in range(depth):
        deep = [deep]
    bottom = "/0" * depth
    assert apply(deep, [check("", deep), check(bottom, [])]) is deep
    after = apply(
        deep, [add(bottom + "/-", "x"), copied("/0", "/-"), add(bottom + "/-", "y"), check(bottom, ["x", "y"])]
    )
    assert outcome(after, [check("/1" + "/0" * (depth - 1), ["x"])])[1] is None
    patch = [copied("", "/0")] * depth
    assert outcome([None], patch)[1] is None


LOGS: dict[str, Callable[[int], list[Operation]]] = {
    "one long string": lambda n: [add("", {"s": ""}), *[append_to("/s", "word " * 8)] * n],
    "a wide array": lambda n: [add("", [])] + [add(f"/{index}", index) for index in range(n)],
    "a wide object": lambda n: [add("", {})] + [add(f"/k{index}", {"v": ""}) for index in range(n)],
    "rows that grow": lambda n: (
        [add("", [])] + [o for i in range(n // 2) for o in (add("/-", ""), append_to(f"/{i}", "x"))]
    ),
    "copies in a wide array": lambda n: [add("", [[1]] * n), *[copied("/0", "/-")] * n],
}


@pytest.mark.long
@pytest.mark.parametrize("shape", LOGS)
def test_a_long_patch_takes_linear_time(shape: str) -> None:
    """Twice the operations in one call take about twice the time."""

    def seconds(count: int) -> float:
        patch = LOGS[shape](count)
        best = float("inf")
        for _ in range(5):
            start = time.perf_counter()
            apply(None, patch)
            best = min(best, time.perf_counter() - start)
        return best

    assert seconds(32_000) / seconds(8_000) < 8

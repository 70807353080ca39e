"""select.py: what a pattern stands for, what it refuses, and that a selector agrees with it over streams."""

from __future__ import annotations

import copy
import json
import pickle
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool._errors import Code, JSONSyntaxError, PatternError, Position
from unspool._events import Event, Kind
from unspool._path import ROOT, Path
from unspool.select import MAX_CHARS, MAX_SEGMENTS, Pattern, Selector, compile, matches  # noqa: A004

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unspool._path import Step

YES, NO = True, False

TABLE: list[tuple[str, tuple[Step, ...], bool]] = [
    # the root
    ("$", (), YES),
    ("$", ("a",), NO),
    ("$", (0,), NO),
    # a name takes one key, the whole of it
    ("$.a", ("a",), YES),
    ("$.a", (), NO),
    ("$.a", ("b",), NO),
    ("$.a", ("A",), NO),
    ("$.a", ("ab",), NO),
    ("$.a", ("a", "a"), NO),
    ("$.a", ("a", 0), NO),
    ("$.a.b", ("a", "b"), YES),
    ("$.a.b", ("b", "a"), NO),
    ("$.a.b", ("a",), NO),
    ("$._a1", ("_a1",), YES),
    ("$.true", ("true",), YES),
    ("$.größe", ("größe",), YES),
    ("$.日本", ("日本",), YES),
    ("$.☺", ("☺",), YES),
    ("$.😀x", ("😀x",), YES),
    # a key in quotes may be anything
    ('$["a"]', ("a",), YES),
    ("$['a']", ("a",), YES),
    ('$["a"].b["c"]', ("a", "b", "c"), YES),
    ('$[""]', ("",), YES),
    ("$['']", ("",), YES),
    ('$[""]', (), NO),
    ('$["."]', (".",), YES),
    ('$[".."]', ("..",), YES),
    ('$["a.b"]', ("a.b",), YES),
    ('$["a.b"]', ("a", "b"), NO),
    ("$.a.b", ("a.b",), NO),
    ('$["[0]"]', ("[0]",), YES),
    ('$["[0]"]', (0,), NO),
    ('$["*"]', ("*",), YES),
    ('$["*"]', ("a",), NO),
    ('$["a,b"]', ("a,b",), YES),
    ('$["a,b"]', ("a",), NO),
    ('$["]"]', ("]",), YES),
    ('$["$"]', ("$",), YES),
    ('$["?"]', ("?",), YES),
    ('$["-1"]', ("-1",), YES),
    ('$["0:2"]', ("0:2",), YES),
    ('$["0:2"]', (1,), NO),
    ('$["a b"]', ("a b",), YES),
    ('$[" a"]', ("a",), NO),
    ('$["☺"]', ("☺",), YES),
    # quotes and escapes in keys
    ('$["\'"]', ("'",), YES),
    ("$['\\'']", ("'",), YES),
    ("$['\"']", ('"',), YES),
    ('$["\\""]', ('"',), YES),
    ('$["\\\\"]', ("\\",), YES),
    ("$['\\\\']", ("\\",), YES),
    ('$["\\/"]', ("/",), YES),
    ('$["\\b\\f\\n\\r\\t"]', ("\b\f\n\r\t",), YES),
    ('$["\\u0041"]', ("A",), YES),
    ("$['\\u00e9']", ("é",), YES),
    ('$["\\u0000"]', ("\0",), YES),
    ('$["\\ud83d\\ude00"]', ("😀",), YES),
    ('$["e\\u0301"]', ("é",), NO),
    # an index takes an item of an array; a key of digits is not one
    ("$[0]", (0,), YES),
    ("$[0]", (1,), NO),
    ("$[0]", ("0",), NO),
    ('$["0"]', ("0",), YES),
    ('$["0"]', (0,), NO),
    ("$[10]", (10,), YES),
    ("$[1]", (10,), NO),
    ("$[123456789012345]", (123456789012345,), YES),
    ("$[0][1]", (0, 1), YES),
    ("$[0][1]", (1, 0), NO),
    # the wildcard takes one step of either kind
    ("$.*", ("a",), YES),
    ("$.*", (3,), YES),
    ("$.*", ("",), YES),
    ("$.*", (), NO),
    ("$.*", ("a", "b"), NO),
    ("$[*]", ("a",), YES),
    ("$[*]", (3,), YES),
    ("$.*.b", ("a", "b"), YES),
    ("$.*.b", ("b",), NO),
    ("$[*][*]", (0, "a"), YES),
    ("$.days[*].title", ("days", 4, "title"), YES),
    ("$.days[*].title", ("days", 4), NO),
    ("$.days[*].title", ("days", 4, "title", 0), NO),
    # a slice takes indices from start to before stop, by step; it takes no key
    ("$[0:10]", (0,), YES),
    ("$[0:10]", (9,), YES),
    ("$[0:10]", (10,), NO),
    ("$[2:4]", (1,), NO),
    ("$[2:4]", (2,), YES),
    ("$[2:4]", (4,), NO),
    ("$[2:]", (1,), NO),
    ("$[2:]", (2,), YES),
    ("$[2:]", (10**12,), YES),
    ("$[:2]", (0,), YES),
    ("$[:2]", (2,), NO),
    ("$[:]", (0,), YES),
    ("$[:]", ("a",), NO),
    ("$[::]", (7,), YES),
    ("$[::2]", (0,), YES),
    ("$[::2]", (1,), NO),
    ("$[::2]", (4,), YES),
    ("$[1::3]", (0,), NO),
    ("$[1::3]", (4,), YES),
    ("$[1::3]", (3,), NO),
    ("$[1:6:2]", (5,), YES),
    ("$[1:6:2]", (7,), NO),
    ("$[1:5:2]", (5,), NO),
    ("$[0:2:]", (1,), YES),
    ("$[0:0]", (0,), NO),
    ("$[3:1]", (2,), NO),
    ("$[0:2]", ("0",), NO),
    # a union takes what any of its choices takes
    ('$[0, 2, "a"]', (0,), YES),
    ('$[0, 2, "a"]', (1,), NO),
    ('$[0, 2, "a"]', (2,), YES),
    ('$[0, 2, "a"]', ("a",), YES),
    ('$[0, 2, "a"]', ("b",), NO),
    ("$['a',\"b\"]", ("b",), YES),
    ("$[0,*]", ("z",), YES),
    ("$[0:2,5,7:]", (1,), YES),
    ("$[0:2,5,7:]", (5,), YES),
    ("$[0:2,5,7:]", (6,), NO),
    ("$[0:2,5,7:]", (8,), YES),
    ("$[0,0]", (0,), YES),
    ("$['a','b']['a','b']", ("b", "a"), YES),
    ("$['a','b']['a','b']", ("b", "c"), NO),
    # descendants: one step or more, the last of which the segment takes
    ("$..a", ("a",), YES),
    ("$..a", ("x", 0, "a"), YES),
    ("$..a", ("a", "x"), NO),
    ("$..a", ("a", "x", "a"), YES),
    ("$..a", (), NO),
    ("$..*", (), NO),
    ("$..*", ("x",), YES),
    ("$..*", ("x", 0, "y"), YES),
    ("$..[*]", (0, 1, 2), YES),
    ("$..[0]", ("a", 0), YES),
    ("$..[0]", ("a", 1), NO),
    ("$..[0]", (0, 0), YES),
    ('$..["a.b"]', ("x", "a.b"), YES),
    ("$..['a','b',1:3]", ("x", 2), YES),
    ("$..['a','b',1:3]", ("x", 3), NO),
    ("$.a..b", ("a", "b"), YES),
    ("$.a..b", ("a", "x", "b"), YES),
    ("$.a..b", ("x", "a", "b"), NO),
    ("$..a.b", ("a", "b"), YES),
    ("$..a.b", ("a", "a", "b"), YES),
    ("$..a.b", ("a", "x", "b"), NO),
    ("$..a..b", ("x", "a", "x", "b"), YES),
    ("$..a..b", ("b", "a"), NO),
    ("$..a..a", ("a",), NO),
    ("$..a..a", ("a", "a"), YES),
    ("$..a[*]..b", ("a", "b"), NO),
    ("$..a[*]..b", ("a", 0, "b"), YES),
    ("$..*..*", ("a",), NO),
    ("$..*..*", ("a", "b"), YES),
    # blanks before segments and inside brackets
    ("$ .a", ("a",), YES),
    ("$\n .a\t[0]", ("a", 0), YES),
    ("$ ..a", ("x", "a"), YES),
    ('$[ 0 , "a" ,\r\n* ]', ("z",), YES),
    ("$[ 1 : 5 : 2 ]", (3,), YES),
    ("$[ 1 : 5 : 2 ]", (2,), NO),
    ("$[ : ]", (2,), YES),
    ("$[ 'a' ]", ("a",), YES),
]


@pytest.mark.parametrize(("pattern", "steps", "expected"), TABLE)
def test_table(pattern: str, steps: tuple[Step, ...], expected: bool) -> None:
    """A pattern matches exactly the paths that RFC 9535 gives it, however the path is handed over."""
    assert matches(pattern, steps) is expected
    assert matches(pattern, list(steps)) is expected
    assert matches(pattern, Path.of(*steps)) is expected
    assert compile(pattern).matches(Path.of(*steps)) is expected
    assert matches(compile(pattern), steps) is expected


FILTER = "filters [?...] need values that a stream does not have yet"
RELATIVE = "relative queries (@) are part of filters, which need values that a stream does not have yet"
NEGATIVE = "negative indices need the end of the array, which a stream does not have yet"
FUNCTION = "functions and scripts (...) need values that a stream does not have yet"
ZERO = "the step of a slice must not be 0"
FIRST = "a pattern must start with '$'"
SEGMENT = """expected '.', '..' or '[' (write keys with other characters as ["..."])"""
AFTER_DOT = """expected a name or '*' (write other keys as ["..."] and indices as [0])"""
AFTER_DOTS = "expected a name, '*' or '['"
CHOICE = "expected '*', an index, a slice or a key in quotes"
CLOSE = "expected ',' or ']'"

REFUSALS: list[tuple[str, str, int]] = [
    # other JSONPath, by name
    ("$[?@.a]", FILTER, 2),
    ("$.a[ ?(@.price < 10)]", FILTER, 5),
    ("$..[0, ?@.a == 1]", FILTER, 7),
    ("@", RELATIVE, 0),
    ("@.a", RELATIVE, 0),
    ("$[@.a]", RELATIVE, 2),
    ("$[-1]", NEGATIVE, 2),
    ("$[0, -2]", NEGATIVE, 5),
    ("$[-3:]", NEGATIVE, 2),
    ("$[:-1]", NEGATIVE, 3),
    ("$[1: -1]", NEGATIVE, 5),
    ("$[::-1]", NEGATIVE, 4),
    ("$[5:1:-2]", NEGATIVE, 6),
    ("$[-0]", NEGATIVE, 2),
    ("length($.a)", FUNCTION, 0),
    ("$.a.length()", FUNCTION, 10),
    ("$[length(@)]", FUNCTION, 2),
    ("$[(@.length - 1)]", FUNCTION, 2),
    ("$[::0]", ZERO, 2),
    ("$[0, 1:2:0]", ZERO, 5),
    # what is no JSONPath at all
    ("", FIRST, 0),
    ("a", FIRST, 0),
    (" $", FIRST, 0),
    (".a", FIRST, 0),
    ("$a", SEGMENT, 1),
    ("$ ", SEGMENT, 2),
    ("$.a ", SEGMENT, 4),
    ("$.a b", SEGMENT, 4),
    ("$*", SEGMENT, 1),
    ("$$", SEGMENT, 1),
    ("$.a]", SEGMENT, 3),
    ("$.a-b", SEGMENT, 3),
    ("$.a-1", SEGMENT, 3),
    ("$\u00a0.a", SEGMENT, 1),
    ("$.", AFTER_DOT, 2),
    ("$. a", AFTER_DOT, 2),
    ("$.0", AFTER_DOT, 2),
    ("$.-1", AFTER_DOT, 2),
    ("$.1a", AFTER_DOT, 2),
    ("$.[0]", AFTER_DOT, 2),
    ("$.'a'", AFTER_DOT, 2),
    ("$.\ud800", AFTER_DOT, 2),
    ("$..", AFTER_DOTS, 3),
    ("$...a", AFTER_DOTS, 3),
    ("$.. a", AFTER_DOTS, 3),
    ("$..1", AFTER_DOTS, 3),
    ("$[", CHOICE, 2),
    ("$[]", CHOICE, 2),
    ("$[ ]", CHOICE, 3),
    ("$[a]", CHOICE, 2),
    ("$[,0]", CHOICE, 2),
    ("$[0,]", CHOICE, 4),
    ("$[+1]", CHOICE, 2),
    ("$[.a]", CHOICE, 2),
    ("$[\u0661]", CHOICE, 2),
    ("$[0", CLOSE, 3),
    ("$[0 1]", CLOSE, 4),
    ("$[0:1:2:3]", CLOSE, 7),
    ("$[1.5]", CLOSE, 3),
    ("$[1e3]", CLOSE, 3),
    ("$[**]", CLOSE, 3),
    ("$['a'b]", CLOSE, 5),
    ("$[[0]]", CHOICE, 2),
]


@pytest.mark.parametrize(("pattern", "reason", "offset"), REFUSALS)
def test_refused_by_name(pattern: str, reason: str, offset: int) -> None:
    """What is outside the subset is refused when it is compiled, by name and with its offset."""
    with pytest.raises(PatternError) as caught:
        compile(pattern)
    assert str(caught.value) == f"{reason}, at offset {offset}"


@pytest.mark.parametrize(
    "pattern",
    [
        *["$[01]", "$[00]", "$[1:02]", "$[12345678901234567890]"],
        *['$["a]', "$['a", "$[\"a']", '$["', '$["\\', '$["a\nb"]'],
        *['$["\\x"]', '$["\\u12"]', '$["\\\'"]'],
    ],
)
def test_bad_keys_and_indices_are_refused(pattern: str) -> None:
    """Indices with leading zeros or without end, and keys with bad quotes or escapes, are refused with an offset."""
    with pytest.raises(PatternError, match=r"at offset [0-9]+"):
        compile(pattern)


def test_refused_wherever_a_pattern_is_taken() -> None:
    """`matches` and `Selector` refuse a bad pattern at once, before they look at any path."""
    with pytest.raises(PatternError, match="filters"):
        matches("$[?@]", ())
    with pytest.raises(PatternError, match="filters"):
        Selector("$[?@]")


def test_refused_again() -> None:
    """A refusal is not remembered as a success: the second time it is refused too."""
    for _ in range(2):
        with pytest.raises(PatternError):
            compile("$.refused[-1]")


def test_limits() -> None:
    """A pattern has at most 64 segments and 1000 characters; the last allowed one still works."""
    assert (MAX_SEGMENTS, MAX_CHARS) == (64, 1000)
    assert matches("$" + ".a" * 64, ["a"] * 64)
    with pytest.raises(PatternError, match="at most 64 segments, at offset 129"):
        compile("$" + ".a" * 65)
    name = "n" * 998
    assert matches("$." + name, [name])
    with pytest.raises(PatternError, match="at most 1000 characters"):
        compile("$.n" + name)


def test_pattern_is_a_value() -> None:
    """A pattern is equal, hashed, shown, copied and pickled by its text, and cannot be changed."""
    pattern = compile("$.days[*]")
    assert pattern is compile("$.days[*]")
    assert str(pattern) == pattern.text == "$.days[*]"
    assert repr(pattern) == "Pattern('$.days[*]')"
    fresh = Pattern("$.days[*]", 1, 0, 0, {}, {}, ())
    assert (pattern == fresh, hash(pattern) == hash(fresh)) == (True, True)
    assert pattern != compile("$.days")
    assert pattern != object()
    for twin in (pickle.loads(pickle.dumps(pattern)), copy.copy(pattern), copy.deepcopy(pattern)):
        assert twin == pattern
        assert twin.matches(("days", 1))


def test_path_as_text() -> None:
    """A path given as text is read as a path, not as a sequence of letters."""
    assert matches("$.days[*]", "$.days[0]")
    assert not matches("$.a.b", "$.ab")
    with pytest.raises(PatternError):
        matches("$.a.b", "a b")
    assert matches("$.a.b", "a.b")


def test_advance_ends_in_no_state() -> None:
    """Once no state is left, none comes back; a descendant segment keeps its state for ever."""
    child, descendant = compile("$.a.b"), compile("$..b")
    assert child.advance(1, "x") == 0
    assert child.advance(0, "a") == 0
    assert child.advance(child.advance(1, "a"), "b") == child.accepted
    assert descendant.advance(1, "x") == 1
    assert descendant.advance(1, "b") == 1 | descendant.accepted


# An oracle that shares nothing with the module: segments as data, and the definition by recursion.

Choice = str | int | tuple[int | None, int | None, int | None] | None
Segment = tuple[bool, list[Choice]]

few_keys = st.sampled_from(["a", "b", "0"])
odd_keys = st.sampled_from(["", ".", "a.b", "[0]", "'", '"', "\\", "\\'", "é", "☺", "*", "\n"])
keys = odd_keys | st.text(max_size=3)
few_indices = st.integers(0, 4)
bounds = st.none() | st.integers(0, 6)
slices = st.tuples(bounds, bounds, st.none() | st.integers(1, 3))
choices: st.SearchStrategy[Choice] = st.one_of(few_keys, few_keys, few_indices, st.none(), slices, keys)
segments = st.tuples(st.booleans(), st.lists(choices, min_size=1, max_size=3))
queries: st.SearchStrategy[list[Segment]] = st.lists(segments, max_size=5)
paths: st.SearchStrategy[list[Step]] = st.lists(few_keys | few_indices | keys, max_size=8)


def takes(choice: Choice, step: Step) -> bool:
    if choice is None:
        return True
    if isinstance(choice, tuple):
        # Python's own slices of a long enough list, rather than arithmetic.
        return isinstance(step, int) and step in list(range(20))[slice(*choice)]
    return type(choice) is type(step) and choice == step


def oracle(query: list[Segment], steps: list[Step]) -> bool:
    if not query:
        return not steps
    (descends, options), *rest = query
    reach = range(len(steps)) if descends else range(min(1, len(steps)))
    return any(any(takes(option, steps[at]) for option in options) and oracle(rest, steps[at + 1 :]) for at in reach)


def written(query: list[Segment], draw: st.DrawFn) -> str:
    """One of the many ways to write the query."""
    text = "$"
    for descends, options in query:
        text += draw(st.sampled_from(["", "", " ", "\n\t"])) + (".." if descends else "")
        only = options[0] if len(options) == 1 else 0
        dotted = only is None or (isinstance(only, str) and only.isidentifier())
        if dotted and draw(st.booleans()):
            text += ("" if descends else ".") + ("*" if only is None else str(only))
        else:
            blank = draw(st.sampled_from(["", " "]))
            text += "[" + ",".join(blank + written_choice(option, draw) + blank for option in options) + "]"
    return text


def written_choice(choice: Choice, draw: st.DrawFn) -> str:
    if choice is None:
        return "*"
    if isinstance(choice, int):
        return str(choice)
    if isinstance(choice, tuple):
        start, stop, step = ("" if bound is None else str(bound) for bound in choice)
        return f"{start}:{stop}" if not step and draw(st.booleans()) else f"{start}:{stop}:{step}"
    quoted = json.dumps(choice, ensure_ascii=draw(st.booleans()))
    if draw(st.booleans()):
        return quoted
    return "'" + quoted[1:-1].replace('\\"', '"').replace("'", "\\'") + "'"


@st.composite
def patterns(draw: st.DrawFn) -> tuple[str, list[Segment]]:
    query = draw(queries)
    return written(query, draw), query


@given(patterns(), paths)
def test_matches_agrees_with_the_definition(pattern: tuple[str, list[Segment]], steps: list[Step]) -> None:
    """A pattern, in whichever way it is written, matches what the recursive definition says."""
    text, query = pattern
    assert matches(text, steps) is oracle(query, steps)


@given(paths)
def test_a_path_is_a_pattern(steps: list[Step]) -> None:
    """The text of a path is a pattern for that path, and for no prefix of it."""
    pattern = compile(str(Path.of(*steps)))
    assert pattern.matches(steps)
    assert not any(pattern.matches(steps[:length]) for length in range(len(steps)))


@given(st.text(alphabet="$.*[]:,?@-'\"\\ 01ab(", max_size=12))
def test_any_text_compiles_or_is_refused(text: str) -> None:
    """Whatever the text, compiling it gives a pattern or a PatternError, and a pattern never fails in use."""
    for candidate in (text, "$" + text, "$[" + text + "]"):
        try:
            pattern = compile(candidate)
        except PatternError:
            continue
        pattern.matches(("a", 0, "b", 1))


# Streams of events, made here from values: the selector is tested without the reader.

values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.text("xy", max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(few_keys | keys, inner, max_size=4),
    max_leaves=12,
)


def events_of(value: Any, path: Path = ROOT) -> Iterator[Event]:
    if isinstance(value, dict):
        yield Event(Kind.START_OBJECT, path)
        for key, inner in value.items():
            yield from events_of(inner, path / key)
        yield Event(Kind.END_OBJECT, path)
    elif isinstance(value, list):
        yield Event(Kind.START_ARRAY, path)
        for index, inner in enumerate(value):
            yield from events_of(inner, path / index)
        yield Event(Kind.END_ARRAY, path)
    elif isinstance(value, str):
        yield Event(Kind.START_STRING, path)
        for character in value:
            yield Event(Kind.PARTIAL_STRING, path, character)
        yield Event(Kind.COMPLETE_STRING, path, value)
    else:
        kind = Kind.COMPLETE_NULL if value is None else Kind.COMPLETE_NUMBER
        yield Event(Kind.COMPLETE_BOOLEAN if isinstance(value, bool) else kind, path, value)


def inside(query: list[Segment], path: Path) -> bool:
    steps = list(path.steps)
    return any(oracle(query, steps[:length]) for length in range(len(steps) + 1))


@pytest.mark.parametrize(("pattern", "steps", "expected"), TABLE)
def test_selector_on_the_table(pattern: str, steps: tuple[Step, ...], expected: bool) -> None:
    """A selector takes what the pattern matches and what is inside it, whichever events came before."""
    path = Path.of(*steps)
    way = [Path.of(*steps[:length]) for length in range(len(steps) + 1)]
    expected = expected or any(matches(pattern, container) for container in way)
    shared = [path]
    while shared[-1].parent is not None:
        shared.append(shared[-1].parent)
    for before in ([], [ROOT], way, shared[::-1], shared, [Path.of("other", 0, "a")]):
        selector = Selector(pattern)
        for earlier in before:
            selector.selects(Event(Kind.START_ARRAY, earlier))
        assert selector.selects(Event(Kind.COMPLETE_NULL, path)) is expected
        assert selector.selects(Event(Kind.COMPLETE_NULL, path / "inside")) is (
            expected or matches(pattern, path / "inside")
        )


@given(patterns(), st.lists(values, max_size=3))
def test_selector_takes_a_value_with_everything_inside(
    pattern: tuple[str, list[Segment]], documents: list[object]
) -> None:
    """An event is selected when a prefix of its path matches, in one document and in the next."""
    text, query = pattern
    selector = Selector(text)
    for document in documents:
        for event in events_of(document):
            assert selector.selects(event) is inside(query, event.path)


@given(patterns(), values, st.data())
def test_selector_needs_no_order(pattern: tuple[str, list[Segment]], document: object, data: st.DataObject) -> None:
    """Events that are missing, repeated, out of order or with paths of their own are answered alike."""
    text, query = pattern
    selector = Selector(compile(text))
    events = list(events_of(document))
    for event in data.draw(st.lists(st.sampled_from(events), max_size=12)):
        own = Event(event.kind, Path.of(*event.path)) if data.draw(st.booleans()) else event
        assert selector.selects(own) is inside(query, event.path)


def test_selector_in_a_document() -> None:
    """The events of a selected container are its own and those inside it, nothing from around it."""
    selector = Selector("$.a[1:]")
    events = events_of({"a": [0, {"b": "x"}, 2], "b": [0, 1]})
    assert [f"{event.kind.value} {event.path}" for event in events if selector.selects(event)] == [
        "start_object $.a[1]",
        "start_string $.a[1].b",
        "partial_string $.a[1].b",
        "complete_string $.a[1].b",
        "end_object $.a[1]",
        "complete_number $.a[2]",
    ]


@pytest.mark.parametrize("document", [1, "text", [], {}, [[1]], {"a": {"b": None}}])
def test_root_selects_everything(document: object) -> None:
    """The pattern `$` selects every event of a document, whatever its root is."""
    selector = Selector("$")
    assert all(selector.selects(event) for event in events_of(document))


def test_errors_are_always_selected() -> None:
    """An error is selected wherever it stands, and the events after it are judged as before."""
    path = Path.of("x", 3)
    error = Event(Kind.ERROR, path, JSONSyntaxError(Code.UNEXPECTED_CHARACTER, Position(0, 1, 1), path))
    selector = Selector("$.a")
    assert selector.selects(error)
    events = list(events_of({"x": [1], "a": [2]}))
    answers = [[selector.selects(error), selector.selects(event)] for event in events]
    assert answers == [[True, event.path.steps[:1] == ("a",)] for event in events]


def test_many_descendants_cost_one_step_each() -> None:
    """Patterns of many descendants are linear: the alternatives are followed together, not one by one."""
    pattern = compile("$" + "..a" * MAX_SEGMENTS)
    steps = ["a"] * 20_000
    assert pattern.matches(steps)
    assert not pattern.matches([*steps, "b"])
    assert not compile("$" + "..a" * (MAX_SEGMENTS - 1) + ".b").matches(steps)
    assert not pattern.matches(["a", "b"] * (MAX_SEGMENTS - 1))


def test_an_event_costs_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """In document order no event costs more than one step of the pattern, however deep it stands."""
    path, events = ROOT, [Event(Kind.START_ARRAY, ROOT)]
    for _ in range(3000):
        path = path / 0
        events.append(Event(Kind.START_ARRAY, path))
        events += [Event(Kind.COMPLETE_NULL, path / index) for index in range(1, 3)]
    events += [Event(Kind.END_ARRAY, event.path) for event in reversed(events) if event.kind is Kind.START_ARRAY]
    steps_taken = 0
    advance = Pattern.advance

    def counted(pattern: Pattern, states: int, step: Step) -> int:
        nonlocal steps_taken
        steps_taken += 1
        return advance(pattern, states, step)

    monkeypatch.setattr(Pattern, "advance", counted)
    selector = Selector("$..a..[7]")
    assert not any(selector.selects(event) for event in events)
    assert steps_taken <= len(events)
    # From the middle of a document, only the first event costs its depth.
    steps_taken, selector = 0, Selector("$..a..[7]")
    assert not any(selector.selects(event) for event in events[6000:])
    assert steps_taken <= len(events)
    # `steps` is remembered by the path once asked for: nobody asked.
    made_here = [event.path for event in events if event.path is not ROOT]
    assert all(made._steps is None for made in made_here)


def test_selector_keeps_the_ancestors_only() -> None:
    """After any number of documents a selector remembers no more than the way to the last event."""
    selector = Selector("$.a")
    for _ in range(10):
        for event in events_of({"a": [1, 2, [3]], "b": "x"}):
            selector.selects(event)
            assert len(selector._line) == len(event.path) + 1


def test_growing_strings_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Further events of the node that was asked about last take no step at all."""
    path = Path.of("a")
    selector = Selector("$.b")
    assert not selector.selects(Event(Kind.START_STRING, path))
    monkeypatch.setattr(Pattern, "advance", None)
    assert not selector.selects(Event(Kind.PARTIAL_STRING, path, "x"))
    assert not selector.selects(Event(Kind.COMPLETE_STRING, path, "x"))

"""chunker/leaves.py: leaves with their paths to text; what may follow what, and what is refused."""

from __future__ import annotations

import json
import math
import tracemalloc
from decimal import Decimal
from enum import IntEnum, StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import strategies
from tests.support.observe import observe
from tests.support.oracle import same
from tests.support.strategies import Tape
from unspool import MISSING, FragmentParser, Path
from unspool._chunker.leaves import LeafChunker
from unspool._errors import OptionsError, PatternError, Reason, SnapshotError, StateError
from unspool._path import ROOT

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Iterable, Iterator

    from hypothesis.strategies import SearchStrategy

HIGH, LOW = chr(0xD83D), chr(0xDE00)  # the halves of U+1F600
FACE = chr(0x1F600)


class Leaf(NamedTuple):
    """One call of `process`."""

    path: Path | str
    value: Any = MISSING
    will_continue: bool = False

    def to(self, chunker: LeafChunker) -> str:
        return chunker.process(self.path, self.value, will_continue=self.will_continue)


def begun(path: str, text: str) -> Leaf:
    """A piece of a string that will continue."""
    return Leaf(path, text, will_continue=True)


def fragments(leaves: Iterable[Leaf], chunker: LeafChunker | None = None) -> list[str]:
    """What each leaf adds, and the flush."""
    chunker = LeafChunker() if chunker is None else chunker
    return [*(leaf.to(chunker) for leaf in leaves), chunker.flush()]


def fed(leaves: Iterable[Leaf]) -> LeafChunker:
    """A chunker that these leaves went through."""
    chunker = LeafChunker()
    for leaf in leaves:
        leaf.to(chunker)
    return chunker


def attempt(leaf: Leaf, chunker: LeafChunker) -> str | SnapshotError:
    """What a leaf adds, or why it was refused."""
    try:
        return leaf.to(chunker)
    except SnapshotError as error:
        return error


# ---- what is written --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("leaves", "expected"),
    [
        pytest.param([], [""], id="nothing"),
        pytest.param([Leaf("$", 1)], ["1", ""], id="a root that is a number"),
        pytest.param([begun("$", "a"), Leaf("$", "b")], ['"a', 'b"', ""], id="a root that is a string"),
        pytest.param([Leaf("$", {"a": [1]})], ['{"a":[1]}', ""], id="a whole document"),
        pytest.param(
            [begun("$.city", "Bos"), begun("$.city", "ton"), Leaf("$.city", ""), Leaf("$.days", 3)],
            ['{"city":"Bos', "ton", '"', ',"days":3', "}"],
            id="an empty last piece",
        ),
        pytest.param(
            [begun("$.city", "Bos"), Leaf("$.city", "ton"), Leaf("$.days", 3)],
            ['{"city":"Bos', 'ton"', ',"days":3', "}"],
            id="a last piece with text",
        ),
        pytest.param(
            [begun("$.city", ""), Leaf("$.city", MISSING, True), Leaf("$.city")],
            ['{"city":"', "", '"', "}"],
            id="a last piece without a value",
        ),
        pytest.param(
            [begun("$.a", "x"), begun("$.b", "y"), Leaf("$.c", None)],
            ['{"a":"x', '","b":"y', '","c":null', "}"],
            id="another leaf ends an open string",
        ),
        pytest.param([begun("$.a[0].b", "x")], ['{"a":[{"b":"x', '"}]}'], id="the flush ends an open string"),
        pytest.param(
            [Leaf("$[0].a", 1), Leaf("$[0].b", 2), Leaf("$[1].a", 3), Leaf("$[2][0][0]", 4), Leaf("$[2][1]", 5)],
            ['[{"a":1', ',"b":2', '},{"a":3', "},[[4", "],5", "]]"],
            id="what is open is closed up to the common container",
        ),
        pytest.param(
            [Leaf("$.a.b.c", 1), Leaf("$.d", 2)], ['{"a":{"b":{"c":1', '}},"d":2', "}"], id="several closed at once"
        ),
        pytest.param(
            [Leaf("$.a.x", 1), Leaf("$.b.x", 2), Leaf("$.b.a", 3)],
            ['{"a":{"x":1', '},"b":{"x":2', ',"a":3', "}}"],
            id="keys are remembered for each object",
        ),
        pytest.param(
            [Leaf("$.a", {}), Leaf("$.b", []), Leaf("$.c", ()), Leaf("$.d", {"x": [{}, ""], "y": (1, [2])})],
            ['{"a":{}', ',"b":[]', ',"c":[]', ',"d":{"x":[{},""],"y":[1,[2]]}', "}"],
            id="whole objects and arrays",
        ),
        pytest.param(
            [Leaf('$[""]', True), Leaf("$['a.b']", False), Leaf('$["0"][0]', ""), Leaf('$["\\""]', "\n")],
            ['{"":true', ',"a.b":false', ',"0":[""', '],"\\"":"\\n"', "}"],
            id="any key",
        ),
        pytest.param([Leaf(ROOT / "a" / 0, 1), Leaf(Path.of("a", 1), 2)], ['{"a":[1', ",2", "]}"], id="paths"),
    ],
)
def test_exact_fragments(leaves: list[Leaf], expected: list[str]) -> None:
    """Each leaf gives its text, and what has to be opened and closed before it."""
    assert fragments(leaves) == expected


class Level(IntEnum):
    HIGH = 3


class Colour(StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (10**400, "1" + "0" * 400),
        (-0.0, "-0.0"),
        (1e300, "1e+300"),
        (Decimal("1.10"), "1.10"),
        (Decimal("1E+5"), "1E+5"),
        (Level.HIGH, "3"),
        (Colour.RED, '"red"'),
        ({Colour.RED: Level.HIGH}, '{"red":3}'),
        (None, "null"),
        (True, "true"),
        ("", '""'),
        ("a" + HIGH, '"a\\ud83d"'),
    ],
    ids=lambda case: repr(case)[:20],
)
def test_values(value: object, text: str) -> None:
    """A leaf may be any JSON value, numbers of any size and kind included."""
    assert LeafChunker().process("$", value) == text
    assert fragments([Leaf("$.a[0]", value), Leaf("$.a[1]", [value])]) == ['{"a":[' + text, f",[{text}]", "]}"]


@pytest.mark.parametrize(
    ("leaves", "expected"),
    [
        ([begun("$", "a" + HIGH), begun("$", LOW + "b"), Leaf("$")], ['"a', "\\ud83d\\ude00b", '"', ""]),
        ([begun("$", HIGH), begun("$", ""), begun("$", HIGH), Leaf("$", "x")], ['"', "", "\\ud83d", '\\ud83dx"', ""]),
        ([begun("$[0]", HIGH), Leaf("$[1]", 1)], ['["', '\\ud83d",1', "]"]),
        ([begun("$[0]", HIGH), begun("$[1]", LOW)], ['["', '\\ud83d","\\ude00', '"]']),
        ([begun("$[0]", "a" + HIGH)], ['["a', '\\ud83d"]']),
        ([begun("$[0]", LOW)], ['["\\ude00', '"]']),
    ],
)
def test_halves_wait(leaves: list[Leaf], expected: list[str]) -> None:
    """The first half of a surrogate pair at the end of an open string waits until the string goes on or ends."""
    assert fragments(leaves) == expected


# ---- what is refused --------------------------------------------------------------------------------


ATOMS_AND_EMPTY: list[Any] = [None, True, 1, 0.5, [], {}]
NESTED = {"a": [1, {"b": math.nan}]}

REFUSED: list[tuple[list[Leaf], Leaf, str, Reason]] = [
    # What was written and closed.
    ([Leaf("$.a", 1)], Leaf("$.a", 1), "$.a", Reason.OUT_OF_ORDER),
    ([Leaf("$.a", "x")], Leaf("$.a", "y"), "$.a", Reason.OUT_OF_ORDER),
    ([Leaf("$.a", "x")], begun("$.a", ""), "$.a", Reason.OUT_OF_ORDER),
    ([begun("$.a", "x"), Leaf("$.a")], Leaf("$.a"), "$.a", Reason.OUT_OF_ORDER),
    ([begun("$.a", "x"), Leaf("$.b", 1)], begun("$.a", "y"), "$.a", Reason.OUT_OF_ORDER),
    ([Leaf("$.a", {})], Leaf("$.a.b", 1), "$.a", Reason.OUT_OF_ORDER),
    ([Leaf("$.a", 1)], Leaf("$.a[0]", 1), "$.a", Reason.OUT_OF_ORDER),
    ([Leaf("$.a.x", 1), Leaf("$.b", 1)], Leaf("$.a.y.z", 2), "$.a", Reason.OUT_OF_ORDER),
    ([Leaf("$[0].x", 1), Leaf("$[1].x", 1)], Leaf("$[0].y", 2), "$[0]", Reason.OUT_OF_ORDER),
    ([Leaf("$[0]", 1)], Leaf("$[0]", 1), "$[0]", Reason.OUT_OF_ORDER),
    ([Leaf("$", 1)], Leaf("$", 2), "$", Reason.OUT_OF_ORDER),
    ([Leaf("$", {})], Leaf("$.a", 2), "$", Reason.OUT_OF_ORDER),
    ([begun("$", "x"), Leaf("$")], Leaf("$[0]", 2), "$", Reason.OUT_OF_ORDER),
    # What is open, but cannot be written again.
    ([Leaf("$.a.b", 1)], Leaf("$.a", {}), "$.a", Reason.OUT_OF_ORDER),
    ([Leaf("$.a.b", 1)], Leaf("$", {"a": {}}), "$", Reason.OUT_OF_ORDER),
    ([Leaf("$.a[0]", 1)], Leaf("$.a", [1]), "$.a", Reason.OUT_OF_ORDER),
    ([Leaf("$.a[0]", 1)], Leaf("$.a", ()), "$.a", Reason.OUT_OF_ORDER),
    ([Leaf("$.a[0]", 1)], Leaf("$.a"), "$.a", Reason.OUT_OF_ORDER),
    # What cannot be written yet.
    ([], Leaf("$[1]", 1), "$[1]", Reason.OUT_OF_ORDER),
    ([Leaf("$[0]", 1)], Leaf("$[2].a", 1), "$[2]", Reason.OUT_OF_ORDER),
    ([Leaf("$[0]", 1)], Leaf(Path.of(-1), 1), "$[-1]", Reason.OUT_OF_ORDER),
    ([begun("$.a[0]", "x")], Leaf("$.b[0][3].c", 1), "$.b[0][3]", Reason.OUT_OF_ORDER),
    ([], Leaf("$.a"), "$.a", Reason.OUT_OF_ORDER),
    ([begun("$.a", "x")], Leaf("$.b", MISSING, True), "$.b", Reason.OUT_OF_ORDER),
    # What is open as something else.
    ([Leaf("$.a.x", 1)], Leaf("$.a[0].b", 1), "$.a", Reason.CHANGED_KIND),
    ([Leaf("$.a[0]", 1)], Leaf("$.a.b", 1), "$.a", Reason.CHANGED_KIND),
    ([Leaf("$.a[0]", 1)], Leaf("$[0]", 1), "$", Reason.CHANGED_KIND),
    ([Leaf("$.a.x", 1)], Leaf("$.a", 5), "$.a", Reason.CHANGED_KIND),
    ([Leaf("$.a.x", 1)], Leaf("$.a", []), "$.a", Reason.CHANGED_KIND),
    ([Leaf("$.a.x", 1)], begun("$.a", "x"), "$.a", Reason.CHANGED_KIND),
    ([Leaf("$.a[0]", 1)], Leaf("$.a", {}), "$.a", Reason.CHANGED_KIND),
    ([Leaf("$.a[0]", 1)], Leaf("$", None), "$", Reason.CHANGED_KIND),
    ([begun("$.a", HIGH)], Leaf("$.a.b", 1), "$.a", Reason.CHANGED_KIND),
    ([begun("$.a", HIGH)], Leaf("$.a[0]", 1), "$.a", Reason.CHANGED_KIND),
    ([begun("$", "x")], Leaf("$[0]", 1), "$", Reason.CHANGED_KIND),
    *[
        ([begun("$.a", "x")], Leaf("$.a", value, will_continue), "$.a", Reason.CHANGED_KIND)
        for value in ATOMS_AND_EMPTY
        for will_continue in (False, True)
    ],
    # Only a string can continue.
    *[([begun("$.a", "x")], Leaf("$.b", value, True), "$.b", Reason.CHANGED_KIND) for value in ATOMS_AND_EMPTY],
    # What JSON does not have.
    *[
        ([begun("$.a", "x")], Leaf("$.b", value), "$.b", Reason.NOT_JSON)
        for value in (math.nan, math.inf, Decimal("NaN"), {1}, b"x", 1j, object(), {1: 2}, {"x": 1, None: 2})
    ],
    ([begun("$.a", "x")], Leaf("$.b", NESTED), "$.b.a[1].b", Reason.NOT_JSON),
    ([begun("$.a", "x")], Leaf("$.b", [[], ({0: 1},)]), "$.b[1][0]", Reason.NOT_JSON),
    ([], Leaf("$", {"a": {2}}), "$.a", Reason.NOT_JSON),
    ([begun("$.a", "x")], Leaf("$.b", 10**5000), "$.b", Reason.LIMIT),
]


@pytest.mark.parametrize(
    ("before", "leaf", "path", "reason"), REFUSED, ids=[f"{index}-{case[3]}" for index, case in enumerate(REFUSED)]
)
def test_refused(before: list[Leaf], leaf: Leaf, path: str, reason: Reason) -> None:
    """A leaf that cannot be written says where and why; it does not count, and nothing has changed."""
    chunker = fed(before)
    for _ in range(2):
        with pytest.raises(SnapshotError) as refused:
            leaf.to(chunker)
        assert str(refused.value.path) == path
        assert refused.value.reason is reason
        assert refused.value.step == len(before) + 1
    assert chunker.flush() == fed(before).flush()


@pytest.mark.parametrize(
    ("max_depth", "leaf", "path"),
    [
        (0, Leaf("$", []), "$"),
        (0, Leaf("$.a", 1), "$"),
        (1, Leaf("$.a[0]", 1), "$.a"),
        (1, Leaf("$.a", {}), "$.a"),
        (2, begun("$.a[0].b.c", "x"), "$.a[0]"),
        (2, Leaf("$.a[0]", {}), "$.a[0]"),
        (3, Leaf("$.a", {"b": [1, [2]]}), "$.a.b[1]"),
    ],
)
def test_depth_is_limited(max_depth: int, leaf: Leaf, path: str) -> None:
    """Objects and arrays, those on the path and those in the value, are open at most `max_depth` at once."""
    chunker = LeafChunker(max_depth=max_depth)
    with pytest.raises(SnapshotError) as refused:
        leaf.to(chunker)
    assert refused.value == SnapshotError(Path.parse(path), Reason.LIMIT, 1)
    assert chunker.flush() == ""
    assert leaf.to(LeafChunker(max_depth=max_depth + 2)) != ""


def test_depth_that_is_allowed() -> None:
    """The limit itself is allowed; the preset one is that of the reader."""
    assert fragments([Leaf("$.a[0]", [[]])], LeafChunker(max_depth=4)) == ['{"a":[[[]]', "]}"]
    assert LeafChunker(max_depth=0).process("$", 1) == "1"
    value: list[Any] = []
    for _ in range(127):
        value = [value]
    text = LeafChunker().process("$", value)
    assert text == "[" * 128 + "]" * 128
    with pytest.raises(SnapshotError):
        LeafChunker().process("$[0]", value)


def test_deep_values_need_no_stack() -> None:
    """Neither a deep value nor a deep path is a matter of the interpreter's stack; a cycle ends at the limit."""
    depth = 5_000
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    chunker = LeafChunker(max_depth=depth)
    assert chunker.process("$", value) == "[" * depth + "]" * depth
    chunker.reset()
    assert chunker.process("$" + "[0]" * depth, 1) + chunker.flush() == "[" * depth + "1" + "]" * depth
    value.append(value)
    chunker.reset()
    with pytest.raises(SnapshotError, match="limit"):
        chunker.process("$", value)


@pytest.mark.parametrize("path", ["", "a.", "$.", "$[", "$..a", "$[*]", "$[-1]", "$['a", "$.a b", "$[01]"])
def test_paths_that_cannot_be_read(path: str) -> None:
    """A path that cannot be read is a `PatternError`, and changes nothing."""
    chunker = fed([begun("$.a", "x")])
    with pytest.raises(PatternError):
        chunker.process(path, 1)
    assert fragments([Leaf("$.b", 1)], chunker) == ['","b":1', "}"]


def test_arguments() -> None:
    """Limits are whole numbers, and paths are paths."""
    for max_depth in (-1, True, None, 1.5, "1"):
        with pytest.raises(OptionsError, match="max_depth"):
            LeafChunker(max_depth=max_depth)  # type: ignore[arg-type]
    for path in (None, ("a",), b"$", 0):
        with pytest.raises(TypeError, match=f"not {type(path).__name__}"):
            LeafChunker().process(path, 1)  # type: ignore[arg-type]


def test_flush_and_reset() -> None:
    """After the flush nothing is written until reset() starts anew; steps are counted from there."""
    chunker = fed([begun("$.a[0]", "x" + HIGH)])
    assert (chunker.flush(), chunker.flush()) == ('\\ud83d"]}', "")
    for leaf in (Leaf("$.b", 1), Leaf("no path", 1)):
        with pytest.raises(StateError, match="reset"):
            leaf.to(chunker)
    chunker.reset()
    assert (chunker.flush(), chunker.flush()) == ("", "")
    chunker.reset()
    chunker.process("$.a", "left" + HIGH, will_continue=True)
    chunker.reset()
    assert chunker.process("$[0]", 1) == "[1"
    with pytest.raises(SnapshotError) as refused:
        chunker.process("$[0]", 1)
    assert refused.value.step == 2


def test_memory_is_that_of_what_is_open() -> None:
    """Neither the text of a string nor the keys of closed objects are kept."""
    chunker = LeafChunker()
    pieces = [f"{number:05}" * 200 for number in range(300)]
    tracemalloc.start()
    try:
        for index in range(100):
            chunker.process(ROOT / index / (f"key {index}" * 100), 1)
        start = tracemalloc.get_traced_memory()[0]
        for index in range(100, 400):
            chunker.process(ROOT / index / (f"key {index}" * 100), 1)
        for piece in pieces:
            chunker.process(ROOT / 400, piece, will_continue=True)
        assert tracemalloc.get_traced_memory()[0] - start < 20_000
    finally:
        tracemalloc.stop()


# ---- what the leaves describe -----------------------------------------------------------------------


def utf16(text: str) -> list[str]:
    """The text in units of UTF-16: as pieces of strings are cut elsewhere."""
    data = text.encode("utf-16-le", "surrogatepass")
    return [data[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(data), 2)]


def joined(value: Any) -> Any:
    """The value with one character for each surrogate pair."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    if isinstance(value, list):
        return [joined(item) for item in value]
    if isinstance(value, dict):
        return {joined(key): joined(item) for key, item in value.items()}
    return value


def described(leaves: Iterable[Leaf]) -> Any:
    """The value that leaves describe, put together with no thought of text."""
    document: list[Any] = []
    for path, value, _ in leaves:
        container: Any = document
        steps = [0, *(Path.parse(path) if isinstance(path, str) else path).steps]
        for step, inner in zip(steps, [*steps[1:], None], strict=True):
            new: Any = [] if isinstance(inner, int) else {}
            if inner is None:
                new = "" if value is MISSING or isinstance(value, str) else value
            if isinstance(container, dict):
                container.setdefault(step, new)
            elif len(container) == step:
                container.append(new)
            if inner is None and isinstance(value, str):
                container[step] += value
            container = container[step]
    return joined(document[0]) if document else MISSING


def assert_described(leaves: list[Leaf], pieces: list[str]) -> None:
    """The text is JSON, viable at every character, and means what the leaves describe."""
    text = "".join(pieces)
    parser = FragmentParser()
    for character in text:
        parser.feed(character)
        assert parser.error is None
    expected = described(leaves)
    assert text == "" if expected is MISSING else same(json.loads(text), expected)
    assert expected is MISSING or observe([text]).is_complete


def leaves_of(value: Any, path: Path, tape: Tape) -> Iterator[Leaf]:
    """A value as leaves in document order; strings come in pieces, and some objects and arrays whole."""
    if isinstance(value, (dict, list)) and value and tape.pick(8) < 7:
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves_of(inner, path / step, tape)
    elif isinstance(value, str):
        units = utf16(value)
        edges = [0, *sorted(tape.pick(len(units) + 1) for _ in range(tape.pick(4))), len(units)]
        pieces = [Leaf(path, "".join(units[start:end]), True) for start, end in pairwise(edges)]
        # The last piece says so, or an empty one does, or one without a value, or whatever comes next.
        whole_last = [*pieces[:-1], pieces[-1]._replace(will_continue=False)]
        yield from tape.choose([whole_last, [*pieces, Leaf(path, "")], [*pieces, Leaf(path)], pieces])
    else:
        yield Leaf(path, value)


def tapes() -> SearchStrategy[Tape]:
    return st.builds(lambda data: Tape(data, loop=True), st.binary(max_size=40))


@given(strategies.values(), tapes(), st.integers(0, 1000))
def test_leaves_of_a_document_give_it_back(value: Any, tape: Tape, number: int) -> None:
    """Leaves in document order are all accepted, each prefix of the text is viable, and all of it is the value."""
    leaves = list(leaves_of(value, ROOT, tape))
    pieces = fragments(leaves)
    assert_described(leaves, pieces)
    assert same(json.loads("".join(pieces)), value)
    # If they end early, the flush makes the most of it.
    count = number % (len(leaves) + 1)
    shorter = fragments(leaves[:count])
    assert shorter[:-1] == pieces[:count]
    assert_described(leaves[:count], shorter)


WRONG_VALUES = [math.nan, {1}, {"a": [object()]}, {1: 2}]
STEPS: list[str | int] = ["a", "b", 0, 1]
VALUES: list[Any] = ["", "x", HIGH, LOW, FACE + HIGH, 1, None, MISSING, MISSING, {}, [], {"a": [1]}, *WRONG_VALUES]


def soups() -> SearchStrategy[list[Leaf]]:
    """Leaves in no order."""
    paths = st.lists(st.sampled_from(STEPS), max_size=3).map(lambda steps: Path.of(*steps))
    leaf = st.builds(Leaf, paths, st.sampled_from(VALUES), st.booleans())
    again = st.lists(leaf, min_size=1, max_size=6).flatmap(lambda some: st.lists(st.sampled_from(some), max_size=12))
    return st.one_of(st.lists(leaf, max_size=30), again)


@given(soups())
def test_no_silence(leaves: list[Leaf]) -> None:
    """Whatever comes: a leaf is refused and changes nothing, or is in the text as it should be."""
    chunker = LeafChunker()
    accepted: list[Leaf] = []
    pieces: list[str] = []
    for leaf in leaves:
        outcome = attempt(leaf, chunker)
        if isinstance(outcome, SnapshotError):
            assert outcome.step == len(accepted) + 1
        else:
            accepted.append(leaf)
            pieces.append(outcome)
    pieces.append(chunker.flush())
    assert pieces == fragments(accepted)
    assert_described(accepted, pieces)


@given(strategies.values(small=True), tapes(), st.data())
def test_a_refused_leaf_changes_nothing(value: Any, tape: Tape, data: st.DataObject) -> None:
    """Leaves that cannot come, put between those of a document, leave its text as it is."""
    leaves = list(leaves_of(value, ROOT, tape))
    chunker, pieces = LeafChunker(), []
    for count, leaf in enumerate(leaves):
        steps = [*data.draw(st.sampled_from(leaves[: count + 1])).path, data.draw(st.sampled_from(["a", 0, 5]))]
        path = Path.of(*steps[: data.draw(st.integers(0, len(steps)))])
        wrong = Leaf(path, data.draw(st.sampled_from(VALUES)), data.draw(st.booleans()))
        expected = attempt(wrong, fed(leaves[:count]))
        if isinstance(expected, SnapshotError):
            assert attempt(wrong, chunker) == expected
        pieces.append(leaf.to(chunker))
    assert [*pieces, chunker.flush()] == fragments(leaves)


# ---- as providers send them -------------------------------------------------------------------------


KINDS: dict[str, tuple[type, ...]] = {"stringValue": (str,), "numberValue": (int, float), "boolValue": (bool,)}


def recorded_calls(data: pathlib.Path) -> Iterator[list[Leaf]]:
    """The leaves of each tool call in the recordings that have arguments in this form."""
    for file in sorted((data / "recordings" / "gemini").glob("*.jsonl")):
        leaves: list[Leaf] = []
        for line in file.read_text().splitlines():
            for part in json.loads(line).get("candidates", [{}])[0].get("content", {}).get("parts", []):
                call = part.get("functionCall", {})
                if "name" in call:
                    yield leaves
                    leaves = []
                for argument in call.get("partialArgs", []):
                    (kind,) = argument.keys() & KINDS.keys()
                    assert isinstance(argument[kind], KINDS[kind])
                    leaves.append(Leaf(argument["jsonPath"], argument[kind], argument.get("willContinue", False)))
        yield leaves


def test_recorded_tool_calls(shared_data: pathlib.Path) -> None:
    """The leaves that a provider really sent are all accepted, and make the arguments of the call."""
    calls = [leaves for leaves in recorded_calls(shared_data) if leaves]
    assert len(calls) == 5
    for leaves in calls:
        assert_described(leaves, fragments(leaves))

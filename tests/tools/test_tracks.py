"""What the viewer keeps of a stream: tracks, fields, rows and the timeline, each judged by a slow model of its own."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import strategies
from tests.support.inputs import timeline_of
from unspool import FragmentParser, Options, Path, create_state, finalize, parse_chunk
from unspool._tree.nodes import ContainerNode, ObjectNode, StringNode
from unspool.select import compile as compile_pattern
from unspool.tools.viewer import tracks as tracks_module
from unspool.tools.viewer.inputs import Guess, InputKind
from unspool.tools.viewer.recordings import SAMPLES, SampleError, find_sample, read_sample
from unspool.tools.viewer.rows import picked, window
from unspool.tools.viewer.timeline import Timeline
from unspool.tools.viewer.tracks import Fields, Item, Nature, Selection, Track, TrackPiece, told_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import DrawFn

    from unspool import ParserState
    from unspool._tree.nodes import Node

TEXTS = st.one_of(strategies.documents(small=True), strategies.broken_documents(small=True))


@st.composite
def histories(draw: DrawFn) -> list[tuple[int, TrackPiece]]:
    """Pieces of a text, each with its step; some of them restart the text."""
    pieces: list[TrackPiece] = []
    for _ in range(draw(st.integers(1, 3))):
        text, fragments = draw(strategies.cut(TEXTS))
        if draw(st.booleans()):
            fragments = fragments[: draw(st.integers(0, len(fragments)))]
        as_bytes = draw(st.booleans()) and text.isascii()
        pieces += [
            TrackPiece("json", fragment.encode() if as_bytes else fragment, restarts=index == 0)
            for index, fragment in enumerate(fragments)
        ]
    steps = accumulate([draw(st.integers(1, 3)) for _ in pieces]) if len(pieces) < 12 else range(1, len(pieces) + 1)
    return list(zip(steps, pieces, strict=True))


def text_of(piece: TrackPiece) -> str:
    return piece.fragment if isinstance(piece.fragment, str) else piece.fragment.decode()


def counted(history: list[tuple[int, TrackPiece]], step: int) -> str:
    """The text that counts at a step: what came since it last began."""
    text = ""
    for at, piece in history:
        if at <= step:
            text = text_of(piece) if piece.restarts else text + text_of(piece)
    return text


def track_of(history: list[tuple[int, TrackPiece]], **options: Any) -> Track:
    track = Track("json", Nature.JSON, **options)
    for step, piece in history:
        assert track.add(step, piece) == text_of(piece)
    return track


def fresh(text: str) -> ParserState:
    return parse_chunk(create_state(), text)


# Tracks.


@given(histories(), st.sampled_from([1, 2, 3, 7, 4096]), st.randoms(use_true_random=False))
def test_a_state_of_the_past_is_that_of_the_text_up_to_there(
    history: list[tuple[int, TrackPiece]], most_kept: int, random: Any
) -> None:
    """`state_at(n)` equals a fresh parse of what had come, however many states are kept, in any order of asking."""
    with mock.patch.object(tracks_module, "MAX_KEPT", most_kept):
        track = track_of(history)
        last = history[-1][0] if history else 0
        steps = list(range(last + 2))
        random.shuffle(steps)
        for step in steps[:25]:
            expected = fresh(counted(history, step))
            assert track.state_at(step).dump() == expected.dump()
            assert track.length_at(step) - track.start_at(step) == len(counted(history, step))
        assert track.state.dump() == fresh(counted(history, last)).dump()
        assert len(track._kept) <= most_kept + 1


def test_looking_leaves_nothing_behind() -> None:
    """A state remembers the values it has shown, so kept states are not handed out. A long piece is still parsed
    only once."""
    pieces = ['{"a": [1', ", 2", ", 3, ", '"' + "x" * 50 + '"', ", 4", ", 5]}"]
    track = track_of([(step, TrackPiece("json", piece)) for step, piece in enumerate(pieces, 1)])
    with mock.patch.object(tracks_module, "LONG", 40):
        for step in (*range(1, 7), *reversed(range(1, 7))):
            is_kept = any(track.state_at(step) is kept for kept in track._kept)
            assert is_kept is (step == 4)
            assert track.state_at(step).value == fresh("".join(pieces[:step])).value


@pytest.mark.parametrize("most", [2, 4096])
def test_a_step_that_brings_nothing_changes_nothing(most: int) -> None:
    """Unchanged nodes are the same object at two steps, in any order of looking, also if both are computed again."""
    history = [
        (step, TrackPiece("json", piece))
        for step, piece in enumerate(["[[1", ", ", " ", " ", "2, ", " ", "3]", " "], 1)
    ]
    for is_backwards in (False, True):
        with mock.patch.object(tracks_module, "MAX_KEPT", most):
            track = track_of(history)
        for step in (3, 4, 6, 8):
            steps = (step - 1, step) if is_backwards else (step, step - 1)
            one, two = [track.state_at(at).root for at in steps]
            assert one is two


@given(histories())
def test_after_the_end_the_state_is_the_final_one(history: list[tuple[int, TrackPiece]]) -> None:
    """The end is a step of its own; the one before it shows what was open then."""
    track = track_of(history)
    last = history[-1][0] if history else 0
    track.end(last + 1)
    assert track.state_at(last + 1).dump() == finalize(fresh(counted(history, last))).dump()
    assert track.state_at(last).dump() == fresh(counted(history, last)).dump()


@given(histories(), st.integers(0, 60), st.integers(0, 60))
def test_any_window_of_the_text(history: list[tuple[int, TrackPiece]], start: int, size: int) -> None:
    """`text(start, stop)` is a slice of everything that came, also of what was taken back."""
    track = track_of(history)
    whole = "".join([text_of(piece) for _, piece in history])
    assert track.text(start, start + size) == whole[start : start + size]
    assert track.text(start) == whole[start:]
    assert track.length == len(whole)
    assert track.size == len(whole.encode(errors="surrogatepass"))


@given(
    st.sampled_from(["", " ", "\n\t "]),
    st.sampled_from(
        ["Hello", "{}", "```\n{}\n```", "``x", "`", "3", '"a"', "[1]", "[]", "[1, 2", '["a', "[1] a", "[x"]
    ),
    st.data(),
)
def test_json_or_prose(blank: str, rest: str, data: st.DataObject) -> None:
    """The first that is not blank tells, and with brackets what is in them; it makes no difference how it is cut."""
    track = Track("content")
    for step, fragment in enumerate(data.draw(strategies.cuttings(blank + rest)), 1):
        track.add(step, TrackPiece("content", fragment))
    track.end(99)
    assert track.is_json == (rest in ("{}", "[1]", "[]", "[1, 2", '["a') or rest.startswith("```"))
    assert track.extract == rest.startswith("```")
    if track.is_json and not track.extract:
        assert track.state.dump() == finalize(fresh(blank + rest)).dump()
    if not track.is_json:
        assert track.state_at(99).root is None


def test_bytes_may_be_cut_inside_a_character() -> None:
    """The text has the character once it is whole."""
    track = Track("json", Nature.JSON)
    assert [track.add(step, TrackPiece("json", byte)) for step, byte in enumerate([b'"\xc3', b'\xa9"'], 1)] == [
        '"',
        'é"',
    ]
    assert track.state.value == "é"
    assert (track.text(), track.size, track.length) == ('"é"', 4, 3)


# Rows.


def plain_rows(root: Node, folded: set[int]) -> list[tuple[int, int, tuple[str | int, ...], Node]]:
    """All rows by a walk: id, depth, steps of the path, node."""
    rows: list[tuple[int, int, tuple[str | int, ...], Node]] = []

    def visit(node: Node, steps: tuple[str | int, ...]) -> None:
        rows.append((node.id, len(steps), steps, node))
        if isinstance(node, ContainerNode) and node.id not in folded:
            names: Sequence[str | int] = node.keys if isinstance(node, ObjectNode) else range(len(node))
            for name, child in zip(names, node.children, strict=True):
                visit(child, (*steps, name))

    visit(root, ())
    return rows


@given(strategies.cut(TEXTS), st.data())
def test_a_window_is_a_part_of_the_walk(cutting: tuple[str, list[str]], data: st.DataObject) -> None:
    """`window` shows what a plain walk shows from there on, whatever is folded, and marks what has changed."""
    states = list(accumulate(cutting[1], parse_chunk, initial=create_state()))
    now = data.draw(st.integers(0, len(states) - 1))
    root, before = states[now].root, states[data.draw(st.integers(0, now))].root
    if root is None:
        assert window(root, before).rows == ()
        return
    ids = [node.id for node in root.walk()]
    folded = data.draw(st.sets(st.sampled_from([*ids, -1, len(ids) + 5]), max_size=4))
    expected = plain_rows(root, folded)
    start, count = data.draw(st.integers(0, len(expected) + 2)), data.draw(st.integers(0, 6))
    seen = window(root, before, start, count, folded)
    assert seen.total == len(expected)
    assert seen.start == min(start, len(expected) - 1)
    assert len(seen.rows) == min(count, len(expected) - seen.start)
    for row, (node_id, depth, steps, node) in zip(seen.rows, expected[seen.start :], strict=False):
        assert (row.id, row.depth, row.path.steps, row.kind) == (node_id, depth, steps, node.kind)
        assert row.is_open == (not node.closed)
        assert row.is_folded == (node_id in folded and len(node.children) > 0)
        old = None if before is None else before.find(node_id)
        assert row.mark == ("new" if old is None else "" if old == node else "grown")
        assert row.size == (len(node.text) if isinstance(node, StringNode) else len(node.children))
    assert picked(root, before, [*ids[::2], 10_000]) == tuple(
        [window(root, before, place, 1).rows[0] for place in range(0, len(ids), 2)]
    )


def test_the_text_of_a_row() -> None:
    """A leaf as JSON; an open string without its quote; of a long one its beginning and its end."""
    root = fresh('{"n": 1.50, "t": true, "z": null, "o": {}, "a": [], "l": "' + "x" * 500 + '", "s": "a\\nb').root
    texts = [row.text for row in window(root, None).rows]
    assert texts[1:6] == ["1.50", "true", "null", "{}", "[]"]
    assert len(texts[6]) < 420
    assert "…" in texts[6]
    assert texts[7] == '"a\\nb'


# Fields.

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)


def spans(text: str) -> list[tuple[int, int | None]]:
    """Where each value of a valid text, or of the beginning of one, begins and ends; in the order of beginning."""
    found: list[list[int | None]] = []
    stack: list[tuple[str, int]] = []
    is_key = False
    for token in TOKEN.finditer(text):
        first = token.group()[0]
        if first in "{[":
            stack.append((first, len(found)))
            found.append([token.start(), None])
            is_key = first == "{"
        elif first in "}]":
            found[stack.pop()[1]][1] = token.end()
        elif first == ",":
            is_key = bool(stack) and stack[-1][0] == "{"
        elif first == ":":
            is_key = False
        elif not is_key:
            is_whole = first != '"' or re.fullmatch(r'"(?:[^"\\]|\\.)*"', token.group(), re.DOTALL)
            found.append([token.start(), token.end() if is_whole else None])
    return [(begin, end) for begin, end in found if begin is not None]


@given(strategies.cut(strategies.documents(small=True)), st.booleans(), st.data())
def test_when_each_field_was_seen_and_complete(
    cutting: tuple[str, list[str]], is_cut_off: bool, data: st.DataObject
) -> None:
    """First, complete and size, compared with a parse of every prefix; the size is that of the JSON text, in bytes."""
    _, fragments = cutting
    if is_cut_off:
        fragments = fragments[: data.draw(st.integers(0, len(fragments)))]
    text = "".join(fragments)
    fields, parser = Fields(), FragmentParser()
    for step, fragment in enumerate(fragments, 1):
        fields.take(step, fragment, parser.feed(fragment))
    end = len(fragments) + 1
    fields.take(end, "", parser.close())

    first: dict[int, int] = {}
    complete: dict[int, int] = {}
    children: dict[int, int] = {}
    containers: set[int] = set()
    for step, prefix in enumerate([*accumulate(fragments), None], 1):
        state = finalize(fresh(text)) if prefix is None else fresh(prefix)
        for node in state.walk():
            first.setdefault(node.id, step)
            children[node.id] = len(node.children)
            containers |= {node.id} if isinstance(node, ContainerNode) else set()
            if node.closed:
                complete.setdefault(node.id, step)
    assert [field.id for field in fields.listed] == sorted(first)
    assert {field.id: field.first for field in fields.listed} == first
    assert {field.id: field.complete for field in fields.listed if field.complete is not None} == complete
    assert {field.id: field.children for field in fields.listed} == children
    assert fields.leaves == Counter([step for node_id, step in complete.items() if node_id not in containers])
    for field, (begin, stop) in zip(fields.listed, spans(text), strict=False):
        assert field.size == len(text[begin : stop if field.complete is not None else None].encode())
        assert field.begin == len(text[:begin].encode())
    assert fields.size == len(text.encode())


def test_of_many_fields_those_in_arrays_are_left_out() -> None:
    """Members of objects that are in no array are kept. How many more there were is known, all leaves are counted, and
    what is kept closes as it should."""
    with mock.patch.object(tracks_module, "MAX_FIELDS", 3):
        fields, parser = Fields(), FragmentParser()
        for step, text in enumerate(['{"a": [1, [2, {"x": 3}], 4], "b": {"c": "x"', '}, "d": [5], "e": 6}'], 1):
            fields.take(step, text, parser.feed(text))
    assert [str(field.path) for field in fields.listed] == ["$", "$.a", "$.a[0]", "$.b", "$.b.c", "$.d", "$.e"]
    assert fields.left_out == 6
    assert fields.leaves == {1: 5, 2: 2}
    assert [field.complete for field in fields.listed] == [2, 1, 1, 2, 1, 2, 2]
    assert [field.children for field in fields.listed] == [4, 3, 0, 1, 0, 1, 0]


def test_there_is_an_end_to_members_too() -> None:
    """Of an object that is larger still, the first ones are kept; the leaves are counted all the same."""
    with mock.patch.multiple(tracks_module, MAX_FIELDS=3, MAX_MEMBERS=5):
        fields, parser = Fields(), FragmentParser()
        text = json.dumps({str(number): number for number in range(9)})
        fields.take(1, text, parser.feed(text))
    assert [field.path.step for field in fields.listed] == [None, "0", "1", "2", "3"]
    assert (fields.left_out, fields.leaves) == (5, {1: 9})


NESTED = st.recursive(
    st.integers(0, 9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)


@given(NESTED, st.sampled_from(["$", "$.a", "$..a", "$.*", "$[0]", "$[*].a", "$..b[*]", "$.b"]))
def test_what_a_pattern_picks(value: Any, pattern: str) -> None:
    """What matches, with everything inside it; the depth counts from what matches."""
    root = fresh(json.dumps({"a": value, "b": value, "c": value}) + " ").root
    assert root is not None
    selection, compiled = Selection(pattern), compile_pattern(pattern)
    for _, _, steps, _ in plain_rows(root, set()):
        tops = [size for size in range(len(steps) + 1) if compiled.matches(steps[:size])]
        assert selection.depth(Path.of(*steps)) == (len(steps) - tops[0] if tops else None)


# The timeline.


@given(strategies.cut(TEXTS))
def test_a_timeline_tells_what_a_parser_tells(cutting: tuple[str, list[str]]) -> None:
    """The news of all steps are the events of the text; sizes add up; the last step is the end."""
    text, fragments = cutting[0], cutting[1] or [""]
    timeline = Timeline(Guess(InputKind.JSON))
    news: list[str] = []
    for step, fragment in enumerate(fragments, 1):
        assert timeline.add(step / 10, Item((TrackPiece("json", fragment),))) == step
        news += map(repr, timeline.news.get("json", []))
        assert timeline.sizes[step] == len("".join(fragments[:step]))
    end = timeline.finish(9.0)
    news += map(repr, timeline.news.get("json", []))
    parser = FragmentParser()
    assert news == [repr(event) for fragment in fragments for event in parser.feed(fragment)] + list(
        map(repr, parser.close())
    )
    assert (end, timeline.last, timeline.is_finished) == (len(fragments) + 1, end, True)
    expected = finalize(parse_chunk(create_state(Options(max_chars=None)), text))
    assert timeline.tracks["json"].state.dump() == expected.dump()
    assert [bool(timeline.notes)] == [expected.error is not None]


@given(st.integers(0, 3), strategies.cut(strategies.documents(small=True)))
def test_fields_of_content_that_is_blank_at_first(blanks: int, cutting: tuple[str, list[str]]) -> None:
    """A text that turns out late to be JSON has the same fields and sizes as in one piece."""
    text, fragments = cutting
    timeline = Timeline(Guess(InputKind.CHUNKS))
    for fragment in [" "] * blanks + fragments:
        timeline.add(0.0, Item((TrackPiece("content", fragment),)))
    timeline.finish(0.0)
    if told_by(text, is_all=True) is Nature.PROSE:
        assert text.lstrip()[:1] != "{"
        assert not timeline.tracks["content"].is_json
        return
    sizes = [len(text[begin:end].encode()) for begin, end in spans(text)]
    assert [field.size for field in timeline.fields["content"].listed] == sizes


def test_a_text_that_begins_anew_has_new_fields() -> None:
    """A restart removes the fields before it."""
    timeline = Timeline(Guess(InputKind.CHUNKS))
    timeline.add(0.0, Item((TrackPiece("call 0", '{"a": 1, "b"'),)))
    timeline.add(1.0, Item((TrackPiece("call 0", '{"c": [2]}', restarts=True),)))
    timeline.finish(1.0)
    assert [(str(field.path), field.first, field.complete) for field in timeline.fields["call 0"].listed] == [
        ("$", 2, 2),
        ("$.c", 2, 2),
        ("$.c[0]", 2, 2),
    ]


def test_documents_one_after_the_other() -> None:
    """Of several documents each has its fields; ids go on, so that none is mistaken for another."""
    timeline = timeline_of(b'{"a": 1}\n{"a": [2]}\n3\n', kind=InputKind.NDJSON, cut=4)
    listed = timeline.fields["json"].listed
    assert [str(field.path) for field in listed] == ["$", "$.a", "$", "$.a", "$.a[0]", "$"]
    assert [field.size for field in listed] == [8, 1, 10, 3, 1, 1]
    assert all(field.complete for field in listed)
    assert timeline.tracks["json"].state.options == Options(multiple="lines", max_chars=None)


# The samples.


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_a_recording(name: str) -> None:
    """Each can be read, has times, and is about what its name says."""
    timeline = timeline_of(read_sample(name))
    assert timeline.is_timed
    assert 1 < timeline.duration < 7
    assert bool(timeline.notes) == (name in ("broken", "cut-off"))
    assert find_sample(name).name == f"{name}.jsonl"


def test_the_two_that_are_compared_say_the_same() -> None:
    """Only the order of the fields differs."""
    one, two = [
        timeline_of(read_sample(name)).tracks["content"].state.result for name in ("unordered-a", "unordered-b")
    ]
    assert one == two
    assert json.dumps(one) != json.dumps(two)


def test_a_sample_that_is_not_there() -> None:
    """The error names those that are."""
    with pytest.raises(SampleError, match="there is no sample 'x'; there are trip, weather-tools"):
        find_sample("x")

"""The laws again, for values and for the pure parser, numbered as in docs/laws.md."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support import corpus, strategies
from tests.support.observe import Fold, fault, merge, observe
from tests.support.oracle import MISSING as NOTHING
from tests.support.oracle import is_prefix_value, read, same
from unspool import (
    MISSING,
    Code,
    Event,
    IncompleteJSONError,
    JSONSyntaxError,
    Kind,
    Options,
    ParserState,
    StateError,
    ValueParser,
    create_state,
    finalize,
    parse_chunk,
)
from unspool.tree import ObjectNode

texts = st.one_of(strategies.documents(units=True), strategies.broken_documents(halves=True, units=True))
small_texts = st.one_of(
    strategies.documents(small=True, units=True), strategies.broken_documents(small=True, halves=True, units=True)
)
cut_texts = strategies.cut(texts)
small_cuts = strategies.cut(small_texts)
broken_cuts = strategies.cut(strategies.broken_documents(small=True))


def states_of(fragments: list[Any], **options: Any) -> list[ParserState]:
    """The state before any text, and after each fragment."""
    states = [create_state(Options(**options))]
    for fragment in fragments:
        states.append(parse_chunk(states[-1], fragment))
    return states


def show(state: ParserState) -> dict[str, Any]:
    """All that can be asked of a state, except what belongs to its last fragment."""
    return {
        "value": NOTHING if state.value is MISSING else state.value,
        "result": NOTHING if state.result is MISSING else state.result,
        "tree": [(n.kind, n.id, n.parent_id, n.closed, n.value) for n in state.walk()],
        "complete": state.is_complete,
        "errors": [fault(error) for error in state.errors],
        "place": (state.index, state.line, state.column),
        "expecting": state.expecting,
        "path": state.open_path,
        "options": state.options,
        "dump": state.dump(),
    }


def containers(value: Any) -> list[Any]:
    """Every list and dict in a value."""
    found, todo = [], [value]
    while todo:
        one = todo.pop()
        if isinstance(one, (dict, list)):
            found.append(one)
            todo.extend(one.values() if isinstance(one, dict) else one)
    return found


@given(cut_texts, strategies.dialects())
def test_law_1_cutting_is_not_observable(cut: tuple[str, list[str]], dialect: dict[str, Any]) -> None:
    """However a text is cut, the state shows the same, its dump too, and so does the state at the end."""
    text, fragments = cut
    state, whole = states_of(fragments, **dialect)[-1], parse_chunk(create_state(Options(**dialect)), text)
    assert show(state) == show(whole)
    assert state.root == whole.root
    assert show(finalize(state)) == show(finalize(whole))


@given(small_cuts, strategies.dialects())
def test_law_2_the_value_is_a_function_of_the_prefix(cut: tuple[str, list[str]], dialect: dict[str, Any]) -> None:
    """The value, from the pure parser, the handle and the live one, is what an independent reading gives."""
    _, fragments = cut
    kept, live = ValueParser(Options(**dialect)), ValueParser(Options(**dialect), live=True)
    read_so_far = ""
    for fragment, state in zip(fragments, states_of(fragments, **dialect)[1:], strict=True):
        read_so_far += fragment
        expected = read(read_so_far, **dialect)
        for parser in (kept, live):
            with suppress(JSONSyntaxError):
                parser.feed(fragment)
            assert (parser.error and fault(parser.error)) == expected.error
        for value in (state.value, kept.value, live.value):
            assert same(NOTHING if value is MISSING else value, expected.value)
        assert state.is_complete is kept.is_complete is (expected.status == "done")


@given(small_texts)
def test_law_3_values_only_grow(text: str) -> None:
    """From state to state the value only grows; duplicate keys are the one exception."""
    assume("duplicate" not in repr(observe([text], duplicate_keys="error").errors))
    values = [state.value for state in states_of(list(text))]
    for earlier, later in pairwise(values):
        assert earlier is MISSING or is_prefix_value(earlier, later)


@given(strategies.documents())
def test_law_4_the_final_value_is_that_of_json(text: str) -> None:
    """A whole text means what json.loads makes of it."""
    parser = ValueParser()
    parser.feed(text)
    assert same(parser.close(), json.loads(text))
    assert same(finalize(parse_chunk(create_state(), text)).result, json.loads(text))


@given(small_texts, strategies.dialects())
def test_law_5_the_first_impossible_character(text: str, dialect: dict[str, Any]) -> None:
    """A state has an error exactly when nothing can repair the text; an open text is incomplete at its end."""
    for end, state in enumerate(states_of(list(text), **dialect)):
        expected = read(text[:end], **dialect)
        assert (state.error and fault(state.error)) == expected.error
        closed = finalize(state)
        assert (closed.error and fault(closed.error)) == expected.at_close
        if closed.error and closed.error.code is Code.INCOMPLETE:
            assert isinstance(closed.error, IncompleteJSONError)
            assert closed.error.offset == end
        assert same(NOTHING if closed.result is MISSING else closed.result, expected.final)


@given(strategies.broken_documents(), st.text(min_size=1))
def test_law_6_errors_absorb(text: str, more: str) -> None:
    """After an error there is no other state, and the results before it stay readable."""
    state = parse_chunk(create_state(), text)
    assume(state.error is not None)
    assert parse_chunk(state, more) is state
    assert parse_chunk(state, more.encode("utf-8", "replace")) is state
    assert finalize(state) is state
    assert state.result is MISSING
    assert not state.is_complete


@given(cut_texts, st.integers(0, 40))
def test_law_7_unit_and_action(cut: tuple[str, list[str]], place: int) -> None:
    """Nothing in, the same state out; two fragments are their concatenation."""
    text, fragments = cut
    for state in states_of(fragments):
        assert parse_chunk(state, "") is parse_chunk(state, b"") is state
    assert show(parse_chunk(parse_chunk(create_state(), text[:place]), text[place:])) == show(states_of([text])[-1])


@given(cut_texts, strategies.dialects())
def test_law_8_events_fold_to_the_value(cut: tuple[str, list[str]], dialect: dict[str, Any]) -> None:
    """What the states say the fragments brought is what a parser of events says, and folds to their values."""
    _, fragments = cut
    fold = Fold()
    told: list[Event] = []
    for before, state in pairwise(states_of(fragments, **dialect)):
        if state is before:
            continue
        told += state.events
        for event in state.events:
            if event.kind is not Kind.ERROR:
                fold.add(event)
        assert same(fold.values[-1] if fold.values else NOTHING, NOTHING if state.value is MISSING else state.value)
    assert merge(told) == observe(fragments, close=False, **dialect).events


@given(st.data(), small_cuts, small_texts)
def test_law_9_no_call_changes_an_older_state(data: st.DataObject, cut: tuple[str, list[str]], other: str) -> None:
    """Two futures of one past are the two parses from scratch, and every older state shows what it showed."""
    text, fragments = cut
    states = states_of(fragments)
    before = [show(state) for state in states] if data.draw(st.booleans()) else None
    place = data.draw(st.integers(0, len(states) - 1))
    start = "".join(fragments[:place])
    for future in data.draw(st.permutations([other, text[len(start) :], "1]}", '"x"'])):
        state = states[place]
        for fragment in data.draw(strategies.cuttings(future)) if future else []:
            state = parse_chunk(state, fragment)
        assert show(state) == show(parse_chunk(create_state(), start + future))
    assert before is None or [show(state) for state in states] == before
    for end, state in enumerate(states):
        assert same(NOTHING if state.value is MISSING else state.value, read("".join(fragments[:end])).value)


def test_law_9_on_threads() -> None:
    """Sixteen futures of each past, grown and shown on eight threads at once, are the parses from scratch."""
    text = corpus.DOCUMENTS["itinerary"] if "itinerary" in corpus.DOCUMENTS else max(corpus.DOCUMENTS.values(), key=len)
    states = states_of(list(text[:400]))

    def grow(place: int) -> bool:
        state = states[place]
        for character in text[place : place + 60]:
            state = parse_chunk(state, character)
            _ = state.value, state.root
        return same(state.value, read(text[: place + 60]).value) and states[place].value is states[place].value

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(grow, [place for place in range(20, 300, 7) for _ in range(16)]))


@given(small_cuts)
def test_law_10_identity(cut: tuple[str, list[str]]) -> None:
    """Equal values of one history are one object; off the changed path everything is; closed nodes stay."""
    _, fragments = cut
    states = states_of(fragments)
    closed: dict[int, Any] = {}
    for earlier, later in pairwise(states):
        unchanged = same(
            NOTHING if earlier.value is MISSING else earlier.value, NOTHING if later.value is MISSING else later.value
        )
        if not any(getattr(node, "duplicates", None) for node in later.walk()):
            assert (earlier.value is later.value) is unchanged
        for node in later.walk():
            if node.id in closed:
                assert closed[node.id] is node
                assert later.node(node.id) is node
            if node.closed:
                closed[node.id] = node
    assert [node.id for node in states[-1].walk()] == list(range(len(list(states[-1].walk()))))


@given(small_cuts)
def test_law_10_identity_with_duplicate_keys(cut: tuple[str, list[str]]) -> None:
    """If each value is read before the next fragment comes, equal values are one object, with duplicate keys too."""
    state = create_state()
    for fragment in cut[1]:
        shown, before = state.value, state
        state = parse_chunk(state, fragment)
        equal = same(*[NOTHING if value is MISSING else value for value in (shown, state.value)])
        assert (shown is state.value) is equal
        assert before.value is shown


@given(st.data(), small_cuts)
def test_law_10_identity_of_a_handle(data: st.DataObject, cut: tuple[str, list[str]]) -> None:
    """A handle keeps identities too, whenever its value is asked for; its values are those of the states."""
    _, fragments = cut
    parser, state, shown = ValueParser(), create_state(), []
    for fragment in fragments:
        state = parse_chunk(state, fragment)
        with suppress(JSONSyntaxError):
            parser.feed(fragment)
        if data.draw(st.booleans()):
            shown.append(parser.value)
            assert shown[-1] is state.value is MISSING or same(shown[-1], state.value)
    for earlier, later in pairwise(shown):
        assert (earlier is later) is same(*[NOTHING if value is MISSING else value for value in (earlier, later)])


DIALECTS = [
    Options(),
    Options(multiple=True),
    Options(on_error="skip"),
    Options(on_error="skip", multiple=True, duplicate_keys="error"),
    Options(trailing="ignore", floats="decimal"),
    Options(multiple="lines"),
    Options(on_error="skip", multiple="lines"),
]


@given(st.data(), small_cuts | broken_cuts, st.sampled_from(DIALECTS), st.sampled_from(["always", "never", "random"]))
def test_law_10_copy_on_write(data: st.DataObject, cut: tuple[str, list[str]], options: Options, asking: str) -> None:
    """However a parser is asked, its value is that of the tree; values that were handed out never change, and each of
    their parts that did not change is the same object in the next one. With several documents, duplicate keys, skipped
    errors and text around the JSON, too.
    """
    _, fragments = cut
    extract = options.multiple != "lines" and data.draw(st.booleans())
    parser, state = ValueParser(options, extract=extract), create_state(options, extract=extract)
    live = ValueParser(options, extract=extract, live=True)
    kept: list[tuple[object, object]] = []
    for fragment in fragments:
        before, state = state, parse_chunk(state, fragment)
        for each in (parser, live):
            with suppress(JSONSyntaxError):
                each.feed(fragment)
        finished = [] if state is before else list(state.finished)  # a state that reads nothing stays the same
        assert same(list(parser.finished), finished)
        assert same(list(live.finished), finished)
        if asking == "always" or (asking == "random" and data.draw(st.booleans())):
            value = parser.value
            assert value is parser.value
            kept.append((value, copy.deepcopy(value)))
            assert value is state.value is MISSING or same(value, state.value)
            assert live.value is value is MISSING or same(live.value, value)
    state = finalize(state)
    for each in (parser, live):
        with suppress(JSONSyntaxError):
            each.close()
        assert each.value is state.value is MISSING or same(each.value, state.value)
        assert each.errors == state.errors
    for value, snapshot in kept:
        assert value is snapshot or same(value, snapshot)
    for (earlier, _), (later, _) in pairwise(kept):
        if same_or_missing(earlier, later):
            assert options.on_error == "skip" or options.multiple or earlier is later
        else:
            assert_shared(earlier, later)


def test_law_10_handed_out_values_on_other_threads() -> None:
    """While a parser goes on, other threads read the values that it handed out: none of them ever changes."""
    rows = [{"id": i, "name": f"row {i}", "tags": ["a", {"b": "c" * (i % 7)}]} for i in range(60)]
    text = json.dumps({"rows": rows, "last": "x" * 50})

    def read_again(value: object, written: str) -> bool:
        return all(json.dumps(value) == written for _ in range(5))

    with ThreadPoolExecutor(4) as pool:
        parser, answers = ValueParser(), []
        for start in range(0, len(text), 5):
            parser.feed(text[start : start + 5])
            value = parser.value
            answers.append(pool.submit(read_again, value, json.dumps(value)))
        assert all(answer.result() for answer in answers)
    assert parser.close() == json.loads(text)


def same_or_missing(one: object, other: object) -> bool:
    """Whether two values are equal; MISSING is equal to itself alone."""
    if one is MISSING or other is MISSING:
        return one is other
    return same(one, other)


def has_duplicates(state: ParserState) -> bool:
    """Whether a key comes twice in an object of the newest document."""
    return any(isinstance(node, ObjectNode) and node.duplicates for node in state.walk())


def assert_shared(earlier: Any, later: Any) -> None:
    """Of two values of one array, all items but the last that the earlier one has are the same objects in the later."""
    while isinstance(earlier, list) and isinstance(later, list) and same(earlier[:-1], later[: len(earlier) - 1]):
        assert all(one is other for one, other in zip(earlier[:-1], later, strict=False))
        if not earlier or len(later) < len(earlier):
            return
        earlier, later = earlier[-1], later[len(earlier) - 1]


@given(strategies.cut(strategies.documents(small=True)))
def test_law_10_new_containers_are_few(cut: tuple[str, list[str]]) -> None:
    """A fragment makes no more containers than the open ones and those it opened; all others are the same objects."""
    _, fragments = cut
    states = states_of(fragments)
    for earlier, later in pairwise(states):
        old = {id(container) for container in containers(earlier.value)}
        new = [container for container in containers(later.value) if id(container) not in old]
        opened = sum(event.kind in (Kind.START_OBJECT, Kind.START_ARRAY) for event in later.events)
        assert len(new) <= len(earlier.open_path) + 1 + opened


def test_law_10_days_keep_their_identity() -> None:
    """The example of the README: a day that did not change is the same object, in value and in tree."""
    state = parse_chunk(create_state(), '{"days": [{"title": "Arrival"}, {"title": "Wal')
    later = parse_chunk(state, 'king"}')
    assert state.value["days"][0] is later.value["days"][0]
    assert state.value["days"][1] == {"title": "Wal"}
    assert state.root.at("$.days[0]") is later.root.at("$.days[0]")  # type: ignore[union-attr]
    assert parse_chunk(later, "  ").value is later.value
    assert parse_chunk(later, ', {"ti').value is not later.value
    assert parse_chunk(state, "").value is state.value


@pytest.mark.parametrize("name", corpus.DOCUMENTS)
def test_law_11_dumped_and_loaded_anywhere(name: str) -> None:
    """From every character on, the state that was dumped and loaded goes on as the one that was not."""
    text = corpus.DOCUMENTS[name]
    step = max(1, len(text) // 150)
    final = show(finalize(states_of([text])[-1]))
    for state in states_of(list(text))[::step]:
        dumped = json.loads(json.dumps(state.dump()))
        loaded = ParserState.load(dumped)
        assert show(loaded) == show(state)
        assert loaded.root == state.root
        assert show(finalize(parse_chunk(loaded, text[state.index :]))) == final


@given(st.data(), small_cuts, strategies.dialects())
def test_law_11_dumped_and_loaded_in_any_dialect(
    data: st.DataObject, cut: tuple[str, list[str]], dialect: dict[str, Any]
) -> None:
    """Broken or not, in any dialect, from any state on."""
    _, fragments = cut
    states = states_of(fragments, **dialect)
    place = data.draw(st.integers(0, len(states) - 1))
    loaded = ParserState.load(json.loads(json.dumps(states[place].dump())))
    assert show(loaded) == show(states[place])
    for fragment in fragments[place:]:
        loaded = parse_chunk(loaded, fragment)
    assert show(finalize(loaded)) == show(finalize(states[-1]))


@given(st.data(), strategies.documents(small=True))
def test_law_11_in_the_middle_of_a_character(data: st.DataObject, text: str) -> None:
    """A dump may be taken between two bytes of one character."""
    raw = text.encode("utf-8", "surrogatepass")
    assume(raw.decode("utf-8", "replace") == text)
    place = data.draw(st.integers(0, len(raw)))
    loaded = ParserState.load(parse_chunk(create_state(), raw[:place]).dump())
    assert show(parse_chunk(loaded, raw[place:])) == show(parse_chunk(create_state(), raw))


def test_law_11_in_another_process() -> None:
    """The dump is all that the other process needs."""
    text = '{"days":[{"title":"Gr\\u00fc\\ud83d\\ude00n","n":-1.50e+2},tru'
    program = (
        "import json, sys; from unspool import *; "
        "dump, rest = json.load(sys.stdin); "
        "state = finalize(parse_chunk(ParserState.load(dump), rest)); "
        "json.dump([state.result, state.dump()], sys.stdout)"
    )
    rest = "e]}"
    for place in (0, 5, 21, 25, 29, 33, 40, 45, 49, len(text)):
        state = parse_chunk(create_state(), text[:place])
        sent = json.dumps([state.dump(), text[place:] + rest])
        if place not in (25, 33):  # two are enough to go the whole way; the others are quick
            loaded = ParserState.load(json.loads(sent)[0])
            assert show(parse_chunk(loaded, text[place:] + rest)) == show(parse_chunk(create_state(), text + rest))
            continue
        done = subprocess.run([sys.executable, "-c", program], input=sent, capture_output=True, text=True, check=True)
        expected = finalize(parse_chunk(create_state(), text + rest))
        assert json.loads(done.stdout) == [expected.result, json.loads(json.dumps(expected.dump()))]


JUNK = [
    None,
    True,
    -1,
    0,
    1,
    3,
    10**30,
    1.5,
    "",
    "x",
    "STRING",
    "END",
    "\\u",
    "zz",
    [],
    [1],
    {},
    {"a": 1},
    [["["]],
    [["]"]],
]


@given(st.data(), small_texts, st.sampled_from(JUNK))
def test_law_11_a_mutated_dump_is_a_state_error(data: st.DataObject, text: str, junk: Any) -> None:
    """Whatever is changed in a dump: a `StateError`, or a state that goes on without any other exception."""
    place = data.draw(st.integers(0, len(text)))
    dumped: Any = json.loads(json.dumps(parse_chunk(create_state(), text[:place]).dump()))
    target, key = dumped, data.draw(st.sampled_from(sorted(dumped)))
    while isinstance(target[key], (dict, list)) and target[key] and data.draw(st.booleans()):
        target = target[key]
        keys = sorted(target) if isinstance(target, dict) else list(range(len(target)))
        key = data.draw(st.sampled_from(keys))
    if data.draw(st.integers(0, 5)) == 0:
        del target[key]
    else:
        target[key] = junk
    try:
        state = ParserState.load(dumped)
    except StateError:
        return
    for fragment in (text[place:], '"', "]", "}", ",", "1 "):
        state = parse_chunk(state, fragment)
        _ = show(finalize(state)), state.events


@pytest.mark.parametrize("junk", [None, [], 1, "", {}, {"version": 1}, {"version": 2}])
def test_law_11_what_is_no_dump_is_a_state_error(junk: Any) -> None:
    """Anything else than a dump is a `StateError`."""
    with pytest.raises(StateError):
        ParserState.load(junk)


@given(st.data(), strategies.cut(strategies.documents(halves=True)), strategies.limits())
def test_law_12_limits_trip_at_one_offset(
    data: st.DataObject, cut: tuple[str, list[str]], limit: dict[str, int]
) -> None:
    """Through states, forked, dumped and loaded on the way, a limit trips where it trips for the whole."""
    text, fragments = cut
    expected = read(text, **limit).error
    states = states_of(fragments, **limit)
    place = data.draw(st.integers(0, len(fragments)))
    loaded = ParserState.load(states[place].dump())
    for fragment in fragments[place:]:
        loaded = parse_chunk(loaded, fragment)
    for state in (states[-1], loaded, states_of([text.encode("utf-8", "surrogatepass")], **limit)[-1]):
        assert (state.error and fault(state.error)) == expected

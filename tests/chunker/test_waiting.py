"""Rule 8 (``empty="wait"``), patience for open values, stalled values, the kept text, and what a chunker tells."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import chains
from tests.support.chains import Chain
from unspool import (
    MISSING,
    Conflict,
    Options,
    OptionsError,
    Path,
    Reason,
    SnapshotChunker,
    SnapshotError,
    Stall,
    StateError,
    achunk_snapshots,
    chunk_snapshots,
)
from unspool.testing import assert_fragments_are


def respool(*snapshots: Any, **options: Any) -> list[str]:
    """What is written for each snapshot, and by the flush. It is the last snapshot."""
    chunker = SnapshotChunker(keep_text=True, **options)
    fragments = [*[chunker.process(snapshot) for snapshot in snapshots], chunker.flush()]
    assert chunker.emitted == "".join(fragments)
    assert_fragments_are(fragments, snapshots[-1])
    return fragments


def again(chunker: SnapshotChunker, **functions: Any) -> SnapshotChunker:
    return SnapshotChunker.load(json.loads(json.dumps(chunker.dump())), **functions)


# ---- empty values wait ---------------------------------------------------------------------------------------


def test_the_fields_of_a_model_are_filled_in_turn() -> None:
    """The stream of the issue: without the option it is a conflict, with it each text comes as soon as it is there."""
    stream = [
        '{"title":"","days":[]}',
        '{"title":"Tr","days":[]}',
        '{"title":"Trip","days":[]}',
        '{"title":"Trip","days":[{"name":"","hours":0}]}',
        '{"title":"Trip","days":[{"name":"Mon","hours":0}]}',
        '{"title":"Trip","days":[{"name":"Mon","hours":1}]}',
        '{"title":"Trip","days":[{"name":"Mon","hours":12}]}',
        '{"title":"Trip","days":[{"name":"Mon","hours":12},{"name":"","hours":0}]}',
    ]
    assert respool(*stream, empty="wait") == [
        *("", '{"title":"Tr', "ip", "", '","days":[{"name":"Mon', '"', "", ""),
        ',"hours":12},{"name":"","hours":0}]}',
    ]
    with pytest.raises(SnapshotError):
        respool(*stream)


@pytest.mark.parametrize("empty", ["null", "0", "0.0", "-0", "0e5", "false", '""', "[]", "{}", "[0,null]", '{"x":[]}'])
def test_what_is_empty(empty: str) -> None:
    """Each of these may be the default of a value that comes later, of any kind; if it stays, it is written late."""
    for later in ('"text"', "[1]", '{"x":"y"}', "true", "7"):
        respool(f'{{"a":{empty},"s":"x"}}', f'{{"a":{empty},"s":"xy"}}', f'{{"a":{later},"s":"xy"}}', empty="wait")
    assert respool(f'{{"a":{empty},"s":"x"}}', f'{{"a":{empty},"s":"xy"}}', empty="wait") == [
        *('{"s":"x', "y"),
        f'","a":{empty}}}',
    ]


@pytest.mark.parametrize("filled", ["1", "-0.1", "1e-9", '" "', "true", "[true]", '{"x":1}'])
def test_what_is_not_empty(filled: str) -> None:
    """These are values that something was written to."""
    first, *_ = respool(f'{{"a":{filled}}}', empty="wait")
    assert first.startswith("{")


@pytest.mark.parametrize("root", ["null", "0", "12", '""', "{}", "[]", '{"a":null}'])
def test_a_document_that_is_empty_waits(root: str) -> None:
    """Nothing of it is written until it is filled, or the flush. A dump knows that."""
    assert respool(root, empty="wait") == ["", root]
    chunker = SnapshotChunker(empty="wait")
    assert chunker.process(root) == ""
    loaded = again(chunker)
    assert "waits" in repr(loaded)
    assert loaded.process('{"a":"x"}') == '{"a":"x'
    assert loaded.flush() == '"}'
    assert again(loaded).flush() == loaded.flush() == ""


def test_numbers_that_grow_by_halves() -> None:
    """A number waits until something comes behind it, in an object and in an array."""
    assert respool('{"n":1}', '{"n":12}', '{"n":12,"s":"x"}', empty="wait") == ["{", "", '"n":12,"s":"x', '"}']
    assert respool("[1]", "[12]", "[12,3]", "[12,34]", empty="wait") == ["[", "", "12", "", ",34]"]
    assert respool('[{"a":"x"},1]', '[{"a":"x"},12,"s"]', empty="wait") == ['[{"a":"x"}', ',12,"s', '"]']


def test_ordinary_snapshots_with_the_option() -> None:
    """They are read as well: only empty values and numbers are later than without it."""
    assert respool('{"a":"x"}', '{"a":"xy","t":true}', '{"a":"xy","t":true,"b":""}', empty="wait") == [
        *('{"a":"x', 'y","t":true', ""),
        ',"b":""}',
    ]


def test_a_default_that_is_not_empty_is_a_conflict() -> None:
    """The chunker cannot know it, and says so when it changes."""
    chunker = SnapshotChunker(empty="wait")
    chunker.process({"state": "draft", "title": ""})
    chunker.process({"state": "draft", "title": "T"})
    with pytest.raises(SnapshotError) as caught:
        chunker.process({"state": "final", "title": "T"})
    assert caught.value.reason is Reason.REWRITTEN


def test_deep_empty_values_cost_linear_time() -> None:
    """Each container is looked at once for each snapshot, however deep it is."""
    value: Any = {"a": "x"}
    for _ in range(3000):
        value = {"empty": [], "inner": value, "zero": 0}
    chunker = SnapshotChunker(empty="wait", options=Options(max_depth=None, max_path=None))
    text = chunker.process(value)
    assert text.count("inner") == 3000
    assert (text + chunker.flush()).count('"zero":0') == 3000


# ---- patience ------------------------------------------------------------------------------------------------

BESIDE = ['{"left":{"text":"a"}}', '{"left":{"text":"ab"},"right":"r"}', '{"left":{"text":"abc"},"right":"r"}']


def test_patience_covers_what_moving_on_would_close() -> None:
    """The open value stays open while the news beside it wait, at any distance."""
    with pytest.raises(SnapshotError):
        respool(*BESIDE)
    assert respool(*BESIDE, patience=1) == ['{"left":{"text":"a', "b", "c", '"},"right":"r"}']
    further = [f'{{"x":[{snapshot}]}}' for snapshot in BESIDE]
    assert respool(*further, patience=1) == ['{"x":[{"left":{"text":"a', "b", "c", '"},"right":"r"}]}']
    items = ['["a"]', '["ab","x"]', '["abc","x"]', '["abc","xy"]', '["abc","xyz"]']
    assert respool(*items, patience=1) == ['["a', "b", "c", '","xy', "z", '"]']


@pytest.mark.parametrize("patience", [1, 2, 3])
def test_patience_counts_the_snapshots_since_the_last_change(patience: int) -> None:
    """The open value is closed after so many further distinct snapshots in which it stays the same."""
    chunker = SnapshotChunker(patience=patience)
    chunker.process({"a": "x"})
    written = [chunker.process({"a": "x", "b": "y" * count}) for count in range(1, 6)]
    assert [bool(fragment) for fragment in written] == [count >= patience for count in range(5)]
    assert chunker.process({"a": "x", "b": "y" * 5}) == ""


# ---- values that grow together -----------------------------------------------------------------------------------

TOGETHER = [{"a": "", "b": "", "c": ""}, {"a": "1", "b": "1", "c": ""}, {"a": "12", "b": "12", "c": ""}]


@pytest.mark.parametrize("options", [{}, {"patience": 1}])
def test_values_that_grow_together_are_stalled(options: dict[str, Any]) -> None:
    """They are listed with their first step, and the hook is told, once for each that is new."""
    calls: list[tuple[Stall, ...]] = []
    chunker = SnapshotChunker(on_stall=calls.append, **options)
    assert chunker.process(TOGETHER[0]) == "{"
    assert chunker.stalled == ()
    assert [chunker.process(snapshot) for snapshot in TOGETHER[1:]] == ["", ""]
    stalled = (Stall(Path.of("a"), 2), Stall(Path.of("b"), 2))
    assert set(chunker.stalled) == set(stalled)
    assert len(calls) == 1
    chunker.process({"a": "123", "b": "123", "c": "1"})
    assert len(calls) == 2
    assert set(calls[1]) == {*stalled, Stall(Path.of("c"), 4)}
    assert set(again(chunker).stalled) == set(chunker.stalled)
    if not options:
        assert chunker.process({"a": "1234", "b": "123", "c": "1"}) == '"b":"123","c":"1","a":"1234'
        assert chunker.stalled == ()
    chunker.flush()
    assert chunker.stalled == ()


def test_empty_values_that_are_filled_together_are_stalled() -> None:
    """The same with empty values that wait."""
    chunker = SnapshotChunker(empty="wait")
    for snapshot in TOGETHER:
        chunker.process(snapshot)
    assert {str(stall.path): stall.since for stall in chunker.stalled} == {"$.a": 3, "$.b": 3}


@pytest.mark.parametrize("options", [{}, {"empty": "wait"}, {"patience": 1}])
def test_news_beside_values_that_grow_together(options: dict[str, Any]) -> None:
    """A new key does not call them complete: they may both go on, and so nothing of them is written."""
    steps = [{"a": "x" * count, "b": "y" * count} for count in (1, 2)]
    steps += [{"a": "x" * count, "b": "y" * count, "c": "new"} for count in (3, 4)]
    assert respool(*steps, **options) == ["{", "", "", "", '"a":"xxxx","b":"yyyy","c":"new"}']


def test_a_hook_that_raises_changes_nothing() -> None:
    """The snapshot counts as not taken: its text is not lost."""

    def refuse(_: object) -> None:
        raise LookupError

    chunker = SnapshotChunker(on_stall=refuse)
    chunker.process(TOGETHER[0])
    before = chunker.dump()
    with pytest.raises(LookupError):
        chunker.process(TOGETHER[1])
    assert chunker.dump() == before
    chunker.reset()
    assert chunker.stalled == ()


@given(chains.all_chains())
def test_a_chain_that_is_written_from_left_to_right_never_stalls(chain: Chain) -> None:
    """Nothing that follows the rules is called stalled."""
    chunker = SnapshotChunker(**chain.options)
    for snapshot in chain.inputs:
        chunker.process(snapshot)
        assert chunker.stalled == ()


# ---- a function decides about conflicts ------------------------------------------------------------------------


def test_a_function_decides() -> None:
    """It gets the place, the reason and both values; "keep" goes on, "raise" raises and changes nothing."""
    asked: list[Conflict] = []

    def decide(conflict: Conflict) -> Any:
        asked.append(conflict)
        return "keep" if conflict.path == ("n",) else "raise"

    chunker = SnapshotChunker(on_conflict=decide)
    chunker.process({"n": 1.5, "s": "x"})
    assert chunker.process({"n": 2, "s": "xy"}) == "y"
    assert chunker.process({"n": 2, "s": "xyz"}) == "z"
    assert [(str(one.path), one.reason, one.step, one.before, one.after) for one in asked] == [
        ("$.n", Reason.CHANGED, 2, 1.5, 2)
    ]
    assert repr(asked[0]) == "Conflict($.n, changed, step=2)"
    before = chunker.dump()
    with pytest.raises(SnapshotError):
        chunker.process({"n": 2})
    assert asked[-1].after is MISSING
    assert chunker.dump() == before
    with pytest.raises(StateError, match="pass it to load"):
        again(chunker)
    assert again(chunker, on_conflict=decide).flush() == chunker.flush() == '"}'


@pytest.mark.parametrize("answer", [None, True, "no", ["keep"]])
def test_an_answer_that_is_none(answer: Any) -> None:
    """Anything but the two words is an error of the caller, and nothing changed."""
    chunker = SnapshotChunker(on_conflict=lambda _: answer)
    chunker.process([1])
    with pytest.raises(TypeError, match="on_conflict must return"):
        chunker.process([2])
    assert chunker.flush() == "]"


@given(chains.contradictions(), st.sampled_from(["keep", "raise"]))
def test_a_function_with_one_answer_is_that_word(chain: Chain, answer: Any) -> None:
    """A function that always says the same does what the word does."""
    word = SnapshotChunker(on_conflict=answer, **chain.options)
    function = SnapshotChunker(on_conflict=lambda _: answer, **chain.options)
    for snapshot in chain.inputs:
        results: list[Any] = []
        for chunker in (word, function):
            try:
                results.append(chunker.process(snapshot))
            except SnapshotError as error:
                results.append(error)
        assert results[0] == results[1]
    assert word.conflicts == function.conflicts
    assert word.flush() == function.flush()


# ---- the kept text, and the representation ------------------------------------------------------------------------


@given(chains.all_chains(), st.data())
def test_the_text_is_kept(chain: Chain, data: st.DataObject) -> None:
    """`emitted` is all that was written, also after a dump; without `keep_text` it is not there."""
    chunker = SnapshotChunker(keep_text=True, **chain.options)
    text = ""
    for snapshot in chain.inputs:
        chunker = again(chunker) if data.draw(st.booleans()) else chunker
        text += chunker.process(snapshot)
        assert chunker.emitted == text
    text += chunker.flush()
    assert again(chunker).emitted == chunker.emitted == text
    chunker.reset()
    assert chunker.emitted == ""
    with pytest.raises(StateError, match="keep_text=True"):
        _ = SnapshotChunker().emitted


def test_what_a_chunker_says_of_itself() -> None:
    """What is open, what waits and why, in a bounded length."""
    chunker = SnapshotChunker()
    assert repr(chunker) == "SnapshotChunker(nothing open, step=0)"
    chunker.process({"a": {"b": ["x"]}})
    assert repr(chunker) == "SnapshotChunker(open at $.a.b[0], step=1, nothing waits)"
    chunker.process({"a": {"b": ["x"], "c": "", "d": ""}})
    assert repr(chunker) == "SnapshotChunker(open at $.a, step=2, waiting: 'c' (may be growing), 'd' (may be growing))"
    chunker.process({"a": {"b": ["x"], "c": "1", "d": "1"}})
    assert "'c' (grows together with others since step 3)" in repr(chunker)
    chunker.flush()
    assert repr(chunker) == "SnapshotChunker(complete, step=3)"

    waiting = SnapshotChunker(empty="wait")
    waiting.process({"n": 1, "s": "", "list": [2]})
    waiting.process({"n": 1, "s": "", "list": [2, 3]})
    assert repr(waiting) == (
        "SnapshotChunker(open at $.list, step=2, "
        "waiting: 1 at the end of $.list (may be filled, or not their turn), 's' (empty))"
    )
    whole = SnapshotChunker(empty="wait")
    whole.process({"s": ""})
    assert repr(whole) == "SnapshotChunker(nothing open, step=1, the whole document waits: it is empty)"
    whole.reset()
    whole.process(12)
    assert (
        repr(whole) == "SnapshotChunker(nothing open, step=1, the whole document waits: a number may get more digits)"
    )

    patient = SnapshotChunker(patience=2)
    patient.process({"a": "x"})
    patient.process({"a": "x", "b": "y", "c": 1})
    assert "'b' (not its turn), 'c' (not its turn)" in repr(patient)
    patient.process({"a": "x", "b": "y", "c": 1, "d": ""})
    assert "'b' (complete if it stays the same for 2 more)" in repr(patient)


@given(chains.all_chains(), st.integers(0, 2))
def test_what_a_chunker_says_is_short(chain: Chain, patience: int) -> None:
    """Whatever waits: one line of ASCII, never long."""
    chunker = SnapshotChunker(patience=patience, **chain.options)
    for snapshot in chain.inputs:
        chunker.process(snapshot)
        assert len(repr(chunker)) < 700
        assert "\n" not in repr(chunker)
    wide = SnapshotChunker()
    wide.process({"k" * 500 + str(number): "" for number in range(1000)})
    assert len(repr(wide)) < 400
    assert repr(wide).endswith("and 996 more)")


def test_a_chunker_is_not_pickled_or_copied() -> None:
    """The error says what to do instead."""
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"use dump\(\) and SnapshotChunker.load\(\)"):
            copied(SnapshotChunker())


# ---- settings ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        *({"empty": value} for value in (None, "", "Wait", True)),
        *({"on_conflict": value} for value in (None, "call", 1)),
        *({"on_stall": value} for value in ("raise", 1)),
        *({"keep_text": value} for value in (None, 1)),
    ],
)
def test_settings_that_are_none(options: dict[str, Any]) -> None:
    """They are refused by name."""
    with pytest.raises(OptionsError, match=next(iter(options))):
        SnapshotChunker(**options)


def test_the_iterators_take_the_settings() -> None:
    """The same settings as the chunker, or a chunker, and not both."""
    snapshots = [{"a": "", "n": 0}, {"a": "x", "n": 0}, {"a": "x", "n": 5}]
    assert list(chunk_snapshots(snapshots, empty="wait")) == ['{"a":"x', '"', ',"n":5}']
    calls: list[object] = []
    list(chunk_snapshots(TOGETHER, on_stall=calls.append))
    assert len(calls) == 1
    assert list(chunk_snapshots([[1], [2]], on_conflict=lambda _: "keep")) == ["[1", "]"]
    assert list(chunk_snapshots([["a"], ["ab", "c"]], patience=1)) == ['["a', "b", '","c"]']
    for iterate in (chunk_snapshots, achunk_snapshots):
        with pytest.raises(OptionsError, match="either a chunker or settings"):
            iterate([], empty="wait", chunker=SnapshotChunker())  # type: ignore[arg-type]


def test_a_dump_of_the_first_version_is_read() -> None:
    """Chunkers that were dumped before values could wait at every place go on."""
    chunker = SnapshotChunker(patience=1, on_conflict="keep")
    for snapshot in ({"x": {"a": "", "b": ""}}, {"x": {"a": "1", "b": ""}}, {"x": {"a": "12", "b": "", "c": ""}}):
        chunker.process(snapshot)
    old = dict(chunker.dump())
    levels: Any = old.pop("levels")
    old["version"], old["waiting"] = 1, levels[-1][2]
    for name in ("empty", "stalled", "emitted"):
        del old[name]
    assert SnapshotChunker.load(old).dump() == chunker.dump()
    for name, value in (("waiting", [["a", 7, 8]]), ("open", 5), ("open", None), ("version", True)):
        with pytest.raises(StateError):
            SnapshotChunker.load({**old, name: value})


@pytest.mark.parametrize("options", [{}, {"empty": "wait"}])
def test_the_order_of_completed_waiting_values(options: dict[str, Any]) -> None:
    """First those that did not move, then the one that moved, then what is new. A waiting document keeps its order."""
    steps = ['{"a":"x","b":"y"}', '{"c":"n","a":"xz","b":"y"}']
    assert respool(*steps, **options) == ["{", '"b":"y","a":"xz","c":"n', '"}']
    assert respool('{"a":""}', '{"b":"","a":""}', empty="wait") == ["", "", '{"a":"","b":""}']

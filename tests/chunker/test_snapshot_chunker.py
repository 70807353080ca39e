"""SnapshotChunker by example: its rules one by one, what it takes and refuses, what it does about contradictions."""

from __future__ import annotations

import json
import math
from collections import UserDict
from contextlib import suppress
from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Any

import pytest

import unspool
from tests.support.chains import Judge, load
from tests.support.steps import steps
from unspool import (
    COMPILED,
    Code,
    JSONSyntaxError,
    LimitError,
    Options,
    OptionsError,
    Path,
    Reason,
    SnapshotChunker,
    SnapshotError,
    StateError,
    UnspoolError,
    create_state,
    finalize,
    parse_chunk,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def respool(*snapshots: Any, **options: Any) -> list[str]:
    """What is written for each snapshot, and by the flush."""
    chunker = SnapshotChunker(**options)
    return [*[chunker.process(snapshot) for snapshot in snapshots], chunker.flush()]


def started(*snapshots: Any, **options: Any) -> SnapshotChunker:
    """A chunker that has had these snapshots."""
    chunker = SnapshotChunker(**options)
    for snapshot in snapshots:
        chunker.process(snapshot)
    return chunker


def refusal(chunker: SnapshotChunker, snapshot: Any) -> SnapshotError:
    """The error of a snapshot that is refused; the chunker is as it was before."""
    before = chunker.dump()
    with pytest.raises(SnapshotError) as caught:
        chunker.process(snapshot)
    assert chunker.dump() == before
    return caught.value


def told(error: SnapshotError) -> tuple[tuple[str | int, ...], Reason, int]:
    return error.path.steps, error.reason, error.step


def again(chunker: SnapshotChunker) -> SnapshotChunker:
    return SnapshotChunker.load(json.loads(json.dumps(chunker.dump())))


# ---- the worked example --------------------------------------------------------------------------------

BEGUN = '{"type": "Sightseeing", "description": "Embark", "title": "Morning Game Drive"}'
GAME_DRIVE = '{"description": "Embark on a drive.", "title": "Morning Game Drive", "type": "Sightseeing"}'
LUNCH = '{"type": "FoodAndDining", "title": "Lunch"}'
WORKED_EXAMPLE = [
    ('{"days": [{"subtitle": "Day"}]}', '{"days":[{"subtitle":"Day'),
    ('{"days": [{"subtitle": "Day 1: Arrival", "activities": []}]}', ' 1: Arrival","activities":['),
    ('{"days": [{"subtitle": "Day 1: Arrival", "activities": [{"title": "", "type": "Sightseeing"}]}]}', "{"),
    (
        '{"days": [{"activities": [' + BEGUN + '], "subtitle": "Day 1: Arrival"}]}',
        '"type":"Sightseeing","title":"Morning Game Drive","description":"Embark',
    ),
    ('{"days": [{"activities": [' + GAME_DRIVE + '], "subtitle": "Day 1: Arrival"}]}', " on a drive."),
    ('{"days": [{"subtitle": "Day 1: Arrival", "activities": [' + GAME_DRIVE + ', {"type": ""}]}]}', '"},{"type":"'),
    (
        '{"days": [{"activities": [' + GAME_DRIVE + ", " + LUNCH + '], "subtitle": "Day 1: Arrival"}]}',
        'FoodAndDining","title":"Lunch',
    ),
]


@pytest.mark.parametrize("form", [str, str.encode, json.loads], ids=["text", "bytes", "parsed"])
@pytest.mark.parametrize("moves", [False, True], ids=["stays", "moves"])
def test_the_worked_example(form: Callable[[str], Any], moves: bool) -> None:
    """The example of the documentation, output by output, whatever the form of the snapshots, dumped or not."""
    chunker, judge = SnapshotChunker(), Judge()
    for text, expected in WORKED_EXAMPLE:
        fragment = chunker.process(form(text))
        assert fragment == expected
        judge.take(fragment, load(text))
        assert chunker.process(form(text)) == ""
        chunker = again(chunker) if moves else chunker
    assert chunker.flush() == '"}]}]}'
    judge.finish('"}]}]}', load(WORKED_EXAMPLE[-1][0]))


def test_the_example_of_the_architecture() -> None:
    """A string that goes on, closed by the number behind it."""
    assert respool('{"name": "Mat"}', '{"name": "Matthew", "age": 32}') == ['{"name":"Mat', 'thew","age":32', "}"]


# ---- the rules -----------------------------------------------------------------------------------------

RULES: dict[str, tuple[list[str], list[str]]] = {
    "1: atoms are written at once, before any growable": (
        ['{"s":"x","n":1,"b":true,"c":null}'],
        ['{"n":1,"b":true,"c":null,"s":"x', '"}'],
    ),
    "1: atoms alone": (['{"n":1}', '{"n":1,"b":false}'], ['{"n":1', ',"b":false', "}"]),
    "1: atoms do not wait with the growables": (
        ['{"s":"","t":"","n":1}', '{"n":1,"s":"","t":"x"}'],
        ['{"n":1', ',"s":"","t":"x', '"}'],
    ),
    "1: atoms that come while two wait": (
        ['{"s":"","t":""}', '{"s":"","t":"","n":null}'],
        ["{", '"s":"","t":"","n":null', "}"],
    ),
    "2: one growable is opened: string": (['{"s":""}', '{"s":"ab"}'], ['{"s":"', "ab", '"}']),
    "2: one growable is opened: array": (['{"s":[]}', '{"s":[1]}'], ['{"s":[', "1", "]}"]),
    "2: one growable is opened: object": (['{"s":{}}', '{"s":{"t":{}}}'], ['{"s":{', '"t":{', "}}}"]),
    "2: behind an atom that closed the one before": (
        ['{"s":"x"}', '{"s":"x","n":1}', '{"s":"x","n":1,"t":""}'],
        ['{"s":"x', '","n":1', ',"t":"', '"}'],
    ),
    "3: two wait until one moves": (['{"s":"x","t":"y"}', '{"s":"x","t":"yz"}'], ["{", '"s":"x","t":"yz', '"}']),
    "3: the one that moves comes last": (
        ['{"s":"x","t":"y","u":"z"}', '{"s":"xy","t":"y","u":"z"}'],
        ["{", '"t":"y","u":"z","s":"xy', '"}'],
    ),
    "3: a container that moves is written as it was, then grown": (
        ['{"o":{"p":"1"},"t":""}', '{"o":{"p":"1","q":"2"},"t":""}'],
        ["{", '"t":"","o":{"p":"1","q":"2', '"}}'],
    ),
    "3: what waits inside a container that moves is decided with it": (
        ['{"o":{"p":"1","q":"2"},"t":""}', '{"t":"","o":{"q":"22","p":"1"}}'],
        ["{", '"t":"","o":{"p":"1","q":"22', '"}}'],
    ),
    "3: and waits inside, if it is new": (
        ['{"o":{},"t":""}', '{"o":{"p":"","q":""},"t":""}', '{"o":{"p":"1","q":""},"t":""}'],
        ["{", '"t":"","o":{', '"q":"","p":"1', '"}}'],
    ),
    "3: an array that moves": (
        ['{"a":["x"],"t":""}', '{"a":["xy","z"],"t":""}'],
        ["{", '"t":"","a":["xy","z', '"]}'],
    ),
    "3: two that come while one is open close it": (
        ['{"s":"x"}', '{"s":"xy","t":"","u":""}', '{"s":"xy","t":"","u":"z"}'],
        ['{"s":"x', 'y"', ',"t":"","u":"z', '"}'],
    ),
    "4: a new key closes the open value": (['{"s":"x"}', '{"s":"xy","t":""}'], ['{"s":"x', 'y","t":"', '"}']),
    "4: something further out closes all that is inside": (
        ['{"o":{"p":["x"]}}', '{"o":{"p":["xy"]},"t":"z"}'],
        ['{"o":{"p":["x', 'y"]},"t":"z', '"}'],
    ),
    "4: waiting siblings are complete, in the order in which they were seen": (
        ['{"s":"1","t":"2"}', '{"t":"2","u":"3","s":"1"}'],
        ["{", '"s":"1","t":"2","u":"3', '"}'],
    ),
    "4: waiting values are complete when something appears further out": (
        ['{"o":{"p":"1","q":"2"}}', '{"n":0,"o":{"q":"2","p":"1"}}'],
        ['{"o":{', '"p":"1","q":"2"},"n":0', "}"],
    ),
    "4: of those that waited the one that moved comes last there, too": (
        ['{"o":{"p":"1","q":"2"}}', '{"o":{"p":"11","q":"2"},"n":0}'],
        ['{"o":{', '"q":"2","p":"11"},"n":0', "}"],
    ),
    "4: and what is new there comes behind it": (
        ['[{"p":"1","q":"2"}]', '[{"r":"3","p":"11","q":"2"},0]'],
        ["[{", '"q":"2","p":"11","r":"3"},0', "]"],
    ),
    "4: the new ones may wait in their turn": (
        ['{"s":"1","t":"2"}', '{"v":"","s":"1","u":"","t":"2"}', '{"u":"","v":"x","s":"1","t":"2"}'],
        ["{", '"s":"1","t":"2"', ',"u":"","v":"x', '"}'],
    ),
    "4: whole ones, the one that moved, the new one": (
        ['{"s":"","t":"1"}', '{"u":"3","t":"1","s":"2"}'],
        ["{", '"t":"1","s":"2","u":"3', '"}'],
    ),
    "5: the last string of an array stays open": (
        ['["a","b"]', '["a","bc","d"]', '["a","bc","d"]'],
        ['["a","b', 'c","d', "", '"]'],
    ),
    "5: the last container of an array stays open": (
        ["[[],[]]", "[[],[[]],{}]", '[[],[[]],{"s":""}]'],
        ["[[],[", "[]],{", '"s":"', '"}]'],
    ),
    "5: items that are not the last are complete": (
        ['[{"s":"x","t":"y"},{"u":"z"}]'],
        ['[{"s":"x","t":"y"},{"u":"z', '"}]'],
    ),
    "5: what waits in the last item is complete with the next item": (
        ['[{"s":"","t":""}]', '[{"s":"","t":""},1]', '[{"s":"","t":""},1,""]'],
        ["[{", '"s":"","t":""},1', ',"', '"]'],
    ),
    "5: atoms in arrays": (["[1]", "[1,true]", "[1,true,null,2]"], ["[1", ",true", ",null,2", "]"]),
    "6: a repeat is nothing, whatever the order of keys": (
        ['{"s":"x","n":1}', '{"n":1,"s":"x"}', ' {"s" : "\\u0078", "n":1 }', '{"n":1,"s":"xy"}'],
        ['{"n":1,"s":"x', "", "", "y", '"}'],
    ),
    "6: what waits goes on waiting": (
        ['{"s":"","t":""}', '{"t":"","s":""}', '{"s":"","t":""}', '{"s":"","t":"x"}'],
        ["{", "", "", '"s":"","t":"x', '"}'],
    ),
    "7: nothing is closed by guess": (
        ['{"a":[[1,2],[3,4]]}', '{"a":[[1,2],[3,4]]}'],
        ['{"a":[[1,2],[3,4', "", "]]}"],
    ),
    "7: a flush writes what waits": (['{"s":"x","t":[{}]}'], ["{", '"s":"x","t":[{}]}']),
}


@pytest.mark.parametrize("rule", RULES)
def test_rules(rule: str) -> None:
    """Each rule by a small example, to the letter, and held to law 14."""
    snapshots, expected = RULES[rule]
    assert respool(*snapshots) == expected
    assert respool(*map(json.loads, snapshots)) == expected
    judge = Judge()
    for snapshot, fragment in zip(snapshots, expected, strict=False):
        judge.take(fragment, load(snapshot))
    judge.finish(expected[-1], load(snapshots[-1]))


def test_an_atom_beside_the_one_that_moved() -> None:
    """One that moved, one that did not, a new atom and a new growable: the new one is last, the others are closed."""
    fragments = respool('{"s":"1","t":"2"}', '{"n":5,"s":"1","t":"22","u":""}')
    assert fragments[0] == "{"
    assert fragments[1].endswith(',"u":"')
    assert load("".join(fragments)) == load('{"s":"1","t":"22","n":5,"u":""}')


@pytest.mark.parametrize(
    ("snapshot", "first", "rest"),
    [
        ("1", "1", ""),
        ("-0.50e+1", "-0.50e+1", ""),
        ("true", "true", ""),
        (" null\n", "null", ""),
        ('""', '"', '"'),
        ('"ab"', '"ab', '"'),
        ("[]", "[", "]"),
        ("{}", "{", "}"),
        ("[[[]]]", "[[[", "]]]"),
        (b'{"a": "\xc3\xa9"}', '{"a":"é', '"}'),
        (1, "1", ""),
        (True, "true", ""),
        (None, "null", ""),
        (1.0, "1.0", ""),
        ([], "[", "]"),
        ((), "[", "]"),
        ({}, "{", "}"),
    ],
)
def test_roots_of_any_kind(snapshot: Any, first: str, rest: str) -> None:
    """The root may be any value; repeated, it writes nothing."""
    assert respool(snapshot, snapshot) == [first, "", rest]


def test_a_root_string_grows() -> None:
    """A root string is open like any other."""
    assert respool('""', '"a"', '"a"', '"ab"') == ['"', "a", "", "b", '"']


KEYS = ["", ".", "a.b", "[0]", "0", " ", '"', "\\", "\n", "\x00", "\x7f", "é", "😀", "\u2028", "__proto__", "k" * 300]


@pytest.mark.parametrize("key", KEYS)
def test_keys_of_any_kind(key: str) -> None:
    """Keys are nothing but keys, written as json.dumps writes them."""
    quoted = json.dumps(key, ensure_ascii=False)
    assert respool({key: ""}, {key: "x"}, {key: "x", "n": 1}) == ["{" + quoted + ':"', "x", '","n":1', "}"]
    with pytest.raises(SnapshotError) as caught:
        started({key: [""]}).process({key: [1]})
    assert caught.value.path == (key, 0)


def test_all_keys_at_once() -> None:
    """Many odd keys in one object: they wait, and one of them moves."""
    first, moved = dict.fromkeys(KEYS, ""), KEYS[5]
    fragments = respool(first, {**first, moved: "x"})
    assert fragments[0] == "{"
    assert list(json.loads("".join(fragments))) == [*[key for key in KEYS if key != moved], moved]


@pytest.mark.parametrize("text", ['"\\', "\b\f\n\r\t\x00\x1f\x7f", "é€😀\u2028\ufeff", "</script>", "a\\u0041"])
def test_strings_are_written_as_json_writes_them(text: str) -> None:
    """Pieces of a string are escaped as json.dumps would, with nothing but what must be escaped."""
    written = respool(*[json.dumps(text[:end]) for end in range(len(text) + 1)])
    assert "".join(written) == json.dumps(text, ensure_ascii=False)
    assert written[1:-1] == [json.dumps(character, ensure_ascii=False)[1:-1] for character in text]


# ---- numbers -------------------------------------------------------------------------------------------


def test_numbers_of_a_text_keep_their_spelling() -> None:
    """However a number is spelled in the text, it is written so."""
    text = "[1,1.0,1.00,1e2,1E+2,-0,-0.0,0.10,0e-0,12345678901234567890123,1.7976931348623157e308,5e-324]"
    assert "".join(respool(text.replace(",", " , "))) == text
    assert "".join(respool(text.encode())) == text


def test_numbers_of_parsed_values() -> None:
    """Integers of any size are exact, floats as Python writes them, decimals as they are."""
    numbers = [10**300, -1, 1.0, -0.0, 1e22, 1e-7, 0.1, Decimal("1.50"), Decimal("-0"), Decimal("1E+400"), True]
    expected = f"[{10**300},-1,1.0,-0.0,1e+22,1e-07,0.1,1.50,-0,1E+400,true"
    assert respool(numbers, numbers) == [expected, "", "]"]


class OddFloat(float):
    """A float that shows itself in its own way."""

    def __repr__(self) -> str:
        return "odd"


class OddDecimal(Decimal):
    """A Decimal that shows itself in its own way."""

    def __str__(self) -> str:
        return "odd"


class Level(IntEnum):
    """An int with a name."""

    HIGH = 3


class Colour(StrEnum):
    """A str with a name."""

    RED = "red"


def test_kinds_of_numbers_and_strings() -> None:
    """Whatever is a number or a string is written as one, however else it shows itself."""
    value = [OddFloat(1.5), OddDecimal("2.50"), Level.HIGH, Colour.RED, {Colour.RED: ""}]
    assert respool(value, '[1.5,2.50,3,"red",{"red":"x"}]') == ['[1.5,2.50,3,"red",{"red":"', "x", '"}]']


def test_forms_may_be_mixed() -> None:
    """The same number, spelled the same, is the same in a text and in a parsed value."""
    assert respool(
        '{"n":1.5,"s":""}', {"n": 1.5, "s": "x"}, {"n": Decimal("1.5"), "s": "xy"}, b'{"n":1.5,"s":"xyz"}'
    ) == [
        '{"n":1.5,"s":"',
        *["x", "y", "z", '"}'],
    ]


# ---- surrogates ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("snapshots", "expected"),
    [
        ([r'"a\ud83d"', r'"a\ud83d\ude00"'], ['"a', "😀", '"']),
        ([r'"a\ud83d"'], ['"a', r'\ud83d"']),
        ([r'"a\ud83d"', r'"a\ud83dx"'], ['"a', r"\ud83dx", '"']),
        ([r'"\ude00"', r'"\ude00x"'], [r'"\ude00', "x", '"']),
        ([r'"\ud83d\ud83d"', r'"\ud83d\ud83d\ude00"'], [r'"\ud83d', "😀", '"']),
        ([r'"\ud83dx\ude00"'], [r'"\ud83dx\ude00', '"']),
        ([r'["\ud83d"]', r'["\ud83d","x"]'], ['["', r'\ud83d","x', '"]']),
        ([r'{"s":"\ud83d"}', r'{"s":"\ud83d","n":1}'], ['{"s":"', r'\ud83d","n":1', "}"]),
        ([r'{"s":"\ud83d"}', r'{"n":1,"s":"\ud83d\ude00"}'], ['{"s":"', '😀","n":1', "}"]),
        ([r'{"s":"\ud83d","t":""}', r'{"s":"\ud83d","t":"x"}'], ["{", r'"s":"\ud83d","t":"x', '"}']),
        ([r'"a\ud83d"', '"a"', '"ab"'], ['"a', "", "b", '"']),
        ([r'{"\ud83d":1}'], [r'{"\ud83d":1', "}"]),
        ([r'["\ud83d",""]'], [r'["\ud83d","', '"]']),
    ],
)
def test_half_a_surrogate_pair(snapshots: list[str], expected: list[str]) -> None:
    """Half a pair is kept, as an escape; at the end of an open string it waits for what comes behind it."""
    assert respool(*snapshots) == expected
    assert respool(*map(str.encode, snapshots)) == expected
    if not snapshots[0].startswith('"'):
        assert respool(*map(json.loads, snapshots)) == expected


def test_two_halves_that_meet_are_a_pair() -> None:
    """In a parsed value two halves may stand side by side; in JSON they are the pair, and can be encoded."""
    written = "".join(respool(["\ud83d"], ["\ud83d\ude00", "x"]))
    written.encode()
    assert json.loads(written) == ["😀", "x"]
    assert respool(["\ud83d\ude00"], ["😀"], '["😀x"]')[1:] == ["", "x", '"]']
    assert respool({"\ud83d\ude00": "x"}, {"😀": "x"}, '{"😀":"xy"}')[1:] == ["", "y", '"}']
    waiting = started({"\ud83d\ude00": "\ud83d\ude00", "b": ""})
    assert again(waiting).flush() == waiting.flush()


def test_two_spellings_of_one_key() -> None:
    """Two keys that are one in JSON are never written both: one of them wins, or the value is refused."""
    with suppress(SnapshotError):
        assert list(load("".join(respool({"\ud83d\ude00": 1, "😀": 2})))) == ["😀"]


# ---- flush, reset --------------------------------------------------------------------------------------


def test_flush() -> None:
    """A flush closes all, once; without a snapshot there is nothing to close."""
    chunker = SnapshotChunker()
    assert chunker.flush() == ""
    chunker = SnapshotChunker()
    assert not chunker.is_complete
    chunker.process('{"a":[""]}')
    assert not chunker.is_complete
    assert chunker.flush() == '"]}'
    assert chunker.is_complete
    assert chunker.flush() == ""
    assert chunker.is_complete


@pytest.mark.parametrize("snapshot", ['{"a":"x"}', "1", {"a": "y"}, "not JSON"])
@pytest.mark.parametrize("on_conflict", ["raise", "keep"])
def test_process_after_flush(snapshot: Any, on_conflict: Any) -> None:
    """A chunker that is flushed takes no snapshot, not even the same again, before it is reset."""
    chunker = started('{"a":"x"}', on_conflict=on_conflict)
    chunker.flush()
    before = chunker.dump()
    with pytest.raises(StateError):
        chunker.process(snapshot)
    assert chunker.dump() == before
    assert chunker.flush() == ""
    chunker.reset()
    assert not chunker.is_complete
    assert chunker.process('{"a":"x"}') == '{"a":"x'


def test_reset_in_the_middle() -> None:
    """A reset forgets what was open and what was written; steps count from 1 again."""
    chunker = started('{"a":"x","b":"y"}', '{"a":"xy","b":"y"}')
    chunker.reset()
    assert chunker.process('["z"]') == '["z'
    assert told(refusal(chunker, "[1]")) == ((0,), Reason.CHANGED_KIND, 2)
    assert chunker.flush() == '"]'


def test_reset_keeps_the_settings() -> None:
    """What was asked of the chunker still holds after a reset."""
    chunker = started('{"a":1}', '{"a":2}', on_conflict="keep", options=Options(max_string=2))
    assert len(chunker.conflicts) == 1
    chunker.reset()
    assert not chunker.conflicts
    chunker.process('{"a":1}')
    chunker.process('{"a":2}')
    assert [told(conflict) for conflict in chunker.conflicts] == [(("a",), Reason.CHANGED, 2)]
    assert refusal(chunker, '{"a":"xxx"}').reason is Reason.LIMIT


# ---- patience ------------------------------------------------------------------------------------------

PAUSING = ['{"s":"1","t":"2"}', '{"s":"1","t":"22"}', '{"s":"11","t":"22"}']


def test_patience_waits_for_a_value_that_paused() -> None:
    """A waiting value that pauses for one snapshot is complete without patience, and not yet with it."""
    chunker = started(*PAUSING[:2])
    assert told(refusal(chunker, PAUSING[2])) == (("s",), Reason.GREW_LATE, 3)
    patient = respool(*PAUSING, patience=1)
    assert load("".join(patient)) == load(PAUSING[2])
    assert '"s"' not in "".join(patient[:2])


@pytest.mark.parametrize("patience", [0, 1, 2, 3])
def test_patience_counts_distinct_snapshots(patience: int) -> None:
    """So many further snapshots must leave a value unchanged; a repeated one is not another."""
    chunker = SnapshotChunker(patience=patience)
    text = chunker.process('{"s":"1","t":""}')
    changes = 0
    while '"s"' not in text:
        changes += 1
        snapshot = '{"s":"1","t":"' + "x" * changes + '"}'
        text += chunker.process(snapshot)
        assert chunker.process(snapshot) == ""
        assert changes < 10
    assert changes == patience + 1


@pytest.mark.parametrize("patience", [1, 5])
def test_patience_does_not_hold_back_what_is_certain(patience: int) -> None:
    """What needs no guess is written at once: atoms, a growable alone, items first seen before others, all by flush."""
    assert respool('{"n":1,"s":"x"}', '{"n":1,"s":"xy"}', patience=patience) == ['{"n":1,"s":"x', "y", '"}']
    assert respool('["a","b"]', '["a","bc"]', patience=patience) == ['["a","b', "c", '"]']
    assert "".join(respool('{"s":"1","t":"2"}', patience=patience)) == '{"s":"1","t":"2"}'


# ---- arguments -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        *({"on_conflict": value} for value in ("", "restart", "KEEP", None, True, 1)),
        *({"patience": value} for value in (-1, 1.0, "1", None, True)),
        *({"options": value} for value in (5, 0, "", "strict")),
    ],
)
def test_bad_arguments(arguments: dict[str, Any]) -> None:
    """What makes no sense is refused when the chunker is made."""
    with pytest.raises(OptionsError):
        SnapshotChunker(**arguments)


def test_public_names() -> None:
    """The chunker and its error are at the top; the error is of the family."""
    assert {"SnapshotChunker", "TextChunker", "chunk_snapshots", "achunk_snapshots", "SnapshotError", "Reason"} <= set(
        unspool.__all__
    )
    assert issubclass(SnapshotError, UnspoolError)
    assert issubclass(SnapshotError, ValueError)
    error = SnapshotError(Path.of("a", 0), Reason.SHRUNK, 7)
    assert told(error) == (("a", 0), Reason.SHRUNK, 7)
    assert "$.a[0]" in str(error)
    assert "7" in str(error)
    assert set(Reason) == {
        *("not_json", "limit", "rewritten", "shrunk", "vanished", "changed", "changed_kind", "grew_late", "shorter"),
        "out_of_order",
    }


# ---- parsed values -------------------------------------------------------------------------------------


def test_parsed_values_are_copied() -> None:
    """What the caller does to a value afterwards is his own affair: written, open or waiting."""
    item: dict[str, Any] = {"s": "x"}
    value: dict[str, Any] = {"items": [item]}
    chunker = SnapshotChunker()
    assert chunker.process(value) == '{"items":[{"s":"x'
    item["s"] = "y"
    value["items"].append(1)
    value.clear()
    assert chunker.process({"items": [{"s": "xy"}]}) == "y"
    waiting: dict[str, Any] = {"a": ["1"], "b": {"c": []}}
    chunker.reset()
    assert chunker.process(waiting) == "{"
    waiting["a"].append("2")
    waiting["b"]["c"].append({})
    waiting["d"] = 1
    assert chunker.process({"a": ["1"], "b": {"c": []}}) == ""
    assert chunker.flush() == '"a":["1"],"b":{"c":[]}}'


def test_parsed_values_are_not_changed() -> None:
    """Nor does the chunker change what it is given."""
    value = {"a": ["1", {"b": "2", "c": []}], "d": "3"}
    before = json.dumps(value)
    respool(value, {**value, "e": ""}, {**value, "e": "x"})
    assert json.dumps(value) == before


def test_tuples_are_arrays() -> None:
    """A tuple and a list with the same items say the same."""
    assert respool(("a", ("b",)), ["a", ["b"]], ("a", ["b", ()])) == ['["a",["b', "", '",[', "]]]"]


def test_a_str_is_always_a_text() -> None:
    """A string alone is JSON text, never a value; inside a value it is a value."""
    assert respool('"a"') == ['"a', '"']
    assert respool(['"a"']) == ['["\\"a\\"', '"]']
    assert refusal(SnapshotChunker(), "a").reason is Reason.NOT_JSON


class Odd:
    """Something that is no JSON."""


NOT_JSON_VALUES: list[tuple[Any, tuple[Any, ...]]] = [
    (math.nan, ()),
    (math.inf, ()),
    (Decimal("NaN"), ()),
    (Decimal("-Infinity"), ()),
    ({1, 2}, ()),
    (Odd(), ()),
    (Odd, ()),
    (1j, ()),
    (UserDict({"a": 1}), ()),
    (iter([]), ()),
    (range(3), ()),
    ({"a": [1, {"b": math.nan}]}, ("a", 1, "b")),
    ({"a": [1, {"b": -math.inf}]}, ("a", 1, "b")),
    ([[], [set()]], (1, 0)),
    ({"a": {"b": b"bytes"}}, ("a", "b")),
    ({"a": (1, bytearray())}, ("a", 1)),
    ({"": {"a.b": Odd()}}, ("", "a.b")),
]


@pytest.mark.parametrize(("value", "path"), NOT_JSON_VALUES)
@pytest.mark.parametrize("on_conflict", ["raise", "keep"])
def test_values_that_are_not_json(value: Any, path: tuple[Any, ...], on_conflict: Any) -> None:
    """What JSON does not have is refused with its path; nothing has changed."""
    assert told(refusal(SnapshotChunker(on_conflict=on_conflict), value)) == (path, Reason.NOT_JSON, 1)
    chunker = started('{"a":[1,{"b":"x"}]}', on_conflict=on_conflict)
    assert told(refusal(chunker, value)) == (path, Reason.NOT_JSON, 2)
    assert chunker.conflicts == ()
    assert chunker.process('{"a":[1,{"b":"xy"}]}') == "y"
    assert chunker.flush() == '"}]}'


@pytest.mark.parametrize("key", [1, 1.5, None, True, b"k", ("k",), Odd()])
def test_keys_that_are_not_strings(key: Any) -> None:
    """json.dumps would make strings of some of them; here they are refused."""
    error = refusal(SnapshotChunker(), {"a": [{key: 1}]})
    assert error.reason is Reason.NOT_JSON
    assert error.path.steps[:2] == ("a", 0)


def test_values_with_a_circle() -> None:
    """A value that holds itself is refused."""
    circle: dict[str, Any] = {"a": []}
    circle["a"].append(circle)
    chunker = started({"a": []})
    error = refusal(chunker, circle)
    assert error.reason in {Reason.LIMIT, Reason.NOT_JSON}
    assert error.path.steps[:2] == ("a", 0)
    assert chunker.process({"a": [1]}) == "1"


def nested(depth: int, *, keyed: bool = False) -> Any:
    value: Any = {} if keyed else []
    for _ in range(depth - 1):
        value = {"k": value} if keyed else [value]
    return value


@pytest.mark.parametrize("keyed", [False, True])
def test_values_as_deep_as_allowed(keyed: bool) -> None:
    """128 levels are taken, as a text and as a value; one more is over the limit; so are very many."""
    assert respool(nested(128, keyed=keyed)) == respool(json.dumps(nested(128, keyed=keyed)))
    for depth in (129, 500, 100_000):
        error = refusal(SnapshotChunker(), nested(depth, keyed=keyed))
        assert told(error) == ((("k",) if keyed else (0,)) * 128, Reason.LIMIT, 1)
    deep = SnapshotChunker(options=Options(max_depth=2))
    assert deep.process([[]]) == "[["
    assert told(refusal(deep, [[[]]])) == ((0, 0), Reason.LIMIT, 2)


@pytest.mark.parametrize(
    ("options", "fits", "value", "path"),
    [
        (Options(max_string=3), ["abc"], ["abcd"], (0,)),
        (Options(max_string=3), {"a": {"b": "abc"}}, {"a": {"b": "abcd"}}, ("a", "b")),
        (Options(max_key=3), {"a": {"abc": 1}}, {"a": {"abcd": 1}}, ("a",)),
        (Options(max_number=3), {"a": [123]}, {"a": [1234]}, ("a", 0)),
        (Options(max_number=3), {"a": -12}, {"a": -1.25}, ("a",)),
        (Options(max_depth=1), {"a": 1}, {"a": {}}, ("a",)),
        (Options(), [10**999], [10**1000], (0,)),
    ],
)
def test_values_over_a_limit(options: Options, fits: Any, value: Any, path: tuple[Any, ...]) -> None:
    """The limits hold for parsed values as they hold for texts."""
    SnapshotChunker(options=options).process(fits)
    SnapshotChunker(options=options).process(json.dumps(fits))
    for snapshot in (value, json.dumps(value)):
        error = refusal(SnapshotChunker(options=options), snapshot)
        assert error.reason is Reason.LIMIT
        assert error.path.steps[: len(path)] == path


def test_integers_with_very_many_digits() -> None:
    """More digits than the interpreter converts: refused like any number that is too long."""
    assert told(refusal(SnapshotChunker(), {"n": 10**5000})) == (("n",), Reason.LIMIT, 1)


# ---- texts that are refused ----------------------------------------------------------------------------

BAD_TEXTS: list[tuple[str | bytes, Reason]] = [
    ("", Reason.NOT_JSON),
    (b"", Reason.NOT_JSON),
    (" \n\t", Reason.NOT_JSON),
    ("{", Reason.NOT_JSON),
    ('{"a":"x', Reason.NOT_JSON),
    ('{"a"', Reason.NOT_JSON),
    ("-", Reason.NOT_JSON),
    ("tru", Reason.NOT_JSON),
    ("{'a': 1}", Reason.NOT_JSON),
    ("[1,]", Reason.NOT_JSON),
    ("NaN", Reason.NOT_JSON),
    ("nulL", Reason.NOT_JSON),
    ("01", Reason.NOT_JSON),
    ("1e999", Reason.NOT_JSON),
    ('{"a":1} x', Reason.NOT_JSON),
    ('{"a":1}{"a":2}', Reason.NOT_JSON),
    ('{"a":"\n"}', Reason.NOT_JSON),
    ('{"a":"\\q"}', Reason.NOT_JSON),
    (b'{"a":"\xff"}', Reason.NOT_JSON),
    (b'{"a":"\xc3', Reason.NOT_JSON),
    (b'{"a":"\xed\xa0\xbd"}', Reason.NOT_JSON),
    ("[" * 129 + "]" * 129, Reason.LIMIT),
    ("[" * 100_000, Reason.LIMIT),
    ("[" * 100_000 + "]" * 100_000, Reason.LIMIT),
    ('{"a":' * 100_000, Reason.LIMIT),
    ("9" * 1001, Reason.LIMIT),
    ('{"' + "k" * 70_000 + '":1}', Reason.LIMIT),
]


def error_of(text: str | bytes) -> JSONSyntaxError:
    """What the parser says of the same text."""
    state = finalize(parse_chunk(create_state(), text))
    assert state.error is not None
    return state.error


@pytest.mark.parametrize(("text", "reason"), BAD_TEXTS, ids=lambda value: repr(value)[:20])
@pytest.mark.parametrize("on_conflict", ["raise", "keep"])
def test_texts_that_are_refused(text: str | bytes, reason: Reason, on_conflict: Any) -> None:
    """A text that is no JSON, or over a limit, is refused with the reader's error as its cause; nothing has changed."""
    first = refusal(SnapshotChunker(on_conflict=on_conflict), text)
    chunker = started('{"a":"x"}', '{"a":"xy"}', on_conflict=on_conflict)
    error = refusal(chunker, text)
    assert (first.reason, first.step, error.reason, error.step) == (reason, 1, reason, 3)
    cause = error.__cause__
    assert isinstance(cause, JSONSyntaxError)
    assert isinstance(cause, LimitError) is (reason is Reason.LIMIT)
    assert cause == error_of(text)
    assert error.path == cause.path
    assert chunker.conflicts == ()
    assert refusal(chunker, text).step == 3
    assert chunker.process('{"a":"xyz"}') == "z"
    assert chunker.flush() == '"}'


def test_messages_do_not_quote_the_text() -> None:
    """What is in a snapshot may be a secret: no message shows it."""
    for snapshot in ('{"k":"hunter2" x', '{"k":"hunter2"}', ["hunter2", math.nan], "hunter2"):
        assert "hunter2" not in str(refusal(started('{"k":"hunter3"}'), snapshot))


@pytest.mark.parametrize(
    ("options", "fits", "text", "code"),
    [
        (Options(max_chars=9), '{"a":"x"}', '{"a":"x"} ', Code.MAX_CHARS),
        (Options(max_string=2), '{"a":"xx"}', '{"a":"xxx"}', Code.MAX_STRING),
        (Options(max_key=1), '{"a":1}', '{"aa":1}', Code.MAX_KEY),
        (Options(max_number=2), "[12]", "[123]", Code.MAX_NUMBER),
        (Options(max_depth=1), "[1]", "[[]]", Code.MAX_DEPTH),
    ],
)
def test_texts_over_a_limit(options: Options, fits: str, text: str, code: Code) -> None:
    """The limits are those of the options."""
    chunker = SnapshotChunker(options=options)
    assert chunker.process(fits) != ""
    error = refusal(chunker, text)
    assert error.reason is Reason.LIMIT
    assert isinstance(error.__cause__, LimitError)
    assert error.__cause__.code is code


def test_a_key_that_comes_twice() -> None:
    """The last one wins, unless the options say that it is an error; it is never written twice."""
    assert respool('{"a":"x","a":"y"}') == ['{"a":"y', '"}']
    assert respool('{"a":1,"b":2,"a":"y"}')[0] == '{"b":2,"a":"y'
    error = refusal(SnapshotChunker(options=Options(duplicate_keys="error")), '{"a":"x","a":"y"}')
    assert error.reason is Reason.NOT_JSON
    assert isinstance(error.__cause__, JSONSyntaxError)
    assert error.__cause__.code is Code.DUPLICATE_KEY


# ---- contradictions ------------------------------------------------------------------------------------

# Accepted snapshots; one that contradicts; where and why; with "keep", what the whole text is in the end.
Contradiction = tuple[list[str], str, tuple[str | int, ...], Reason, str]

CONTRADICTIONS: dict[str, Contradiction] = {
    "an open string is rewritten": (['{"s":"abc"}'], '{"s":"xbc"}', ("s",), Reason.REWRITTEN, '{"s":"abc"}'),
    "an open string is rewritten and longer": (['{"s":"ab"}'], '{"s":"xbc"}', ("s",), Reason.REWRITTEN, '{"s":"ab"}'),
    "a closed string is rewritten": (['["ab",""]'], '["xb",""]', (0,), Reason.REWRITTEN, '["ab",""]'),
    "a root string is rewritten": (['"ab"'], '"xy"', (), Reason.REWRITTEN, '"ab"'),
    "an open string shrinks": (['{"s":"abc"}'], '{"s":"ab"}', ("s",), Reason.SHRUNK, '{"s":"abc"}'),
    "an open string becomes empty": (['["a"]'], '[""]', (0,), Reason.SHRUNK, '["a"]'),
    "a closed string shrinks": (['["ab",1]'], '["a",1]', (0,), Reason.SHRUNK, '["ab",1]'),
    "an atom vanishes": (['{"n":1,"s":"x"}'], '{"s":"x"}', ("n",), Reason.VANISHED, '{"n":1,"s":"x"}'),
    "an open value vanishes": (['{"s":"x"}'], "{}", ("s",), Reason.VANISHED, '{"s":"x"}'),
    "a closed value vanishes": (
        ['{"o":{"s":"x"}}', '{"o":{"s":"x","n":1}}'],
        '{"o":{"n":1}}',
        ("o", "s"),
        Reason.VANISHED,
        '{"o":{"s":"x","n":1}}',
    ),
    "a number changes": (['{"n":1}'], '{"n":2}', ("n",), Reason.CHANGED, '{"n":1}'),
    "a number goes on": (["[1]"], "[12]", (0,), Reason.CHANGED, "[1]"),
    "a root number changes": (["1"], "2", (), Reason.CHANGED, "1"),
    "a number is spelled in another way": (["[1]"], "[1.0]", (0,), Reason.CHANGED, "[1]"),
    "a boolean changes": (["[true]"], "[false]", (0,), Reason.CHANGED, "[true]"),
    "null to a string": (['{"n":null}'], '{"n":"x"}', ("n",), Reason.CHANGED_KIND, '{"n":null}'),
    "null to a number": (["[null]"], "[0]", (0,), Reason.CHANGED_KIND, "[null]"),
    "null to false": (["null"], "false", (), Reason.CHANGED_KIND, "null"),
    "a string to null": (['{"s":""}'], '{"s":null}', ("s",), Reason.CHANGED_KIND, '{"s":""}'),
    "a string to an object": (['{"s":"x"}'], '{"s":{}}', ("s",), Reason.CHANGED_KIND, '{"s":"x"}'),
    "an object to an array": (['{"o":{}}'], '{"o":[]}', ("o",), Reason.CHANGED_KIND, '{"o":{}}'),
    "a root object to an array": (["{}"], "[]", (), Reason.CHANGED_KIND, "{}"),
    "true to 1": (["[true]"], "[1]", (0,), Reason.CHANGED_KIND, "[true]"),
    "a number to its string": (["[1]"], '["1"]', (0,), Reason.CHANGED_KIND, "[1]"),
    "a closed string grows": (['["a","b"]'], '["ax","b"]', (0,), Reason.GREW_LATE, '["a","b"]'),
    "a closed string in an object grows": (
        ['{"s":"x"}', '{"s":"x","n":1}'],
        '{"s":"xy","n":1}',
        ("s",),
        Reason.GREW_LATE,
        '{"s":"x","n":1}',
    ),
    "a closed array grows": (
        ['{"a":[1]}', '{"a":[1],"s":""}'],
        '{"a":[1,2],"s":""}',
        ("a",),
        Reason.GREW_LATE,
        '{"a":[1],"s":""}',
    ),
    "a closed object gains a key": (["[{},1]"], '[{"k":1},1]', (0,), Reason.GREW_LATE, "[{},1]"),
    "an open array is shorter": (["[1,2]"], "[1]", (), Reason.SHORTER, "[1,2]"),
    "an open array loses its open item": (['{"a":["x",{}]}'], '{"a":["x"]}', ("a",), Reason.SHORTER, '{"a":["x",{}]}'),
    "a closed array is shorter": (["[[1,2],3]"], "[[1],3]", (0,), Reason.SHORTER, "[[1,2],3]"),
    "an array becomes empty": (["[[1]]"], "[[]]", (0,), Reason.SHORTER, "[[1]]"),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTRADICTIONS)
@pytest.mark.parametrize("is_text", [True, False], ids=["text", "parsed"])
def test_contradictions_are_raised(name: str, is_text: bool) -> None:
    """What contradicts the written text is refused, as often as it comes; then all goes on as if it had not come."""
    accepted, contradicting, path, reason, _ = CONTRADICTIONS[name]

    def form(text: str) -> Any:
        return text if is_text or text.startswith('"') else json.loads(text)

    chunker = started(*map(form, accepted))
    error = refusal(chunker, form(contradicting))
    assert told(error) == (path, reason, len(accepted) + 1)
    assert error.__cause__ is None
    assert told(refusal(chunker, form(contradicting))) == told(error)
    assert chunker.conflicts == ()
    assert again(chunker).process(form(accepted[-1])) == ""
    chunks = respool(*map(form, accepted))
    assert chunker.flush() == chunks[-1]
    assert load("".join(chunks)) == load(accepted[-1])


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_contradictions_are_kept(name: str) -> None:
    """With keep, what was written stays, nothing is raised, and the conflict is listed once for as long as it lasts."""
    accepted, contradicting, path, reason, final = CONTRADICTIONS[name]
    chunker = started(*accepted, on_conflict="keep")
    assert not chunker.conflicts
    for _ in range(3):
        assert chunker.process(contradicting) == ""
        [conflict] = chunker.conflicts
        assert isinstance(conflict, SnapshotError)
        assert told(conflict) == (path, reason, len(accepted) + 1)
    text = "".join(respool(*accepted, contradicting, on_conflict="keep"))
    assert text == final
    assert [told(conflict) for conflict in again(chunker).conflicts] == [(path, reason, len(accepted) + 1)]
    chunker.flush()
    assert len(chunker.conflicts) == 1


def test_what_waits_may_change() -> None:
    """Only what is written counts: a waiting value may be rewritten, shrink, change its kind or vanish."""
    for change in ('{"s":"x","t":"z"}', '{"s":"","t":"y"}', '{"s":{},"t":"y"}', '{"s":1,"t":"y"}', '{"t":"y"}', "{}"):
        chunks = respool('{"s":"x","t":"y"}', change)
        assert load("".join(chunks)) == load(change)


def test_several_that_wait_and_change_at_once_go_on_waiting() -> None:
    """Two that change at once tell nothing; the one that moves later does."""
    chunks = respool('{"s":"1","t":"2"}', '{"s":"11","t":"22"}', '{"s":"11","t":"222"}')
    assert chunks == ["{", "", '"s":"11","t":"222', '"}']


def test_several_that_change_beside_something_new_go_on_waiting() -> None:
    """A new key does not make them complete either; a new atom is written, a new growable waits with them."""
    with_atom = ['{"s":"1","t":"2"}', '{"s":"11","t":"22","n":0}', '{"s":"11","t":"222","n":0}']
    assert respool(*with_atom) == ["{", '"n":0', ',"s":"11","t":"222', '"}']
    with_growable = ['{"s":"1","t":"2"}', '{"s":"11","t":"22","u":""}', '{"s":"11","t":"222","u":""}']
    assert respool(*with_growable)[:2] == ["{", ""]
    assert load("".join(respool(*with_growable))) == load(with_growable[-1])


def test_steps_count_what_was_taken() -> None:
    """Repeats count; what was refused does not."""
    chunker = started("[1]", "[1]", "[1]")
    assert refusal(chunker, "[2]").step == 4
    assert refusal(chunker, "oops").step == 4
    chunker.process("[1,2]")
    assert refusal(chunker, "[1]").step == 5


def test_keep_goes_on_around_a_conflict() -> None:
    """Whatever else a snapshot says is still written; the conflict stays listed once."""
    chunker = SnapshotChunker(on_conflict="keep")
    chunks = [
        chunker.process(snapshot)
        for snapshot in (
            '{"n":1,"s":"x"}',
            '{"n":2,"s":"xy"}',
            '{"n":2,"s":"xyz","t":[]}',
            '{"n":2,"s":"xyz","t":["a"]}',
            '{"n":2,"s":"xyz","t":["ab",{}]}',
        )
    ]
    assert chunks == ['{"n":1,"s":"x', "y", 'z","t":[', '"a', 'b",{']
    assert [told(conflict) for conflict in chunker.conflicts] == [(("n",), Reason.CHANGED, 2)]
    assert chunker.flush() == "}]}"


def test_keep_takes_a_string_up_again() -> None:
    """A string that was rewritten is extended again once the snapshot starts with what was written."""
    assert respool('{"s":"ab"}', '{"s":"xb"}', '{"s":"xbc"}', '{"s":"abc"}', on_conflict="keep") == [
        *('{"s":"ab', "", "", "c", '"}')
    ]
    assert respool('["ab"]', '["a"]', '["ab"]', '["abc"]', on_conflict="keep") == ['["ab', "", "", "c", '"]']


def test_keep_lists_a_conflict_that_is_back() -> None:
    """Each conflict is listed when it begins: gone and back, it is listed again; and so is another reason."""
    chunker = started('{"s":"ab","n":1}', on_conflict="keep")
    for snapshot in ('{"s":"xb","n":1}', '{"s":"ab","n":1}', '{"s":"xb","n":1}', '{"s":"a","n":1}', '{"n":1,"s":"a"}'):
        assert chunker.process(snapshot) == ""
    assert [told(conflict) for conflict in chunker.conflicts] == [
        (("s",), Reason.REWRITTEN, 2),
        (("s",), Reason.REWRITTEN, 4),
        (("s",), Reason.SHRUNK, 5),
    ]


def test_keep_lists_all_conflicts_of_a_snapshot() -> None:
    """One snapshot may contradict in several places."""
    chunker = started('{"n":1,"b":true,"a":["x","y"]}', '{"n":2,"a":["z","yy"]}', on_conflict="keep")
    assert {told(conflict) for conflict in chunker.conflicts} == {
        (("n",), Reason.CHANGED, 2),
        (("b",), Reason.VANISHED, 2),
        (("a", 0), Reason.REWRITTEN, 2),
    }
    assert chunker.flush() == '"]}'


def test_keep_closes_what_vanished_when_more_comes() -> None:
    """A key that vanished while it was open stays as it was; what comes behind it is written."""
    chunks = respool('{"s":"x"}', '{"t":"y"}', '{"t":"yz"}', on_conflict="keep")
    assert load("".join(chunks)) == load('{"s":"x","t":"yz"}')


# ---- dumps ---------------------------------------------------------------------------------------------


def is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(type(key) is str and is_plain(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(is_plain, value))
    return value is None or type(value) in {bool, int, float, str}


DUMPED: dict[str, list[Any]] = {
    "nothing": [],
    "an atom": ["1.50"],
    "an open string": ['{"s":"x"}'],
    "half a pair": [r'{"s":"x\ud83d"}'],
    "waiting": ['{"s":"x","t":[{"u":1.50}],"v":{}}'],
    "spelled numbers": ['[1.50,{"s":""},-0]'],
    "decimals": [[Decimal("1.50"), 10**30, {"s": ""}]],
    "closed": ['[{"a":1},{"b":["x"]},"y"]'],
    "odd keys": [dict.fromkeys(KEYS, ""), {**dict.fromkeys(KEYS, ""), "": "x"}],
}


def test_what_is_open_and_what_waits() -> None:
    """The innermost open value, and the keys in it that wait; nothing before the first snapshot and after the last."""
    chunker = SnapshotChunker()
    seen = [(chunker.open_path, chunker.waiting)]
    snapshots: list[Any] = [{"a": {}}, {"a": {"x": "", "y": "1"}}, {"a": {"x": "2", "y": "1"}}, {"a": {}, "b": 1}]
    for snapshot in snapshots:
        with suppress(SnapshotError):
            chunker.process(snapshot)
        seen.append((chunker.open_path, chunker.waiting))
    chunker.flush()
    seen.append((chunker.open_path, chunker.waiting))
    assert seen == [
        (None, ()),
        (("a",), ()),
        (("a",), ("x", "y")),
        (("a", "x"), ()),
        (("a", "x"), ()),  # it was refused: a key that was written is gone
        (None, ()),
    ]


@pytest.mark.parametrize("name", DUMPED)
def test_dumps_are_plain_data(name: str) -> None:
    """A dump is JSON data with a version; what is loaded dumps the same, and the dump is not tied to its chunker."""
    chunker = started(*DUMPED[name], on_conflict="keep", patience=1, options=Options(max_depth=7))
    dumped = chunker.dump()
    assert is_plain(dumped)
    assert "version" in dumped
    text = json.dumps(dumped)
    assert json.loads(text) == dumped
    assert again(chunker).dump() == dumped
    loaded = SnapshotChunker.load(dumped)
    assert loaded.flush() == chunker.flush()
    assert json.dumps(dumped) == text


@pytest.mark.parametrize(
    ("snapshot", "options"),
    [
        ([Decimal("1E+400"), ""], Options()),
        ({"waits": [Decimal("-1E+400")], "too": ""}, Options()),
        ([Decimal("1E+400"), ""], Options(floats="decimal")),
        ([10**999, ""], Options()),
        ([10**2000, ""], Options(max_number=None)),
        ("[1e400]", Options(floats="decimal")),
        (["abcdefgh"], Options(max_chars=9)),
        ({"waits": ["abcdefgh"], "too": ""}, Options(max_chars=9)),
        ('["\ud83d\ud83d\ud83d"]', Options(max_chars=7)),
        ('["\\/"]', Options(max_chars=6, max_string=1, max_key=0, max_depth=1)),
        (["\ud83d\ud83d", {"\ude00": ""}], Options(surrogates="error")),
        ('{"a":1,"a":2}', Options(max_key=1)),
        ('{"a":[1,],}x', Options(trailing_commas=True, trailing="ignore")),
    ],
)
def test_what_was_taken_can_be_dumped_and_loaded(snapshot: Any, options: Options) -> None:
    """A snapshot is refused or taken; once it is taken, the dump can be loaded, and goes on."""
    chunker = SnapshotChunker(options=options)
    try:
        chunker.process(snapshot)
    except SnapshotError:
        return
    loaded = again(chunker)
    assert loaded.dump() == chunker.dump()
    assert loaded.process(snapshot) == ""
    assert loaded.flush() == chunker.flush()


def test_a_loaded_chunker_has_its_settings() -> None:
    """Options, patience and what to do about conflicts are part of the dump; so are the conflicts."""
    chunker = started('{"n":1}', '{"n":2}', on_conflict="keep", options=Options(max_string=2))
    loaded = again(chunker)
    assert [told(conflict) for conflict in loaded.conflicts] == [(("n",), Reason.CHANGED, 2)]
    assert refusal(loaded, '{"n":1,"s":"xxx"}').reason is Reason.LIMIT
    assert loaded.process('{"n":3,"s":"xx"}') == ',"s":"xx'
    patient = again(started(PAUSING[0], patience=1))
    assert '"s"' not in patient.process(PAUSING[1])


@pytest.mark.parametrize(
    "junk", [None, [], 1, "", "x", {}, {"version": 1}, {"version": 2}, {"version": True}, {"version": "1"}, [1], b"{}"]
)
def test_what_is_no_dump_is_a_state_error(junk: Any) -> None:
    """Anything else than a dump is a `StateError`."""
    with pytest.raises(StateError):
        SnapshotChunker.load(junk)


def test_a_dump_of_another_version_is_a_state_error() -> None:
    """A dump is loaded by the version that knows it, or not at all."""
    dumped: dict[str, Any] = started('{"s":"x","t":""}').dump()
    for version in (dumped["version"] + 1, 0, -1, None, "1", str(dumped["version"]), float(dumped["version"]), True):
        if version != dumped["version"] or type(version) is not int:
            with pytest.raises(StateError):
                SnapshotChunker.load({**dumped, "version": version})


def test_a_dump_with_more_or_less_in_it_is_a_state_error() -> None:
    """Each entry of a dump is needed."""
    dumped = started('{"s":"x","t":""}', on_conflict="keep").dump()
    for name in dumped:
        with pytest.raises(StateError):
            SnapshotChunker.load({key: value for key, value in dumped.items() if key != name})


# ---- cost ----------------------------------------------------------------------------------------------

# What a chunker has had before, and the one snapshot whose cost is counted, for n things in the document.
COSTS: dict[str, Callable[[int], tuple[list[Any], Any]]] = {
    "all at once": lambda n: ([], [{"k": "v"}] * n),
    "a string grows behind closed items": lambda n: ([[*[{"k": "v"}] * n, "x"]], [*[{"k": "v"}] * n, "xy"]),
    "an item is added": lambda n: ([[{"k": "v"}] * n], [*[{"k": "v"}] * n, {}]),
    "a wide object gains a key": lambda n: (
        [{f"k{i}": 1 for i in range(n)}],
        {**{f"k{i}": 1 for i in range(n)}, "s": ""},
    ),
    "very many wait": lambda n: ([], {f"k{i}": "" for i in range(n)}),
    "one of many that wait moves": lambda n: (
        [{f"k{i}": "" for i in range(n)}],
        {**{f"k{i}": "" for i in range(n)}, "k1": "x"},
    ),
    "all of many that wait move": lambda n: (
        [{f"k{i}": "" for i in range(n)}],
        {f"k{i}": "x" for i in range(n)},
    ),
    "a waiting container with much in it moves": lambda n: (
        [{"a": [[1]] * n, "b": ""}],
        {"a": [*[[1]] * n, ""], "b": ""},
    ),
    "a repeat": lambda n: ([{f"k{i}": ["v"] for i in range(n)}], {f"k{i}": ["v"] for i in range(n)}),
    "many numbers": lambda n: ([[1.5] * n], [*[1.5] * n, 2]),
    "everything is in conflict": lambda n: ([[1] * n], [2] * n),
    "everything stays in conflict": lambda n: ([[1] * n, [2] * n], [*[2] * n, 3]),
    "deep": lambda n: ([nested(n)], nested(n + 1)),
}  # fmt: skip


@pytest.mark.skipif(COMPILED, reason="steps are counted in the plain sources only")
@pytest.mark.parametrize("is_text", [True, False], ids=["text", "parsed"])
@pytest.mark.parametrize("shape", COSTS)
def test_a_step_costs_no_more_than_its_snapshot(shape: str, is_text: bool) -> None:
    """Twice the document, at most 2.3 times the work for one snapshot, whatever was before; the same for flush."""

    def count(n: int) -> tuple[int, int, int]:
        before, snapshot = COSTS[shape](n)
        options = Options(max_depth=None)
        chunker = started(*before, on_conflict="keep", options=options)
        given = json.dumps(snapshot) if is_text else snapshot
        processed = steps(lambda: chunker.process(given))
        dumped: list[Any] = []
        taken = steps(lambda: dumped.append(chunker.dump()))
        loaded = steps(lambda: SnapshotChunker.load(dumped[0]))
        flushed = steps(chunker.flush)
        return processed, flushed, taken + loaded

    for large, small in zip(count(200), count(100), strict=True):
        assert large <= 2.3 * small + 200


@pytest.mark.skipif(COMPILED, reason="steps are counted in the plain sources only")
def test_a_long_string_costs_what_is_new() -> None:
    """A string that grows is not looked at character by character again."""

    def count(length: int) -> int:
        chunker = started(json.dumps({"s": "x" * length}))
        text = json.dumps({"s": "x" * length + "y"})
        return steps(lambda: chunker.process(text))

    assert count(100_000) <= count(100) + 200


def test_a_circle_ends_also_without_a_limit() -> None:
    """A value that holds itself is refused, whatever the options allow."""
    circle: list[Any] = []
    circle.append(circle)
    chunker = SnapshotChunker(options=Options(max_depth=None))
    assert refusal(chunker, circle).reason is Reason.LIMIT

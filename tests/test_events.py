"""events.py: events as values, and that none of them outlives its last holder."""

from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
import weakref
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool import Code, Event, FragmentParser, JSONSyntaxError, Kind, Path, Position
from unspool._events import ErrorEvent
from unspool._path import ROOT

A = Path.of("a", 0)
ERROR = JSONSyntaxError(Code.UNEXPECTED_CHARACTER, Position(3, 1, 4), A, "a value")

EVENTS = [
    Event(Kind.START_OBJECT, ROOT, None, 0, 0),
    Event(Kind.PARTIAL_STRING, A, "text", 3, 7),
    Event(Kind.COMPLETE_NUMBER, A, 1.5, 3, 9, "1.50"),
    ErrorEvent(Kind.ERROR, A, ERROR, 1, 3),
]


def test_kinds() -> None:
    """There are eleven kinds; each equals its own name in lower case, as text too."""
    assert len(Kind) == 11
    assert [kind.value for kind in Kind] == [kind.name.lower() for kind in Kind]
    assert {"start_object": 1}[Kind.START_OBJECT] == 1
    assert str(Kind.START_OBJECT) == "start_object"
    assert Kind("error") is Kind.ERROR


def test_match_statement() -> None:
    """An event can be taken apart by a match statement: kind, path, value."""
    match EVENTS[1]:
        case Event(Kind.PARTIAL_STRING, Path(Path(), 0), str(text)):
            assert text == "text"
        case _:
            pytest.fail("the pattern above fits")


def test_preset_fields() -> None:
    """Only the kind and the path must be given."""
    event = Event(Kind.END_ARRAY, ROOT)
    assert (event.value, event.node_id, event.offset, event.raw) == (None, -1, -1, None)


@pytest.mark.parametrize("name", ["kind", "path", "value", "node_id", "offset", "raw"])
def test_equality_looks_at_every_field(name: str) -> None:
    """Two events that differ in one field differ."""
    fields: dict[str, Any] = {
        "kind": Kind.COMPLETE_NUMBER,
        "path": A,
        "value": 1.5,
        "node_id": 3,
        "offset": 9,
        "raw": "1.50",
    }
    other: dict[str, Any] = {
        "kind": Kind.COMPLETE_NULL,
        "path": A / "b",
        "value": 2.5,
        "node_id": 4,
        "offset": 8,
        "raw": "1.5",
    }
    event = Event(**fields)
    assert event == Event(**fields)
    assert hash(event) == hash(Event(**fields))
    assert event != Event(**{**fields, name: other[name]})


@pytest.mark.parametrize(("left", "right"), [(1, True), (1, 1.0), (0, False), (1.5, Decimal("1.5")), (None, False)])
def test_equality_looks_at_the_type_of_the_value(left: object, right: object) -> None:
    """1, True and 1.0 are three values, and so are 1.5 as a float and as a Decimal."""
    assert Event(Kind.COMPLETE_NUMBER, A, left) != Event(Kind.COMPLETE_NUMBER, A, right)


@pytest.mark.parametrize("other", [None, "start_object", (Kind.START_OBJECT, ROOT), ...], ids=repr)
def test_an_event_equals_no_other_thing(other: object) -> None:
    """An event equals no text, no tuple and nothing else that is not an event."""
    assert EVENTS[0] != other


@pytest.mark.parametrize("event", EVENTS, ids=repr)
def test_copies(event: Event) -> None:
    """An event survives pickling and copying with all its fields and its class."""
    for twin in (pickle.loads(pickle.dumps(event)), copy.copy(event), copy.deepcopy(event)):
        assert type(twin) is type(event)
        assert twin == event
        assert hash(twin) == hash(event)


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (EVENTS[0], "Event(start_object, $, node_id=0, offset=0)"),
        (EVENTS[1], "Event(partial_string, $.a[0], 'text', node_id=3, offset=7)"),
        (EVENTS[2], "Event(complete_number, $.a[0], 1.5, node_id=3, offset=9)"),
        (Event(Kind.COMPLETE_BOOLEAN, A, False, 2, 1), "Event(complete_boolean, $.a[0], False, node_id=2, offset=1)"),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_repr(event: Event, text: str) -> None:
    """The repr is short: the kind, the path as text, the value if there is one, and where it stands."""
    assert repr(event) == text


def test_error_events_are_events() -> None:
    """What a parser gives for an error is an event like the others, with the error as its value."""
    parser = FragmentParser()
    *_, last = parser.feed('{"a": [x')
    assert isinstance(last, ErrorEvent)
    assert isinstance(last, Event)
    assert (last.kind, last.path, last.value, last.offset, last.raw) == (Kind.ERROR, A, parser.error, 7, None)
    assert last == Event(Kind.ERROR, A, parser.error, last.node_id, 7)


@given(st.lists(st.sampled_from(EVENTS)))
def test_events_can_be_counted(events: list[Event]) -> None:
    """Events can be members of sets and keys of dicts, whatever their value is."""
    assert len(set(events)) == len({EVENTS.index(event) for event in events})


class Canary:
    """Something that can be looked at without being held."""


def raise_error_with_its_event_at_hand() -> weakref.ref[Canary]:
    canary = Canary()
    *_, last = FragmentParser().feed("[x")
    assert isinstance(last.value, JSONSyntaxError)
    try:
        raise last.value
    except JSONSyntaxError:
        return weakref.ref(canary)  # error -> traceback -> this frame -> the event -> the error


def test_a_raised_error_and_its_event_are_collected() -> None:
    """An error that was raised where its own event is at hand makes a cycle; the collector finds it."""
    gc.collect()
    canary = raise_error_with_its_event_at_hand()
    gc.collect()
    assert canary() is None


def test_an_event_lets_go_of_its_value() -> None:
    """The value of an event dies with the event, at once and without the collector."""
    canary = Canary()
    watch = weakref.ref(canary)
    event = Event(Kind.COMPLETE_NUMBER, A, canary)
    del canary
    assert watch() is not None
    gc.disable()
    try:
        del event
        assert watch() is None
    finally:
        gc.enable()


NESTED = """
from unspool import Event, Kind, Path

path = Path.of("a")
for wrap in (lambda event: [event], lambda event: {"a": event}, lambda event: (event, event.path), lambda event: event):
    event = None
    for _ in range(10_000):
        event = Event(Kind.COMPLETE_NUMBER, path, event if event is None else wrap(event))
    del event
print("done")
"""


def test_nested_events_are_freed() -> None:
    """Events inside of one another, however that came about, are freed without a crash."""
    # In a process of its own: what this guards against is a crash, and that would end all other tests too.
    run = subprocess.run([sys.executable, "-c", NESTED], capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "done\n", "")

"""Arguments of a wrong type: both builds refuse them with the same error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from unspool import (
    FragmentParser,
    Options,
    OptionsError,
    ParserState,
    Path,
    SnapshotChunker,
    SnapshotError,
    StateError,
    TextChunker,
    ValueParser,
    create_state,
    finalize,
    iter_events,
    iter_values,
    parse_chunk,
)
from unspool import select as patterns
from unspool.llm import Fault, MessageError, changes, fail, finish, start

if TYPE_CHECKING:
    from collections.abc import Callable

NUMBER: Any = 5
FRAGMENT = "a fragment must be str or bytes, not int"
TEXT: Any = "0"
NOTHING: Any = None
SLICE: Any = slice(1)
MESSAGE = "unspool.llm._message.MessageState object expected; got int"
STATE = "unspool._state.ParserState object expected; got int"

CALLS: list[tuple[str, Callable[[], object], type[Exception], str]] = [
    ("parse_chunk, state", lambda: parse_chunk(NUMBER, ""), TypeError, STATE),
    ("parse_chunk, fragment", lambda: parse_chunk(create_state(), NUMBER), TypeError, FRAGMENT),
    ("finalize", lambda: finalize(NUMBER), TypeError, STATE),
    ("create_state, extract", lambda: create_state(extract=NUMBER), TypeError, "bool object expected; got int"),
    ("ValueParser, live", lambda: ValueParser(live=NUMBER), TypeError, "bool object expected; got int"),
    ("ValueParser, extract", lambda: ValueParser(extract=NUMBER), TypeError, "bool object expected; got int"),
    ("FragmentParser, extract", lambda: FragmentParser(extract=NUMBER), TypeError, "bool object expected; got int"),
    ("FragmentParser.feed", lambda: FragmentParser().feed(NUMBER), TypeError, FRAGMENT),
    ("ValueParser.feed", lambda: ValueParser().feed(NUMBER), TypeError, FRAGMENT),
    ("iter_values", lambda: list(iter_values([NUMBER])), TypeError, FRAGMENT),
    ("Path.parse", lambda: Path.parse(NUMBER), TypeError, "str object expected; got int"),
    ("Path.of", lambda: Path.of(1.5), TypeError, "union[str, int] object expected; got float"),  # type: ignore[arg-type]
    (
        "Node.at",
        lambda: root().at(NUMBER),
        TypeError,
        "union[str, unspool._path.Path, tuple] object expected; got int",
    ),
    ("Node.find", lambda: root().find("0"), TypeError, "int object expected; got str"),
    ("Node.find, a float", lambda: root().find(1.5), TypeError, "int object expected; got float"),
    ("Node.find, of a leaf", lambda: whole().find(None), TypeError, "int object expected; got None"),
    ("Node.child", lambda: root().child("0"), TypeError, "int object expected; got str"),
    ("Node.child_around", lambda: root().child_around(1.5), TypeError, "int object expected; got float"),
    ("ArrayNode[...]", lambda: root()["0"], TypeError, "int object expected; got str"),
    ("ArrayNode[:]", lambda: root()[:1], TypeError, "int object expected; got slice"),
    ("ParserState.node", lambda: create_state().node(TEXT), TypeError, "int object expected; got str"),
    ("Path[:]", lambda: Path.of("a")[SLICE], TypeError, "int object expected; got slice"),
    ("Path / None", lambda: Path.of("a") / NOTHING, TypeError, ""),
    ("Path.parse, None", lambda: Path.parse(NOTHING), TypeError, "str object expected; got None"),
    ("llm.start, format", lambda: start(format=NUMBER), TypeError, "str or None object expected; got int"),
    ("llm.finish", lambda: finish(NUMBER), TypeError, MESSAGE),
    ("llm.fail", lambda: fail(NUMBER, MessageError(Fault.INTERRUPTED)), TypeError, MESSAGE),
    ("llm.changes, before", lambda: changes(NUMBER, start()), TypeError, MESSAGE),
    ("llm.changes, after", lambda: changes(start(), NUMBER), TypeError, MESSAGE),
    ("create_state, options", lambda: create_state(NUMBER), OptionsError, ""),
    ("ValueParser, options", lambda: ValueParser(NUMBER), OptionsError, ""),
    ("Options", lambda: Options(max_depth="x"), OptionsError, ""),  # type: ignore[arg-type]
    ("ParserState.load", lambda: ParserState.load(NUMBER), StateError, ""),
    ("SnapshotChunker", lambda: SnapshotChunker(patience="x"), OptionsError, ""),  # type: ignore[arg-type]
    ("SnapshotChunker.process", lambda: SnapshotChunker().process(object()), SnapshotError, ""),
    ("TextChunker.process", lambda: TextChunker().process(NUMBER), TypeError, ""),
    ("select.compile", lambda: patterns.compile(NUMBER), TypeError, "str object expected; got int"),
    ("iter_events, select", lambda: list(iter_events(["1"], select=NUMBER)), TypeError, ""),
]


def root() -> Any:
    return parse_chunk(create_state(), "[1").root


def whole() -> Any:
    return parse_chunk(create_state(), '"text"').root


@pytest.mark.parametrize(("call", "error", "message"), [row[1:] for row in CALLS], ids=[row[0] for row in CALLS])
def test_wrong_types_are_refused(call: Callable[[], object], error: type[Exception], message: str) -> None:
    """With the same class on both builds, and where the compiler writes the message, with the same words."""
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    assert message in str(caught.value)

"""Every error of the package: its message is one printable line, and it quotes what SECURITY.md says and no more."""

from __future__ import annotations

import importlib
import pkgutil
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import unspool
from unspool import (
    Code,
    IncompleteJSONError,
    JSONSyntaxError,
    LimitError,
    OptionsError,
    Path,
    PatternError,
    Position,
    SnapshotError,
    StateError,
    UnspoolError,
)
from unspool._errors import PatchError, Reason
from unspool._quoting import printable
from unspool.llm import Diagnostic, Fault, LossError, MessageError, Quirk, StreamError
from unspool.llm._requests.turn import Loss
from unspool.patch import apply
from unspool.relay import (
    CancelError,
    Cursor,
    EndedError,
    FencedError,
    FullError,
    GapError,
    GoneError,
    HeldError,
    LogError,
    RelayError,
)
from unspool.relay._hub import ClosedError
from unspool.typed import InvalidError, partial

if TYPE_CHECKING:
    from collections.abc import Callable

PLACE = Position(7, 2, 3)
HOSTILE = "a\x00\x07\x1b[2J\x7f\x85\x9b31m\r\n\u2028\u061c\u200e\u202e\u2066\u2069\ufeff\ud800\udfffz"
"""C0, DEL, C1, line breaks, direction marks, and two halves that are no pair."""


def invalid(text: str) -> InvalidError:
    """An error at a path that has the text in it."""
    resolver = partial({"type": "object", "additionalProperties": {"type": "number"}})
    state = unspool.parse_chunk(unspool.create_state(unspool.Options(surrogates="keep")), _object(text))
    outcome = resolver.resolve(state)[0].invalid
    assert outcome is not None
    return InvalidError(outcome)


def _object(key: str) -> str:
    return "{" + unspool.Writer().write([unspool.Event(unspool.Kind.COMPLETE_STRING, Path.of(), key)]) + ': "x"}'


MADE: dict[str, Callable[[str], UnspoolError]] = {
    "UnspoolError": UnspoolError,
    "JSONSyntaxError": lambda text: JSONSyntaxError(Code.INVALID_NUMBER, PLACE, Path.of(text, 0), text),
    "IncompleteJSONError": lambda text: IncompleteJSONError(Code.INCOMPLETE, PLACE, Path.of(text), text),
    "LimitError": lambda text: LimitError(Code.MAX_PATH, PLACE, Path.of(text)),
    "OptionsError": OptionsError,
    "PatchError": lambda text: PatchError(text, 0, "/" + text),
    "PatternError": lambda text: PatternError(text, 1),
    "SnapshotError": lambda text: SnapshotError(Path.of(text), Reason.SHRUNK, 1),
    "StateError": StateError,
    "InvalidError": invalid,
    "MessageError": lambda text: MessageError(
        Fault.PROVIDER, call=1, paths=(Path.of(text),), reason=OptionsError(text), code=text, detail=text, status=500
    ),
    "LossError": lambda text: LossError((Loss(0, "reasoning", text),)),
    "StreamError": lambda text: StreamError(text, 3),
    "RelayError": lambda text: RelayError(text, text),
    "HeldError": lambda text: HeldError(text, text, 1.0),
    "FencedError": lambda text: FencedError(text, Cursor(1, 2)),
    "EndedError": lambda text: EndedError(text, text),
    "GoneError": GoneError,
    "GapError": lambda text: GapError(text, 3),
    "CancelError": lambda text: CancelError(text, text),
    "LogError": LogError,
    "ClosedError": ClosedError,
    "FullError": lambda text: FullError(text, text, 1),
}


def _all_errors() -> set[type[UnspoolError]]:
    """The classes of errors in all modules of the package that this environment can import."""
    for module in pkgutil.walk_packages(unspool.__path__, "unspool."):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except ImportError:  # an extra that is not installed
                continue
    found: set[type[UnspoolError]] = set()
    to_see: list[type[UnspoolError]] = [UnspoolError]
    while to_see:
        cls = to_see.pop()
        if cls not in found and cls.__module__.partition(".")[0] == "unspool":
            found.add(cls)
            to_see += cls.__subclasses__()
    return found


def is_raw(character: str) -> bool:
    """Whether a terminal or a log must not get this character: told by Unicode, not by the code under test."""
    return unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}


def test_every_class_is_in_the_table() -> None:
    """Each error of the library has a row here; errors of the tools take one text, or nothing."""
    names = {cls.__name__ for cls in _all_errors() if not cls.__module__.startswith("unspool.tools")}
    assert names == set(MADE)


def test_no_class_has_a_message_of_its_own() -> None:
    """`UnspoolError` makes every message printable; a class that overrides `__str__` would escape it."""
    assert {cls.__name__ for cls in _all_errors() if "__str__" in vars(cls)} == {"UnspoolError"}


@pytest.mark.parametrize("name", MADE)
def test_control_characters_never_reach_a_message_raw(name: str) -> None:
    """C0, C1, DEL, direction marks, line breaks and halves of pairs are escaped; what can be read is left alone."""
    message = str(MADE[name](HOSTILE))
    assert [c for c in message if is_raw(c)] == []
    message.encode()
    assert "\\u202e" in message or name in ("PatchError", "StreamError")
    assert "[2J" in message
    if name != "InvalidError":  # a key with an emoji is written as it is
        assert "😀 é" in str(MADE[name]("😀 é"))


@given(st.text(st.characters(), max_size=20))
def test_printable(text: str) -> None:
    """Printable text stays the same object; no other character stays, and none is lost."""
    shown = printable(text)
    assert not any(map(is_raw, shown))
    assert shown.isprintable()
    assert (shown is text) or not text.isprintable()


def test_provider_words_are_short() -> None:
    """The message of a `MessageError` has at most 200 characters of each of the provider's words."""
    error = MessageError(Fault.PROVIDER, code="c" * 5000, detail="d" * 5000)
    assert (str(error).count("c" * 200), str(error).count("d" * 200), len(str(error)) < 500) == (1, 1, True)
    assert len(error.detail) == 5000  # the error itself has all of it


def test_a_failed_patch_quotes_its_pointer_and_no_value() -> None:
    """Pointers are made of keys, like paths; values are never in a message."""
    document = {"secret-key": "SECRET"}
    with pytest.raises(PatchError) as caught:
        apply(document, [{"op": "test", "path": "/secret-key", "value": "OTHER"}])
    assert "secret-key" in str(caught.value)
    assert not any(word in str(caught.value) for word in ("SECRET", "OTHER"))
    with pytest.raises(PatchError) as caught:
        apply(document, [{"op": "remove", "path": "/" + "k" * 5000}])
    assert len(str(caught.value)) < 250


def test_a_diagnostic_is_printable() -> None:
    """The name of an unknown event comes from the wire."""
    assert not any(map(is_raw, str(Diagnostic(Quirk.UNKNOWN_EVENT, detail=HOSTILE))))


def test_the_hostile_text_has_one_of_each() -> None:
    """The example is as bad as its description says."""
    assert {unicodedata.category(c) for c in HOSTILE} >= {"Cc", "Cf", "Cs", "Zl"}
    assert sum(map(is_raw, HOSTILE)) == len(HOSTILE) - len("a[2J31mz")

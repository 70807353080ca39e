"""What is done with some random bytes as broken JSON, and what must hold whatever they are.

The first bytes choose the options and the places to cut; the rest is the text::

    options   count of cuts   cuts ...   text ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support import corpus, strategies
from tests.support.broken import PIECES, reading
from unspool import Options, ParserState, RepairCode, create_state, finalize, parse_chunk
from unspool._text.ends import FARTHEST

if TYPE_CHECKING:
    from collections.abc import Iterator

OPTIONS: list[dict[str, Any]] = [
    {"repair": "guess"},
    {"repair": "spelling"},
    {"repair": "guess", "truncated": "close"},
    {"repair": "none", "truncated": "close"},
    {"repair": "guess", "multiple": True},
    {"repair": "guess", "trailing": "ignore"},
    {"repair": "guess", "latex": True, "duplicate_keys": "error"},
    {"repair": "guess", "max_repairs": 3, "max_string": 8, "max_key": 4, "max_number": 4},
    {"repair": "guess", "max_chars": 20, "max_depth": 3, "surrogates": "error"},
]


class Case(NamedTuple):
    """A text, how it is cut, and with which options it is read."""

    options: dict[str, Any]
    text: str
    cuts: list[int]


def decode(data: bytes) -> Case:
    """The case that some bytes stand for: every bytes stand for one."""
    option, count = (*data[:2], 0, 0)[:2]
    places, payload = data[2 : 2 + count % 8], data[2 + count % 8 :]
    text = payload.decode("utf-8", "replace")
    return Case(OPTIONS[option % len(OPTIONS)], text, [place * len(text) // 256 for place in places])


def seeds() -> Iterator[bytes]:
    """The corpus of the tests, and pieces of broken JSON, to start from."""
    texts = [*corpus.VALID, *(text for text, *_ in corpus.BROKEN), *(prefix for prefix, _ in corpus.OPEN)]
    texts += ['{"a": "x ' + piece + 'y", "b": [1, ' + piece + "2]}" for piece in PIECES]
    texts += ["{'a': [True, " + piece + " b], c" + piece for piece in PIECES]
    for number, text in enumerate(texts):
        yield bytes([number % len(OPTIONS), 2, 64, 128]) + text.encode("utf-8", "replace")


def check(data: bytes) -> None:
    """Read what the bytes stand for in every way. An exception is a finding."""
    options, text, cuts = decode(data)
    whole = reading([text], **options)
    for fragments in (strategies.one_by_one(text), strategies.cut_at(text, cuts)):
        found = reading(fragments, **options)
        assert found.seen == whole.seen, "it differs when it is cut"
        assert found.longest_held <= FARTHEST, "too much is held back"
    strict = reading([text], **{**options, "repair": "none", "truncated": "error", "latex": False})
    if strict.error is None and "latex" not in options:
        assert whole.events == strict.events, "JSON was changed"
        assert whole.repairs == (), "JSON was repaired"
    if whole.error is None and not any(repair.code is RepairCode.TRUNCATED for repair in whole.repairs):
        dialect = {name: value for name, value in options.items() if name not in ("repair", "truncated", "latex")}
        again = reading([whole.target], **{**dialect, "max_chars": None, "trailing_commas": True})
        assert again.error is None, "what is passed on is not JSON"
    state = parse_chunk(create_state(Options(**options)), text[: len(text) // 2])
    loaded = ParserState.load(state.dump())
    rest = text[len(text) // 2 :]
    assert finalize(parse_chunk(loaded, rest)).dump() == finalize(parse_chunk(state, rest)).dump(), "loaded, it differs"

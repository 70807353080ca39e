"""What is done with some random bytes, and what must hold whatever they are.

The first bytes choose the options, the kind of fragment and the places to cut; the rest is the text::

    options   kind   count of cuts   cuts ...   text ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support import corpus, strategies
from tests.support.observe import observe
from tests.support.oracle import Dialect, read, same
from unspool import Event, FragmentParser, Options
from unspool._grammar.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

OPTIONS: list[dict[str, Any]] = [
    {},
    *({name: value} for name, value in strategies.OPTIONS),
    {"floats": "decimal"},
    {"multiple": True, "trailing_commas": True, "duplicate_keys": "error"},
    {"multiple": True, "surrogates": "error"},
    {"trailing": "ignore", "floats": "decimal", "surrogates": "keep"},
]
ORACLE_KNOWS = set(Dialect.__dataclass_fields__)

AS_BYTES = 1
SKIPPING = 2


class Case(NamedTuple):
    """A text, how it is cut, and with which options it is read."""

    options: dict[str, Any]
    text: str | bytes
    cuts: list[int]


def decode(data: bytes) -> Case:
    """The case that some bytes stand for: every bytes stand for one."""
    option, kind, count = (*data[:3], 0, 0, 0)[:3]
    places, payload = data[3 : 3 + count % 8], data[3 + count % 8 :]
    options = dict(OPTIONS[option % len(OPTIONS)])
    if kind & SKIPPING:
        options["on_error"] = "skip"
    text: str | bytes = payload if kind & AS_BYTES else decoded(payload)
    return Case(options, text, [place * len(text) // 256 for place in places])


def decoded(payload: bytes) -> str:
    """The text of some bytes: halves of surrogate pairs stand for themselves, and any wrong byte is a half, too."""
    try:
        return payload.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return payload.decode("utf-8", "surrogateescape")


def encode(text: str | bytes, options: dict[str, Any], cuts: bytes = b"") -> bytes:
    """The bytes that stand for a case."""
    dialect = {name: value for name, value in options.items() if name != "on_error"}
    kind = (AS_BYTES if isinstance(text, bytes) else 0) | (SKIPPING if "on_error" in options else 0)
    payload = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return bytes([OPTIONS.index(dialect), kind, len(cuts)]) + cuts + payload


def seeds() -> Iterator[bytes]:
    """The corpus of the tests, to start from."""
    plain: list[str | bytes] = [*corpus.VALID, *corpus.DOCUMENTS.values()]
    plain += [prefix for prefix, _ in corpus.OPEN]
    plain += [text for text, *_ in corpus.BROKEN]
    plain += [data for data, *_ in corpus.BYTES]
    for number, text in enumerate(plain):
        yield encode(text, {"on_error": "skip"} if number % 2 else {}, bytes([64, 128]))
    for options, text in [*corpus.DIALECT_VALID, *((options, text) for options, text, *_ in corpus.DIALECT_BROKEN)]:
        if options in OPTIONS:
            yield encode(text, options, bytes([128]))


def check(data: bytes) -> None:
    """Read what the bytes stand for in every way. An exception is a finding."""
    options, text, cuts = decode(data)
    whole = observe([text], **options)
    begun = observe([text], close=False, **options)
    for fragments in cuttings(text, cuts):
        assert observe(fragments, **options) == whole, "closed, it differs when it is cut"
        assert observe(fragments, close=False, **options) == begun, "open, it differs when it is cut"
    if isinstance(text, bytes):
        return
    is_encodable = not any("\ud800" <= character <= "\udfff" for character in text)
    if is_encodable:
        assert observe(strategies.one_by_one(text.encode()), **options) == whole, "it differs in bytes"
    if ORACLE_KNOWS.issuperset(options):
        expected = read(text, **options)
        assert begun.error == expected.error, "not the error that the oracle finds"
        assert whole.error == expected.at_close, "not the error that the oracle finds at the end"
        assert same(begun.values, list(expected.values)), "not the value that the oracle finds"
    if is_encodable and not whole.errors:
        written = Writer().write(events(text, options))
        assert same(observe([written], **options).values, whole.values), "written anew it says something else"


def cuttings(text: str | bytes, cuts: list[int]) -> list[Sequence[str | bytes]]:
    if isinstance(text, bytes):
        return [strategies.one_by_one(text), strategies.cut_at(text, cuts)]
    return [strategies.one_by_one(text), strategies.cut_at(text, cuts)]


def events(text: str, options: dict[str, Any]) -> list[Event]:
    parser = FragmentParser(Options(**options))
    return parser.feed(text) + parser.close()

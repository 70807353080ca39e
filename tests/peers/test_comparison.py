"""What docs/comparison.md says of other libraries: every cell of its tables is made here, by running them.

A library that is not installed skips its column by name. Where one of them is improved, its test fails, and the page
has to be written anew.
"""

from __future__ import annotations

import copy
import inspect
import io
import json
import re
import sys
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel

from tests.support.oracle import is_prefix_value, read
from tests.support.shared import PROJECT
from unspool import MISSING, FragmentParser, Options, SnapshotChunker, ValueParser
from unspool.typed import iter_partial

PAGE = PROJECT / "docs" / "comparison.md"
BENCHMARKS = PROJECT / "docs" / "benchmarks.md"

NONE = "-"
"""The cell of a question that does not arise."""


class RefusedError(Exception):
    """A library says that a text is wrong."""


class CutError(Exception):
    """What a source raises where the text has not ended, but no more of it has come."""


HANDED: list[int] = []
"""The length of each text that was handed to a library."""


def hand(text: Any) -> Any:
    HANDED.append(len(text))
    return text


# The libraries, each as a function from fragments to what it shows after them. What they raise becomes RefusedError.

Text = str | bytes
Fragments = list[str] | list[bytes]


class Peer(NamedTuple):
    """`values` gives what is handed out, as it is handed out; MISSING where there is nothing to show yet."""

    module: str
    values: Callable[[Any, Fragments], Iterator[Any]]
    shows_values: bool = True
    takes_prefixes: bool = False


def unspool_values(module: Any, fragments: Fragments) -> Iterator[Any]:
    parser = module.ValueParser()
    for fragment in fragments:
        parser.feed(hand(fragment))
        yield parser.value


def of_prefixes(parse: Callable[[Any, Any], Any]) -> Callable[[Any, Fragments], Iterator[Any]]:
    """A library that is given all of the text each time."""

    def values(module: Any, fragments: Fragments) -> Iterator[Any]:
        text: Any = fragments[0][:0]
        for fragment in fragments:
            text += fragment
            yield parse(module, hand(text))

    return values


def jiter_value(module: Any, text: Text) -> Any:
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return module.from_json(data, partial_mode="trailing-strings", allow_inf_nan=False)


def jsonriver_values(module: Any, fragments: Fragments) -> Iterator[Any]:
    async def source() -> AsyncIterator[Any]:
        for fragment in fragments:
            yield hand(fragment)
        raise CutError

    parsing = module.parse(source())
    try:
        while True:
            try:
                parsing.__anext__().send(None)  # nothing in it waits, so it needs no event loop
            except StopIteration as given:
                yield given.value
    except CutError:
        pass


def streaming_json_parser_values(module: Any, fragments: Fragments) -> Iterator[Any]:
    parser = module.StreamingJsonParser()
    has_begun = False
    for fragment in fragments:
        result = parser.feed(hand(fragment))
        if result.error is not None:
            raise ValueError(result.error)
        has_begun = has_begun or result.value is not None
        yield result.value if has_begun or result.complete else MISSING


def ijson_values(module: Any, fragments: Fragments) -> Iterator[Any]:
    reader = module.parse_coro(module.sendable_list())
    for fragment in fragments:
        reader.send(hand(fragment.encode() if isinstance(fragment, str) else fragment))
        yield MISSING


def json_stream_values(module: Any, fragments: Fragments) -> Iterator[Any]:
    def source() -> Iterator[Any]:
        yield from map(hand, fragments)
        raise CutError

    with suppress(CutError, OSError):  # its tokenizer makes the latter of the former
        module.visit(source(), lambda value, path: None)
    for _ in fragments:
        yield MISSING


PEERS: dict[str, Peer] = {
    "unspool": Peer("unspool", unspool_values),
    "jiter": Peer("jiter", of_prefixes(jiter_value), takes_prefixes=True),
    "partial-json-parser": Peer(
        "partial_json_parser", of_prefixes(lambda module, text: module.loads(text)), takes_prefixes=True
    ),
    "json-repair": Peer(
        "json_repair", of_prefixes(lambda module, text: module.loads(text, stream_stable=True)), takes_prefixes=True
    ),
    "jsonriver": Peer("jsonriver", jsonriver_values),
    "streaming-json-parser": Peer("streaming_json_parser", streaming_json_parser_values),
    "ijson": Peer("ijson", ijson_values, shows_values=False),
    "json-stream": Peer("json_stream", json_stream_values, shows_values=False),
}


def loaded(name: str) -> Any:
    if name == "streaming-json-parser":
        # Its native accelerator, where there is one, takes over by itself and shows less; as in the benchmarks.
        sys.modules.setdefault("streaming_json_parser_native", None)  # type: ignore[arg-type]
    return pytest.importorskip(PEERS[name].module)


def values(name: str, fragments: Fragments) -> Iterator[Any]:
    """What the library shows, fragment by fragment. What it raises is RefusedError, with its own error behind it."""
    module = loaded(name)
    try:
        yield from PEERS[name].values(module, fragments)
    except GeneratorExit:
        raise
    except Exception as error:  # not each of them has an exception of its own
        raise RefusedError from error


def shown(name: str, text: str) -> Any:
    """What is shown of a text that has come so far, one character at a time; MISSING if nothing is."""
    peer = PEERS[name]
    last: Any = MISSING
    for value in values(name, [text] if peer.takes_prefixes else list(text)):
        last = value
    return last


def refuses(name: str, text: str) -> bool:
    try:
        shown(name, text)
    except RefusedError:
        return True
    return False


# The properties. Each is a function from the name of a library to its cell.

WHOLE = r'{"days": [{"n": 12, "t": "Caf\u00e9 \ud83d\ude00"}, {"n": -2.5e3, "t": "x"}], "ok": [true, null]}'

DEAD = [
    *["[1 2", '{"a" 1', '{"a": 1 "', "[1,]", "[,", "{,", "{a", "{'", "[1}", "]", '{"a":}', "{} x"],
    *["[tru]", "[nulx", "[1.]", "[01", "[-x", "[1e]", "[N", "[+", "[.", '["\\q', '["\\u12g', '["\n'],
]
"""Texts that nothing can repair, each of them since its last character."""


def work(name: str) -> str:
    """How many characters are handed over for a text in fragments: each once, or again and again."""
    HANDED.clear()
    list(values(name, list(WHOLE)))
    return "the fragment" if sum(HANDED) == len(WHOLE) else "all the text so far"


def bytes_cut(name: str) -> str:
    """Bytes that are cut inside of a character."""
    fragments = [b'["Caf\xc3', b"\xa9 ", '😀"]'.encode()]
    try:
        last = list(values(name, fragments))[-1]
    except RefusedError as refused:
        is_no_text = isinstance(refused.__cause__, TypeError | AttributeError)
        return "takes text only" if is_no_text else "refused"
    if not PEERS[name].shows_values:
        return "read"
    return "read" if last == ["Café 😀"] else "garbled"


def prefixes(name: str) -> str:
    """The prefixes of a valid text: none of them is wrong."""
    refused = [end for end in range(1, len(WHOLE) + 1) if refuses(name, WHOLE[:end])]
    return "accepted" if not refused else f"{len(refused)} of {len(WHOLE)} refused"


def numbers(name: str) -> str:
    """A number of which one digit has come."""
    if not PEERS[name].shows_values:
        return "when complete" if leaves(name, "[1") == [] and leaves(name, "[12,") == [12] else "half-written"
    return {"[]": "when complete", "[1]": "half-written"}[json.dumps(shown(name, "[1"))]


def growth(name: str) -> str:
    """The values of all prefixes, in a row: each must be able to become the next."""
    if not PEERS[name].shows_values:
        return NONE
    seen = [copy.deepcopy(value) for value in values(name, list(WHOLE)) if value is not MISSING]
    return "yes" if all(is_prefix_value(one, other) for one, other in pairwise(seen)) else "no"


def identity(name: str) -> str:
    """A part that is complete, before and after something else has grown."""
    if not PEERS[name].shows_values:
        return NONE
    first, *_, last = values(name, ['{"done": {"a": [1]}, "open": "x', "y", "z"])
    assert last["open"] == "xyz"
    return "yes" if first["done"] is last["done"] else "no"


def handed_out(name: str) -> str:
    """A value that somebody kept, when the text goes on."""
    if not PEERS[name].shows_values:
        return NONE
    fragments = ['{"days": [1, 2', ", 3, 4", "]}"]
    given = values(name, fragments)
    first = next(given)
    before = copy.deepcopy(first)
    list(given)
    return "stays" if first == before else "changes"


def broken(name: str) -> str:
    """A whole text with an error in it, a comma that is missing: is it noticed, and does the error say where?"""
    text = '{"a": [1, 2 3], "b": 4}'
    try:
        shown(name, text)
    except RefusedError as refused:
        error = refused.__cause__
        place = text.index("3")
        known = {"offset": place, "pos": place, "column": place + 1}
        has_place = any(getattr(error, field, None) == at for field, at in known.items())
        pattern = rf"column {place + 1}\b|(char|index|offset|position) {place}\b|right here"
        return "error with place" if has_place or re.search(pattern, str(error)) else "error without place"
    return "no error"


def dead(name: str) -> str:
    """Of the dead texts, those that are refused at the character that killed them."""
    found = [text for text in DEAD if refuses(name, text)]
    return "all" if len(found) == len(DEAD) else f"{len(found)} of {len(DEAD)}"


def events(name: str) -> str:
    """What says that something has come, and where."""
    text = '{"days": [{"t": "a"}, {"t": "b"}]}'
    module = loaded(name)
    paths: list[Any] = []
    if name == "unspool":
        paths = [str(event.path) for event in FragmentParser().feed(text)]
    elif name == "ijson":
        found = module.sendable_list()
        module.parse_coro(found).send(text.encode())
        paths = [path for path, *_ in found]
    elif name == "json-stream":
        module.visit(iter([text]), lambda value, path: paths.append(path))
    else:
        assert not [name for name in dir(module) if re.search("event|visit", name, re.IGNORECASE)]
        return "none"
    with_indices = {"$.days[1].t", ("days", 1, "t")}
    return "with indices" if with_indices & set(paths) else "without indices"


def partial_strings(name: str) -> str:
    """A string that is open: can its beginning be had?"""
    if not PEERS[name].shows_values:
        return "yes" if leaves(name, '["Caf') else "no"
    return "yes" if shown(name, '["Caf') == ["Caf"] else "no"


def leaves(name: str, text: str) -> list[Any]:
    """The strings and numbers that a library of events has told of, of a text that may go on."""
    module = loaded(name)
    told: list[Any] = []
    if name == "ijson":
        found = module.sendable_list()
        module.parse_coro(found).send(text.encode())
        return [value for _, kind, value in found if kind in {"string", "number"}]

    def source() -> Iterator[str]:
        yield text
        raise CutError

    with suppress(CutError, OSError):
        module.visit(source(), lambda value, path: told.append(value))
    return told


def memory(name: str) -> str:
    """What it takes to read many small items, and keep none."""
    item = '{"title": "Walking", "hours": 6}, '
    text = "[" + item * 2000 + "1]"
    fragments = [text[start : start + 256] for start in range(0, len(text), 256)]
    module = loaded(name)
    tracemalloc.start()
    try:
        if name == "unspool":
            parser = FragmentParser()
            for fragment in fragments:
                parser.feed(fragment)
        elif name == "ijson":
            found = module.sendable_list()
            reader = module.parse_coro(found)
            for fragment in fragments:
                reader.send(fragment.encode())
                found.clear()
        elif name == "json-stream":
            module.visit(iter(fragments), lambda value, path: None)
        else:
            list(values(name, [text] if PEERS[name].takes_prefixes else fragments))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return "the open values" if peak < len(text) / 2 else "the document"


def typed(name: str) -> str:
    """A type of one's own."""

    class Day(BaseModel):
        title: str
        hours: int

    module = loaded(name)
    if name == "unspool":
        first, *_ = iter_partial(Day, ['{"title": "Por', 'to", "hours": 6}'])
        is_one = isinstance(first.value, Day)
        return "half-filled instances" if is_one and first.value.title == "Por" else "no"
    if name == "streaming-json-parser":
        parser = module.StreamingJsonParser(value_type=Stop)
        half, whole = copy.deepcopy(parser.feed('{"hours": 1, ').value), parser.feed('"name": "x"}').value
        assert half == {"hours": 1}
        return "an instance at the end" if whole == Stop(1, "x") else "no"
    functions = [function for word, function in vars(module).items() if word in READING and callable(function)]
    assert functions
    parameters = {word for function in functions for word in parameters_of(function)}
    return "`schema=` guides the repair" if "schema" in parameters else "no"


READING = {"from_json", "loads", "parse", "visit", "load", "items"}


@dataclass
class Stop:
    hours: int
    name: str


def parameters_of(function: Any) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except ValueError:  # not written in Python
        return re.findall(r"\w+", str(function.__doc__))


def back(name: str) -> str:
    """Whole snapshots, made into a text that grows."""
    if name == "unspool":
        chunker = SnapshotChunker()
        written = chunker.process({"a": "x"}) + chunker.process({"a": "xy", "b": 1}) + chunker.flush()
        return "yes" if json.loads(written) == {"a": "xy", "b": 1} else "no"
    assert not [name for name in dir(loaded(name)) if re.search("snapshot|chunker|diff", name, re.IGNORECASE)]
    return "no"


def final(name: str) -> str:
    """The value of a whole text, beside that of `json`."""
    module = loaded(name)
    if name == "ijson":
        (value,) = module.items(io.BytesIO(WHOLE.encode()), "")
    elif name == "json-stream":
        value = module.to_standard_types(module.load(io.StringIO(WHOLE)))
    else:
        *_, value = values(name, [WHOLE] if PEERS[name].takes_prefixes else list(WHOLE))
    return "as `json`" if value == json.loads(WHOLE) else "differs"


def repair(name: str) -> str:
    """A text that is not JSON, and that every person can read: by default, or with an option of unspool."""
    text, meant = "{a: 1, 'b': [1, 2,], // c\n}", {"a": 1, "b": [1, 2]}
    try:
        return "yes" if shown(name, text) == meant else "no"
    except RefusedError:
        if name != "unspool":
            return "no"
    parser = ValueParser(Options(repair="spelling"))
    parser.feed(text)
    return "on request" if parser.close() == meant else "no"


PROPERTIES: dict[str, Callable[[str], str]] = {
    "work per fragment": work,
    "bytes cut inside a character": bytes_cut,
    "the prefixes of a valid text": prefixes,
    "the beginning of an open string": partial_strings,
    "numbers appear": numbers,
    "values only grow": growth,
    "unchanged parts are the same object": identity,
    "a value that you keep": handed_out,
    "the final value": final,
    "broken text": broken,
    "dead texts noticed at once": dead,
    "events with paths": events,
    "memory while reading": memory,
    "typed values": typed,
    "snapshots back to text": back,
    "repairs broken JSON": repair,
}


# What is shown of a text so far, by those who show values.

TEXTS = [
    "[12",
    '{"a": tru',
    r'{"a": "x\u00',
    r'{"a": "x\ud83d',
    '{"a": "x", "b',
    "[1 2",
    "[1,]",
    '{"a": 1} x',
    '{"a": nope',
    "[NaN",
    "{'a': 1",
]


def told(name: str, text: str) -> str:
    try:
        value = shown(name, text)
    except RefusedError:
        return "error"
    if value is MISSING:
        return "nothing"
    return f"`{json.dumps(value).replace('.0', '')}`" if name == "jsonriver" else f"`{json.dumps(value)}`"


SHOWING = [name for name, peer in PEERS.items() if peer.shows_values]


# The page


def tables() -> list[dict[str, dict[str, str]]]:
    """The tables of the page: by the row, then by the column."""
    found: list[list[list[str]]] = [[]]
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("|"):
            found[-1].append([part.strip() for part in line.strip("|").split("|")])
        elif found[-1]:
            found.append([])
    made = []
    for heading, _, *rows in filter(None, found):
        made.append({row[0]: dict(zip(heading[1:], row[1:], strict=True)) for row in rows})
    return made


def test_the_tables_have_everything() -> None:
    """No library, property or text is left out, on either side."""
    properties, texts, *_ = tables()
    assert list(properties) == list(PROPERTIES)
    assert all(list(row) == list(PEERS) for row in properties.values())
    assert list(texts) == [f"`{text}`" for text in TEXTS]
    assert all(list(row) == SHOWING for row in texts.values())


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("row", PROPERTIES)
def test_properties(row: str, name: str) -> None:
    """Each cell is what the library does."""
    loaded(name)
    assert tables()[0][row][name] == PROPERTIES[row](name)


@pytest.mark.parametrize("name", SHOWING)
@pytest.mark.parametrize("text", TEXTS)
def test_texts(text: str, name: str) -> None:
    """Each cell is what the library shows of the text, or that it says that the text is wrong."""
    loaded(name)
    assert tables()[1][f"`{text}`"][name] == told(name, text)


@pytest.mark.parametrize("name", [name for name in PEERS if name != "unspool"])
def test_the_page_names_the_versions(name: str) -> None:
    """What is said is said of the version that was run."""
    loaded(name)
    assert f"{name} {version(name)}" in PAGE.read_text(encoding="utf-8")


def test_the_dead_are_dead() -> None:
    """The dead texts are dead, and were alive without their last character."""
    assert {read(text).status for text in DEAD} == {"dead"}
    assert "dead" not in {read(text[:-1]).status for text in DEAD}


# What the page says beside its tables


def test_what_can_be_set() -> None:
    """The settings of others that the page names do what it says."""
    text = PAGE.read_text(encoding="utf-8")
    jiter = loaded("jiter")
    assert jiter.from_json(b'["a", "b', partial_mode="on") == ["a"]
    assert 'partial_mode="on"' in text
    partial_json_parser = loaded("partial-json-parser")
    allow = partial_json_parser.Allow
    assert partial_json_parser.loads("[1, 2", allow.ALL & ~allow.NUM) == [1]
    assert "Allow.ALL & ~Allow.NUM" in text
    streaming = loaded("streaming-json-parser").StreamingJsonParser()
    first = streaming.feed('{"a": {"b": 1}, "c": "x', copy_value=True).value
    second = streaming.feed("y", copy_value=True).value
    assert (first["c"], second["c"]) == ("x", "xy")
    assert first["a"] is not second["a"]
    assert "copy_value=True" in text


def test_how_jsonriver_differs() -> None:
    """Every number is a float, and a pair of escapes stays two halves, which cannot be encoded."""
    *_, value = values("jsonriver", [r'[12, "\ud83d\ude00"]'])
    assert type(value[0]) is float
    assert value[1] == "\ud83d\ude00"
    with pytest.raises(UnicodeEncodeError):
        value[1].encode()


def test_what_silence_looks_like() -> None:
    """Two libraries read on over a missing comma and say nothing; one leaves out the rest, the other one takes it."""
    text = '{"a": [1, 2 3], "b": 4}'
    assert loaded("jiter").from_json(text.encode(), partial_mode="trailing-strings") == {"a": [1, 2]}
    json_stream = loaded("json-stream")
    assert json_stream.to_standard_types(json_stream.load(io.StringIO(text))) == {"a": [1, 2, 3], "b": 4}


def figure(row: str, column: str) -> float:
    """One figure of the page of benchmarks."""
    heading: list[str] = []
    for line in BENCHMARKS.read_text(encoding="utf-8").splitlines():
        parts = [part.strip() for part in line.strip("|").split("|")] if line.startswith("|") else []
        if len(parts) > 1 and parts[1] == "unspool compiled":
            heading = parts
        elif parts and parts[0] == row and column in heading and len(parts) == len(heading):
            return float(parts[heading.index(column)].replace(",", ""))
    raise AssertionError(f"no figure for {column} in the row {row}")


IN_BULK = "value in bulk (one fragment), itinerary 1 MB"
EVENTS_IN_BULK = "events in bulk (64 KiB), itinerary 1 MB"
SHORT, LONG = "value, itinerary 0.5 KB", "value, itinerary 100 KB"
TYPED = "typed partial (pydantic model), itinerary 0.5 KB"


@pytest.mark.parametrize(
    ("row", "column", "ours", "least", "most"),
    [
        (IN_BULK, "orjson", "unspool compiled", 2, 4.5),  # "about three times as fast"
        (IN_BULK, "jiter", "unspool compiled", 2, 4.5),
        (IN_BULK, "json", "unspool compiled", 1.1, 2),  # "about one and a half times as fast"
        (EVENTS_IN_BULK, "ijson C, no paths", "unspool compiled", 1.2, 3),  # "faster"
        ("import", "jiter", "unspool compiled", 1 / 200, 1 / 10),  # "a fraction"
        ("value, 2,000 rows", "streaming-json-parser", "unspool pure", 0.5, 1),  # "less time"
        (LONG, "streaming-json-parser", "unspool pure", 0.8, 1.3),  # "level"
        ("value, 50 KB string", "streaming-json-parser", "unspool pure", 5, 200),  # "far ahead"
        (TYPED, "pydantic", "unspool compiled", 0.5, 2),  # "as little"
        (SHORT, "jiter", "unspool compiled", 1, 3),  # "little between them"
        (LONG, "jiter", "unspool compiled", 100, 1000),  # "a hundred times"
    ],
)
def test_where_others_are_better(row: str, column: str, ours: str, least: float, most: float) -> None:
    """What the page says in words is what the figures of the benchmarks say."""
    assert least < figure(row, column) / figure(row, ours) < most

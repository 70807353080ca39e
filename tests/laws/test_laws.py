"""The laws of reading, one property test each, numbered as in docs/laws.md."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.support import corpus, strategies
from tests.support.observe import Fold, fault, observe
from tests.support.oracle import MISSING, is_prefix_value, read, same
from unspool import Code, Event, FragmentParser, Kind, Options
from unspool._grammar.writer import Writer

texts = st.one_of(strategies.documents(units=True), strategies.broken_documents(halves=True, units=True))
small_texts = st.one_of(
    strategies.documents(small=True, units=True), strategies.broken_documents(small=True, halves=True, units=True)
)


def prefixes(text: str) -> list[str]:
    return [text[:end] for end in range(len(text) + 1)]


@given(strategies.cut(texts), strategies.dialects())
def test_law_1_cutting_is_not_observable(cut: tuple[str, list[str]], dialect: dict[str, Any]) -> None:
    """However a text is cut, the merged events, the values and the errors are the same, closed or not."""
    text, fragments = cut
    for close in (False, True):
        assert observe(fragments, close=close, **dialect) == observe([text], close=close, **dialect)


@given(st.data(), texts, strategies.dialects())
def test_law_1_cutting_is_not_observable_in_bytes(data: st.DataObject, text: str, dialect: dict[str, Any]) -> None:
    """The same for bytes, cut inside of characters too: they say what the text says."""
    fragments = data.draw(strategies.byte_cuttings(text.encode("utf-8", "surrogatepass")))
    assume(text.isascii() or max(text) < "\ud800" or min(c for c in text if c >= "\ud800") > "\udfff")
    assert observe(fragments, **dialect) == observe([text], **dialect)


@given(st.data(), strategies.broken_bytes())
def test_law_1_cutting_is_not_observable_in_broken_bytes(data: st.DataObject, text: bytes) -> None:
    """Bytes that are not UTF-8 give the same error at the same place, however they are cut."""
    assert observe(data.draw(strategies.byte_cuttings(text))) == observe([text])


@given(small_texts, strategies.dialects())
@example('["\\ud83d\\ude00"]', {})
@example('{"a":{"b":[1,-0.5e-3,"x\\n"]}}', {})
def test_law_2_the_value_is_a_function_of_the_prefix(text: str, dialect: dict[str, Any]) -> None:
    """Fed one character at a time, the value after each is what an independent reading of that prefix gives."""
    parser, fold = FragmentParser(Options(**dialect)), Fold()
    for prefix in prefixes(text)[1:]:
        for event in parser.feed(prefix[-1]):
            if event.kind is not Kind.ERROR:
                fold.add(event)
        expected = read(prefix, **dialect)
        assert same(fold.values, list(expected.values))
        assert parser.is_complete is (expected.status == "done")


@given(small_texts)
@example('"\\ud83d\\ude00"')
def test_law_3_values_only_grow(text: str) -> None:
    """The value of a prefix is a prefix of the value, in the growth order; duplicate keys are the one exception."""
    assume("duplicate" not in repr(observe([text], duplicate_keys="error").errors))
    values = [observe([prefix], close=False).value for prefix in prefixes(text)]
    for earlier, later in pairwise(values):
        assert earlier is MISSING or is_prefix_value(earlier, later)


@given(strategies.documents())
@example("-0")
@example("[1, 1.0, true, -0.0, 123456789012345678901234567890]")
def test_law_4_the_final_value_is_that_of_json(text: str) -> None:
    """A whole text means what json.loads makes of it: types, key order, big integers and the sign of zero."""
    seen = observe([text])
    assert same(seen.value, json.loads(text))
    assert seen.is_complete
    assert seen.error is None


@given(small_texts, strategies.dialects())
def test_law_5_the_first_impossible_character(text: str, dialect: dict[str, Any]) -> None:
    """There is an error exactly when no continuation repairs the text, there, with its path; the end tells the rest."""
    for prefix in prefixes(text):
        expected = read(prefix, **dialect)
        assert observe([prefix], close=False, **dialect).error == expected.error
        closed = observe([prefix], **dialect)
        assert closed.error == expected.at_close
        if closed.error is not None and expected.error is None:
            assert closed.error.code in (Code.INCOMPLETE, Code.NUMBER_OVERFLOW)
            assert closed.error.offset == len(prefix)


@given(strategies.broken_documents(), st.text())
def test_law_6_errors_absorb(text: str, more: str) -> None:
    """After an error nothing is read: no events, and the error stays the first one."""
    parser = FragmentParser()
    parser.feed(text)
    error = parser.error
    assume(error is not None)
    assert parser.feed(more) == parser.feed(more.encode("utf-8", "replace")) == parser.close() == []
    assert parser.error is error
    assert parser.errors == (error,)


@given(strategies.cut(texts), st.integers(0, 20))
def test_law_7_empty_fragments_are_nothing(cut: tuple[str, list[str]], place: int) -> None:
    """An empty fragment gives no event and changes nothing; two fragments are their concatenation."""
    text, fragments = cut
    place = min(place, len(fragments))
    assert observe([*fragments[:place], "", b"", *fragments[place:]]) == observe([text])
    assert observe([text[:place], text[place:]]) == observe([text])


@given(strategies.cut(texts), strategies.dialects())
def test_law_8_events_fold_to_the_value(cut: tuple[str, list[str]], dialect: dict[str, Any]) -> None:
    """The events alone rebuild the value; starts and ends balance; ids are dense and in document order."""
    text, fragments = cut
    parser, fold = FragmentParser(Options(**dialect)), Fold()
    ids: list[int] = []
    open_ids: list[int] = []
    for event in [event for fragment in fragments for event in parser.feed(fragment)]:
        if event.kind is Kind.ERROR:
            break
        fold.add(event)  # checks that every path fits what is there
        if event.kind.startswith("end") or event.kind is Kind.COMPLETE_STRING:
            assert open_ids.pop() == event.node_id
        elif event.kind is not Kind.PARTIAL_STRING:
            ids.append(event.node_id)
            if event.kind.startswith("start"):
                open_ids.append(event.node_id)
    assert same(fold.values, list(read(text, **dialect).values))
    assert ids == list(range(len(ids)))
    assert parser.is_complete is (not open_ids and read(text, **dialect).status == "done")


@given(st.data(), strategies.cut(strategies.documents(halves=True)), strategies.limits())
def test_law_12_limits_trip_at_one_offset(
    data: st.DataObject, cut: tuple[str, list[str]], limit: dict[str, Any]
) -> None:
    """A limit trips at the same offset under every cutting and through every door, and where the model says."""
    text, fragments = cut
    whole = observe([text], **limit)
    assert whole.error == read(text, **limit).at_close
    assert observe(fragments, **limit) == whole
    assert observe(data.draw(strategies.byte_cuttings(text.encode("utf-8", "surrogatepass"))), **limit) == whole


@given(strategies.cut(strategies.documents()))
def test_law_17_reader_then_writer_gives_canonical_text(cut: tuple[str, list[str]]) -> None:
    """Written again, a text has no white space and one spelling; numbers keep theirs; every cutting writes the same."""
    text, fragments = cut
    assume(not observe([text], duplicate_keys="error").errors)
    parser, writer = FragmentParser(), Writer()
    written = [writer.write(parser.feed(fragment)) for fragment in fragments]
    written.append(writer.write(parser.close()))
    assert writer.is_complete
    assert "".join(written) == canonical(text)
    assert observe(written).error is None


def canonical(text: str) -> str:
    """The independent half of law 17: json reads and writes, with numbers as they are spelled."""

    class Raw(float):
        spelling = ""

        def __repr__(self) -> str:
            return self.spelling

    def raw(spelling: str) -> Raw:
        number = Raw(0)
        number.spelling = spelling
        return number

    value = json.loads(text, parse_float=raw, parse_int=raw)
    return "".join(spell(value))


def spell(value: Any) -> list[str]:
    if isinstance(value, dict):
        members = [[json.dumps(key, ensure_ascii=False), ":", *spell(item)] for key, item in value.items()]
        return ["{", *[part for i, member in enumerate(members) for part in ([","] if i else []) + member], "}"]
    if isinstance(value, list):
        return ["[", *[part for i, item in enumerate(value) for part in ([","] if i else []) + spell(item)], "]"]
    return [repr(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)]


@pytest.mark.parametrize(
    "text", corpus.VALID + [text for text, *_ in corpus.BROKEN] + [text for text, _ in corpus.OPEN]
)
def test_corpus_under_every_single_cut(text: str) -> None:
    """Our own cases: every single cut and one character at a time, in text and in bytes, show the same."""
    whole = observe([text])
    assert whole.error == read(text).at_close
    data = text.encode("utf-8", "surrogatepass")
    ways: list[list[Any]] = [*strategies.every_single_cut(text), strategies.one_by_one(text)]
    if not any("\ud800" <= c <= "\udfff" for c in text):
        ways += [*strategies.every_single_cut(data), strategies.one_by_one(data)]
    for fragments in ways[:: 1 + len(text) // 200]:
        assert observe(fragments) == whole


@pytest.mark.parametrize("text", [t for t in corpus.VALID + [t for t, *_ in corpus.BROKEN] if 1 < len(t) <= 9])
def test_corpus_under_every_cutting(text: str) -> None:
    """The short ones, under all of their cuttings."""
    whole = observe([text])
    for fragments in strategies.every_cutting(text):
        assert observe(fragments) == whole


@pytest.mark.parametrize(("options", "text", "offset", "code"), corpus.DIALECT_BROKEN)
def test_corpus_of_dialects(options: dict[str, Any], text: str, offset: int, code: Code) -> None:
    """Each option refuses what it should, where it should, under every single cut."""
    whole = observe([text], close=False, **options)
    assert whole.error is not None
    assert (whole.error.code, whole.error.offset) == (code, offset)
    for fragments in strategies.every_single_cut(text):
        assert observe(fragments, close=False, **options) == whole


@pytest.mark.parametrize(("data", "dead_at", "code"), corpus.BYTES)
def test_corpus_of_bytes(data: bytes, dead_at: int | None, code: Code | None) -> None:
    """What is not UTF-8 is known to be dead at its very byte, and shows the same under every single cut."""
    parser = FragmentParser()
    dead = next((i for i, byte in enumerate(data) if parser.feed(bytes([byte])) and parser.error), None)
    assert dead == dead_at
    if code is not None:
        assert parser.error is not None
        assert parser.error.code is code
    whole = observe([data])
    assert all(observe(fragments) == whole for fragments in strategies.every_single_cut(data))


def test_what_an_event_says_about_an_error_is_its_error() -> None:
    """The error event has the path, the offset and the node of its error."""
    [*_, last] = FragmentParser().feed('{"a": ["x", tru]}')
    assert isinstance(last, Event)
    assert fault(last.value) == (Code.INVALID_LITERAL, 15, 1, 16, ("a", 1))
    assert (last.path.steps, last.offset, last.node_id) == (("a", 1), 15, 1)

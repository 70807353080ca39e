"""Places where a small change to the core would go unnoticed by the other tests: found by mutating it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.grammar.test_transitions import ROWS
from tests.support.observe import observe
from tests.support.strategies import every_single_cut
from unspool import MISSING, Code, FragmentParser, Options, create_state, parse_chunk
from unspool._grammar import scan
from unspool._grammar.reader import Dialect, Reader
from unspool._grammar.scan import HELD, INVALID, KEEP, LONE, REFUSE, REPLACE, read_escape
from unspool._grammar.sink import EventList

ASCII = [chr(code) for code in range(0x80)]
HEX = "0123456789abcdefABCDEF"


def fed(fragments: list[str], options: dict[str, Any], *, copied: bool = False) -> tuple[Reader, EventList]:
    """A reader that has read this, if need be copied after each fragment."""
    reader, sink = Reader(Dialect(Options(**options))), EventList()
    for fragment in fragments:
        reader.feed(fragment, sink)
        if copied:
            reader = reader.fork()
    return reader, sink


@pytest.mark.parametrize("policy", [REPLACE, REFUSE, KEEP])
@pytest.mark.parametrize("unit", [0x0000, 0x0001, 0x0002, 0x0C41, 0x0E00, 0x8DC0, 0xC800, 0xD7FF, 0xE000, 0xFFFF])
def test_units_that_are_no_surrogates(unit: int, policy: int) -> None:
    """Right before and right behind the surrogates, and wherever one digit is like theirs, a unit is a character."""
    assert read_escape(f"\\u{unit:04x}", 0, 6, policy) == (unit, 6)


@pytest.mark.parametrize("unit", [0xD800, 0xDBFF, 0xDC00, 0xDFFF])
def test_the_first_and_the_last_surrogates(unit: int) -> None:
    """The ends of both halves belong to them."""
    text = f"\\u{unit:04x}x"
    assert read_escape(text, 0, 7, REPLACE) == (0xFFFD, 6)
    assert read_escape(text, 0, 7, KEEP) == (unit, 6)
    assert read_escape(text, 0, 7, REFUSE) == (LONE, 6 if unit < 0xDC00 else 3)


@pytest.mark.parametrize("unit", [0xD800, 0xDBFF, 0xE000])
def test_no_second_half(unit: int) -> None:
    """What is next to the second halves is none."""
    text = f"\\ud83d\\u{unit:04x}"
    assert read_escape(text, 0, 12, REPLACE) == (0xFFFD, 6)
    assert read_escape(text, 0, 12, REFUSE) == (LONE, 8 if unit == 0xE000 else 9)


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_hex_digits_are_these_and_no_others(k: int) -> None:
    """In each of the four places of an escape."""
    for character in ASCII:
        digits = "0" * (k - 2) + character + "0" * (5 - k)
        expected = (int(digits, 16), 6) if character in HEX else (INVALID, k)
        assert read_escape("\\u" + digits, 0, 6, REPLACE) == expected, digits


@pytest.mark.parametrize(("k", "right"), list(enumerate(("\\", "u", "dD", "cdefCDEF"))))
def test_what_can_begin_the_second_half(k: int, right: str) -> None:
    """Where both halves are wanted, each character of the second one is looked at as it comes."""
    for character in ASCII:
        text = "\\ud83d" + "\\ude00"[:k] + character
        no_escape = k >= 2 and character not in HEX
        expected = (HELD, 0) if character in right else (INVALID if no_escape else LONE, 6 + k)
        assert read_escape(text, 0, len(text), REFUSE) == expected, text


def test_the_build_knows_itself() -> None:
    """COMPILED is about the file that runs."""
    assert scan.COMPILED is not str(scan.__file__).endswith(".py")


@pytest.mark.parametrize(("mode", "text", "options", "row"), ROWS)
def test_every_character_in_one_fragment(mode: str, text: str, options: dict[str, Any], row: object) -> None:
    """A character that comes with the text before it leads where it leads alone."""
    for character in ASCII:
        seen = []
        for fragments in ([text, character], [text + character]):
            reader, sink = fed(fragments, options)
            seen.append((reader.mode, reader.offset, [(error.code, error.offset) for error in sink.errors]))
        assert seen[0] == seen[1], repr(character)


STOPS: list[tuple[str, dict[str, Any]]] = [(text, options) for _, text, options, _ in ROWS]
STOPS += [
    ('{"a":1,"b":"xy', {"duplicate_keys": "error", "max_string": 4}),
    ('[x, "\\ud8', {"on_error": "skip", "max_errors": 3}),
    ('\n[\n 1, {"a": [x {', {"on_error": "skip", "max_depth": 3}),
    ("[1234", {"max_number": 6}),
]
TAILS = ("", '","a":1}', "5", "zzz", '\\n"', 'de00\\ude00"', '"', "]}]}", ',"a":1}', ", x, x, x]", '":1}', "e999", "ll")


@pytest.mark.parametrize(("text", "options"), STOPS)
def test_a_copy_goes_on_as_its_original(text: str, options: dict[str, Any]) -> None:
    """Copied after each fragment, a reader says and shows what it would have."""
    for tail in TAILS:
        seen = []
        for copied in (False, True):
            reader, sink = fed([text[:-1], text[-1:], tail[:1], tail[1:]], options, copied=copied)
            place = (reader.mode, reader.offset, reader.line, reader.column, reader.path, reader.dump())
            errors = [(e.code, e.position, e.path) for e in [*sink.errors, reader.error] if e is not None]
            events = [(e.kind, e.path, e.node_id, e.offset, e.raw) for e in sink.events]
            seen.append((place, reader.is_complete, reader.is_over, reader.error_count, errors, events))
        assert seen[0] == seen[1], tail


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ('{"a":1,"a"', {"duplicate_keys": "error"}),
        *[(text, {}) for text in ("[1e999", "[1e9999", "1e999", "[x", '"\n')],
    ],
)
def test_where_a_failed_reader_stands(text: str, options: dict[str, Any]) -> None:
    """At its error, however the text was cut; and at once: no end of the number is waited for."""
    for fragments in every_single_cut(text):
        reader, sink = fed(fragments, options)
        assert [reader.offset] == [error.offset for error in sink.errors]


def test_the_path_of_a_root_has_no_step() -> None:
    """Also where several values stand at the root, and wherever they are cut."""
    for text in ('""', "1 ", "null", "{}", "[]"):
        for fragments in ([text], list(text)):
            parser = FragmentParser(Options(multiple=True))
            for fragment in [*fragments, *fragments]:
                assert all(event.path.step is None for event in parser.feed(fragment))


@pytest.mark.parametrize("text", [r'"ab\ncd"', r'"\n\n\n\n\n"', '"abcde"', r'"abc\nd"', r'"\nabcd"'])
@pytest.mark.parametrize(
    ("name", "before", "code"),
    [("max_string", "", Code.MAX_STRING), ("max_key", "{", Code.MAX_KEY), ("max_path", "{", Code.MAX_PATH)],
)
def test_escapes_count_as_one(text: str, name: str, before: str, code: Code) -> None:
    """Limits count characters as they are decoded."""
    for fragments in every_single_cut(before + text):
        assert observe(fragments, close=False, **{name: 5}).errors == []
        assert [error.code for error in observe(fragments, close=False, **{name: 4}).errors] == [code]


@pytest.mark.parametrize("text", [r'["\u", 1]', r'["\u0", 1]', r'["\u000", 1]', r'["\ud83d\u", 1]'])
def test_a_quote_in_half_an_escape_ends_the_string(text: str) -> None:
    """Where errors are skipped, the string with a broken escape is dropped and nothing else."""
    seen = observe([text], on_error="skip")
    assert (seen.value, [error.code for error in seen.errors]) == ([1], [Code.INVALID_ESCAPE])


def test_a_single_root_that_is_broken_is_not_looked_for_again() -> None:
    """Skipping goes on inside of containers, and from line to line; a single value that is broken is the end."""
    assert observe(["x\n[1]"], on_error="skip").values == []
    assert observe(["x\n[1]"], on_error="skip", multiple=True).values == [[1]]


def test_max_errors_is_for_those_who_skip() -> None:
    """Who stops at the first error is told that error."""
    assert [error.code for error in observe(["[x]"], max_errors=0).errors] == [Code.UNEXPECTED_CHARACTER]


def test_an_error_that_was_skipped_stays() -> None:
    """In every later state, and there is no result to act upon."""
    state = create_state(Options(on_error="skip"))
    for fragment in ("[x", ", 1", "]"):
        state = parse_chunk(state, fragment)
        assert state.error is not None
        assert state.error is state.errors[0]
    assert state.is_complete
    assert state.result is MISSING


def test_keys_are_known_to_later_states() -> None:
    """A key is a duplicate also when it comes with another fragment."""
    state = create_state(Options(duplicate_keys="error"))
    for fragment in ('{"a": 1', ', "b": 2', ', "a"'):
        assert state.error is None
        state = parse_chunk(state, fragment)
    assert state.error is not None
    assert state.error.code is Code.DUPLICATE_KEY


def test_lines_that_are_passed_over() -> None:
    """Text that is skipped counts: its characters, its lines, and up to the limit."""
    sink = EventList()
    Reader(Dialect(Options(max_chars=5))).skip("a\nb\nccc", sink)
    assert [(e.code, e.offset, e.line, e.column) for e in sink.errors] == [(Code.MAX_CHARS, 5, 3, 2)]
    reader = Reader(Dialect(Options(max_chars=7)))
    reader.skip("a\nb\nccc", sink)
    assert (reader.offset, reader.line, reader.column) == (7, 3, 4)

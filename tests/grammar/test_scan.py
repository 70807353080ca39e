"""_grammar/scan.py: the two forms of each run agree, and an escape is read from whatever there is of it."""

from __future__ import annotations

import importlib.util
import json
from math import isinf
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.shared import PROJECT
from unspool import COMPILED
from unspool._grammar import scan
from unspool._grammar import scan as modes
from unspool._grammar.scan import HELD, INVALID, KEEP, LONE, REFUSE, REPLACE, overflow_at, read_escape

if TYPE_CHECKING:
    from collections.abc import Callable


def with_loops() -> Any:
    """The module as the compiler sees it, with loops instead of expressions: where nothing is compiled, a twin."""
    if COMPILED:
        return scan
    source = PROJECT / "src" / "unspool" / "_grammar" / "scan.py"
    spec = importlib.util.spec_from_file_location("unspool._grammar.scan_with_loops", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(source.with_suffix(".so"))
    spec.loader.exec_module(module)
    return module


LOOPS = with_loops()
EXPRESSIONS: dict[str, Any] = LOOPS.expressions()

pieces = st.text(st.sampled_from(' \t\n\r\x0b\xa0"\\/ax\x00\x1f\x7f\x80\u2028😀\ud83d'), max_size=12)
numbers = st.text(st.sampled_from("0123456789-+.eE,] x\u0660"), max_size=12)


@pytest.mark.parametrize(
    ("loop", "expression"),
    [(LOOPS.space_run, EXPRESSIONS["space_run"]), (LOOPS.string_run, EXPRESSIONS["string_run"])],
    ids=["space", "string"],
)
@given(text=pieces, data=st.data())
def test_runs_agree(
    loop: Callable[[str, int, int], int], expression: Callable[[str, int, int], int], text: str, data: st.DataObject
) -> None:
    """The loop and the expression find the same end of a run, from any place up to any place."""
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert loop(text, start, end) == expression(text, start, end)


@given(pieces)
def test_marks_agree(text: str) -> None:
    """The loop and the expression find a mark in the same texts: where the run of string text ends too early."""
    is_plain = LOOPS.string_run(text, 0, len(text)) == len(text)
    assert LOOPS.has_marks(text) is not is_plain
    assert (EXPRESSIONS["has_marks"](text) is None) is is_plain


def test_the_build_chooses() -> None:
    """Compiled, the loops are used; interpreted, the expressions."""
    assert LOOPS.COMPILED
    for name in EXPRESSIONS:
        is_loop = getattr(scan, name).__name__ == name
        assert is_loop is COMPILED, name


@given(numbers, st.data())
def test_number_runs_agree(text: str, data: st.DataObject) -> None:
    """Both forms read a number as far, and end in the same state, from its start and from any place inside it."""
    end = data.draw(st.integers(0, len(text)))
    whole = LOOPS.number_run(text, 0, end, modes.NUMBER)
    assert EXPRESSIONS["number_run"](text, 0, end, modes.NUMBER) == whole
    middle = data.draw(st.integers(0, whole[0]))
    at, state = LOOPS.number_run(text, 0, middle, modes.NUMBER)
    assert at == middle
    assert EXPRESSIONS["number_run"](text, middle, end, state) == LOOPS.number_run(text, middle, end, state) == whole


@pytest.mark.parametrize(
    ("text", "end", "state"),
    [
        ("", 0, modes.NUMBER),
        ("-", 1, modes.MINUS),
        ("0", 1, modes.ZERO),
        ("01", 1, modes.ZERO),
        ("-0", 2, modes.ZERO),
        ("120", 3, modes.INTEGER),
        ("1.", 2, modes.POINT),
        ("1..", 2, modes.POINT),
        ("0.50", 4, modes.FRACTION),
        ("1e", 2, modes.EXPONENT_MARK),
        ("1.5E", 4, modes.EXPONENT_MARK),
        ("1e-", 3, modes.EXPONENT_SIGN),
        ("1e+-", 3, modes.EXPONENT_SIGN),
        ("1e05", 4, modes.EXPONENT),
        ("1.5e+5.", 6, modes.EXPONENT),
        ("--1", 1, modes.MINUS),
        ("+1", 0, modes.NUMBER),
        (".5", 0, modes.NUMBER),
    ],
)
def test_states_of_a_number(text: str, end: int, state: int) -> None:
    """A run of a number ends at the first character that cannot go on with it, in the state it has then."""
    assert EXPRESSIONS["number_run"](text, 0, len(text), modes.NUMBER) == (end, state)
    assert LOOPS.number_run(text, 0, len(text), modes.NUMBER) == (end, state)


POLICIES = (REPLACE, REFUSE, KEEP)


@given(st.characters(exclude_categories=["Cs"]), st.text("x\\", max_size=2), st.sampled_from(POLICIES), st.booleans())
def test_escapes_of_every_character(character: str, after: str, policy: int, upper: bool) -> None:
    """Every character written by its numbers is read as itself; cut short, it is held back."""
    units = character.encode("utf-16-be").hex()
    text = "".join("\\u" + (unit.upper() if upper else unit) for unit in (units[:4], units[4:]) if unit)
    whole = text + after
    assert read_escape(whole, 0, len(whole), policy) == (ord(character), len(text))
    for end in range(1, len(text)):
        assert read_escape(whole, 0, end, policy) == (HELD, 0)


@pytest.mark.parametrize("letter", '"\\/bfnrt')
def test_short_escapes(letter: str) -> None:
    """Each short escape stands for what json says it does."""
    text = "\\" + letter
    assert read_escape(text, 0, 2, REPLACE) == (ord(json.loads(f'"{text}"')), 2)
    assert read_escape(text, 0, 1, REPLACE) == (HELD, 0)


@pytest.mark.parametrize(
    ("text", "replaced", "refused"),
    [
        (r"\q", (INVALID, 1), (INVALID, 1)),
        (r"\u12x", (INVALID, 4), (INVALID, 4)),
        (r"\ud83d", (HELD, 0), (HELD, 0)),
        (r"\ud83dx", (0xFFFD, 6), (LONE, 6)),
        (r"\ud83d\n", (0xFFFD, 6), (LONE, 7)),
        (r"\ud83d\q", (INVALID, 7), (LONE, 7)),
        (r"\Udc00", (INVALID, 1), (INVALID, 1)),
        (r"\Ud83d\ude00", (INVALID, 1), (INVALID, 1)),
        (r"\ud83d\Ude00", (INVALID, 7), (LONE, 7)),
        (r"\ud83d\u0", (HELD, 0), (LONE, 8)),
        (r"\ud83d\u0041", (0xFFFD, 6), (LONE, 8)),
        (r"\ud83d\ud83d", (0xFFFD, 6), (LONE, 9)),
        (r"\ud83d\udx", (INVALID, 9), (INVALID, 9)),
        (r"\ud83d\ux", (INVALID, 8), (INVALID, 8)),
        (r"\ud83d\ude0", (HELD, 0), (HELD, 0)),
        (r"\ud8x", (INVALID, 4), (INVALID, 4)),
        (r"\ude00", (0xFFFD, 6), (LONE, 3)),
        (r"\udc", (HELD, 0), (LONE, 3)),
        (r"\ud", (HELD, 0), (HELD, 0)),
        (r"\uDBFF\uDFFF", (0x10FFFF, 12), (0x10FFFF, 12)),
    ],
)
def test_escapes_that_are_no_character(text: str, replaced: tuple[int, int], refused: tuple[int, int]) -> None:
    """What is wrong has its place; half a pair waits, is replaced, kept, or refused where it cannot become a pair."""
    for before in ("", "xy"):
        shift = len(before)
        whole = before + text
        for policy, (character, at) in ((REPLACE, replaced), (REFUSE, refused)):
            assert read_escape(whole, shift, len(whole), policy) == (character, at + shift)
        if replaced[0] == 0xFFFD:
            assert read_escape(whole, shift, len(whole), KEEP) == (int(text[2:6], 16), 6 + shift)


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        ("1e308", -1),
        ("1e309", 4),
        ("1e+309", 5),
        ("1e3090", 4),
        ("1E9999", 4),
        ("1e-999", -1),
        ("1e", -1),
        ("1e+", -1),
        ("9" * 400, -1),
        ("9" * 400 + ".0", -1),
        ("9" * 400 + "e0", 401),
        ("0e999999", -1),
        ("0.0001e312", -1),
        ("0.0001e313", 9),
        ("1e0000309", 8),
    ],
)
def test_overflow(raw: str, place: int) -> None:
    """A number is too large from the first digit of its exponent that no further digit can take back."""
    assert overflow_at(raw) == place
    if place >= 0:
        assert (isinf(float(raw[: place + 1])), overflow_at(raw[:place])) == (True, -1)


@given(st.from_regex(r"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?", fullmatch=True))
def test_numbers_are_worth_what_python_says(raw: str) -> None:
    """The loop for short numbers, and what long ones fall back to, agree with `int` and `float` to the last bit."""
    end, mode = LOOPS.number_run(raw, 0, len(raw), modes.NUMBER)
    assert end == len(raw)
    expected = float(raw) if set(raw) & set(".eE") else int(raw)
    for convert in (LOOPS.number_value, EXPRESSIONS["number_value"]):
        if expected in (float("inf"), float("-inf")):
            with pytest.raises(ArithmeticError):
                convert("x" + raw, 1, end + 1, mode, False)
        else:
            value = convert("x" + raw, 1, end + 1, mode, False)
            assert (value, type(value), str(value)) == (expected, type(expected), str(expected))

"""JSONTestSuite, where it is at hand: each file whole, under every single cut, byte by byte; short ones every way.

Our own cases (tests/support/corpus.py) cover the same ground without it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.observe import Observation, observe
from tests.support.strategies import every_cutting, every_single_cut, one_by_one
from unspool import Code, FragmentParser, Options

SUITE = Path(__file__).parents[3] / "shared" / "data" / "jsontestsuite"
FILES = sorted((SUITE / "test_parsing").glob("*.json")) if SUITE.is_dir() else []
EXPECTED: dict[str, Any] = json.loads((SUITE / "expected.json").read_text()) if FILES else {}

UNLIMITED = {"max_depth": None}
MOST_CUTS = 250  # of one file; a longer one is cut at evenly spread places
EVERY_WAY = 14  # bytes; such a file has at most 8,192 cuttings

# What the RFC leaves open, and what we do: the code of the error, or None where the text is accepted. Numbers too large
# for a float are refused, and so is a byte order mark; half a surrogate pair is replaced.
IMPLEMENTATION_DEFINED: dict[str, Code | None] = {
    "i_number_double_huge_neg_exp.json": None,
    "i_number_huge_exp.json": Code.NUMBER_OVERFLOW,
    "i_number_neg_int_huge_exp.json": Code.NUMBER_OVERFLOW,
    "i_number_pos_double_huge_exp.json": Code.NUMBER_OVERFLOW,
    "i_number_real_neg_overflow.json": Code.NUMBER_OVERFLOW,
    "i_number_real_pos_overflow.json": Code.NUMBER_OVERFLOW,
    "i_number_real_underflow.json": None,
    "i_number_too_big_neg_int.json": None,
    "i_number_too_big_pos_int.json": None,
    "i_number_very_big_negative_int.json": None,
    "i_object_key_lone_2nd_surrogate.json": None,
    "i_string_1st_surrogate_but_2nd_missing.json": None,
    "i_string_1st_valid_surrogate_2nd_invalid.json": None,
    "i_string_UTF-16LE_with_BOM.json": Code.UNEXPECTED_CHARACTER,
    "i_string_UTF-8_invalid_sequence.json": Code.INVALID_UTF8,
    "i_string_UTF8_surrogate_U+D800.json": Code.INVALID_UTF8,
    "i_string_incomplete_surrogate_and_escape_valid.json": None,
    "i_string_incomplete_surrogate_pair.json": None,
    "i_string_incomplete_surrogates_escape_valid.json": None,
    "i_string_invalid_lonely_surrogate.json": None,
    "i_string_invalid_surrogate.json": None,
    "i_string_invalid_utf-8.json": Code.INVALID_UTF8,
    "i_string_inverted_surrogates_U+1D11E.json": None,
    "i_string_iso_latin_1.json": Code.INVALID_UTF8,
    "i_string_lone_second_surrogate.json": None,
    "i_string_lone_utf8_continuation_byte.json": Code.INVALID_UTF8,
    "i_string_not_in_unicode_range.json": Code.INVALID_UTF8,
    "i_string_overlong_sequence_2_bytes.json": Code.INVALID_UTF8,
    "i_string_overlong_sequence_6_bytes.json": Code.INVALID_UTF8,
    "i_string_overlong_sequence_6_bytes_null.json": Code.INVALID_UTF8,
    "i_string_truncated-utf-8.json": Code.INVALID_UTF8,
    "i_string_utf16BE_no_BOM.json": Code.UNEXPECTED_CHARACTER,
    "i_string_utf16LE_no_BOM.json": Code.UNEXPECTED_CHARACTER,
    "i_structure_500_nested_arrays.json": Code.MAX_DEPTH,
    "i_structure_UTF-8_BOM_empty_object.json": Code.UNEXPECTED_CHARACTER,
}

pytestmark = pytest.mark.skipif(not FILES, reason="JSONTestSuite is not here (../shared/data/jsontestsuite)")
each_file = pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])


def closes_at(data: bytes, options: dict[str, Any]) -> tuple[str, int]:
    """Byte by byte: whether the text is dead, complete or open, and the byte at which it is known to be dead."""
    parser = FragmentParser(Options(**options))
    for at, byte in enumerate(data):
        parser.feed(bytes([byte]))
        if parser.is_stopped:
            return "dead", at
    if parser.is_complete:
        return "done", len(data)
    parser.close()
    return ("open" if parser.errors else "done+"), len(data)


def test_the_suite_is_whole() -> None:
    """All 318 files are here, and each of the 35 that the RFC leaves open is in our table."""
    names = [file.name for file in FILES]
    assert [sum(name.startswith(kind) for name in names) for kind in ("y_", "n_", "i_")] == [95, 188, 35]
    assert set(IMPLEMENTATION_DEFINED) == {name for name in names if name.startswith("i_")}


@each_file
def test_verdict(file: Path) -> None:
    """y_ is accepted and means what json says; n_ is refused; i_ is as our table says."""
    seen = observe([file.read_bytes()])
    if file.name.startswith("y_"):
        assert seen.error is None
        assert seen.is_complete
        assert seen.value == json.loads(file.read_bytes())
    elif file.name.startswith("n_"):
        assert seen.error is not None
        assert not seen.is_complete
    else:
        assert (seen.error and seen.error.code) == IMPLEMENTATION_DEFINED[file.name]


@each_file
@pytest.mark.parametrize("surrogates", ["replace", "error"])
def test_dead_at_the_very_byte(file: Path, surrogates: str) -> None:
    """A prefix that nothing can repair is known at exactly the byte that expected.json names."""
    expected = EXPECTED[file.name]
    if surrogates == "error":
        expected = expected["strict_surrogates"]
    if IMPLEMENTATION_DEFINED.get(file.name) is Code.NUMBER_OVERFLOW:
        assert closes_at(file.read_bytes(), {})[0] == "dead"  # there overflow is no error
        return
    status = expected["status"]
    if file.name in ("y_structure_lonely_true.json", "y_structure_lonely_false.json", "y_structure_lonely_null.json"):
        assert status == "done"
        status = "done+"  # true may go on as trueish: a literal waits for its end, as a number does
    assert closes_at(file.read_bytes(), UNLIMITED | {"surrogates": surrogates}) == (status, expected["offset"])


@each_file
def test_cutting_is_not_observable(file: Path) -> None:
    """Every single cut, byte by byte, and every possible cutting of a short file show what the whole shows."""
    data = file.read_bytes()
    whole = observe([data])
    step = max(1, len(data) // MOST_CUTS)
    assert all(same(observe([data[:at], data[at:]]), whole) for at in range(0, len(data), step))
    assert same(observe(one_by_one(data)), whole)
    if len(data) <= EVERY_WAY:
        assert all(same(observe(fragments), whole) for fragments in every_cutting(data))
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return
    assert same(observe([text]), whole)
    assert same(observe(one_by_one(text)), whole)
    assert len(text) > MOST_CUTS or all(same(observe(fragments), whole) for fragments in every_single_cut(text))


def same(seen: Observation, whole: Observation) -> bool:
    return seen == whole

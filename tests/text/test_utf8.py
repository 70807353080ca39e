"""Bytes to text: valid and invalid sequences inside a string, cut at every byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.observe import observe
from tests.support.strategies import every_single_cut, one_by_one
from unspool import Code
from unspool._text.utf8 import decode

CASES = Path(__file__).parents[3] / "shared" / "data" / "utf8" / "utf8tests.txt"


def cases() -> list[tuple[str, bytes, bool]]:
    """(number, bytes, whether they are UTF-8)"""
    found = []
    for line in CASES.read_text().splitlines() if CASES.is_file() else []:
        if line and not line.startswith("#"):
            number, kind, data, *_ = [part.strip() for part in line.split(":")]
            found.append((number, data.encode() if kind == "valid" else bytes.fromhex(data), kind.startswith("valid")))
    return found


@pytest.mark.skipif(not CASES.is_file(), reason="the UTF-8 cases are not here (../shared/data/utf8)")
@pytest.mark.parametrize(("number", "data", "is_valid"), cases())
def test_case(number: str, data: bytes, is_valid: bool) -> None:
    """Inside a string, valid bytes are their text and invalid ones an error at their character, under every cut."""
    text = b'["ok ' + data.replace(b"\x00", b"") + b'"]'
    whole = observe([text])
    if is_valid:
        assert whole.value == [text[2:-2].decode()]
    else:
        assert whole.error is not None
        assert whole.error.code is Code.INVALID_UTF8
        good = decode(text)[0]
        assert whole.error.offset == len(good)
        assert whole.value == [good[2:]]
    for fragments in [*every_single_cut(text), one_by_one(text)]:
        assert observe(fragments) == whole


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", ("", b"", False)),
        (b"abc", ("abc", b"", False)),
        (b"a\xc3", ("a", b"\xc3", False)),
        (b"a\xf0\x9f\x98", ("a", b"\xf0\x9f\x98", False)),
        (b"a\xc3\xa9", ("aé", b"", False)),
        (b"a\xffb", ("a", b"b", True)),
        (b"a\xc3(", ("a", b"(", True)),
        (b"a\xed\x9f", ("a", b"\xed\x9f", False)),
        (b"a\xed\xa0", ("a", b"\xa0", True)),
    ],
)
def test_decode(data: bytes, expected: tuple[str, bytes, bool]) -> None:
    """Text as far as it goes, then the start of a character to come, or what follows the broken one."""
    assert decode(data) == expected

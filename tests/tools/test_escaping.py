"""viewer/escaping.py: foreign text reaches a terminal only through it."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.tools.viewer.escaping import INVISIBLE, cells, clip, visible

if TYPE_CHECKING:
    from pathlib import Path

DANGEROUS = {"Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn"}
TEXTS = st.text(st.characters(), max_size=40)  # surrogates included
NASTY = st.text(
    st.sampled_from('a\\" \x1b[2J\x9b\r\n\t\x00\x7f\u202e\u2066\u200b\u200d\ufeff\u2028\ud83d\U000e0041é漢🗻')
)


def survivors(text: str) -> list[str]:
    """The characters that should not be there."""
    return [
        f"U+{ord(character):04X}"
        for character in text
        if unicodedata.category(character) in DANGEROUS
        or character in INVISIBLE
        or (unicodedata.category(character) == "Zs" and character != " ")
    ]


def test_every_character_alone() -> None:
    """Nothing survives that is not to be seen; what is to be seen stays as it is."""
    ranges = [
        range(0x3400),
        range(0xA000, 0xAC00),
        range(0xD7A0, 0xE100),
        range(0xF800, 0x1FC00),
        range(0xE0000, 0xE0400),
    ]
    everything = "".join([chr(code) for codes in ranges for code in codes])
    assert survivors(visible(everything)) == []
    for character in everything[:0x3000]:
        shown = visible(character)
        assert shown == character or (shown.isascii() and shown.startswith("\\") and len(shown) in {2, 4, 6, 10})


@given(st.one_of(TEXTS, NASTY), st.booleans())
def test_nothing_invisible_survives(text: str, ascii_only: bool) -> None:
    """No control character, nothing of bidi or of zero width, no half of a pair, no line end but as letters."""
    shown = visible(text, ascii_only=ascii_only)
    assert survivors(shown) == []
    assert shown.isascii() or not ascii_only
    shown.encode()


@given(st.one_of(TEXTS, NASTY), st.booleans())
def test_character_by_character(text: str, ascii_only: bool) -> None:
    """Each character is escaped independently, and escaping twice changes nothing."""
    shown = visible(text, ascii_only=ascii_only)
    assert shown == "".join([visible(character, ascii_only=ascii_only) for character in text])
    assert visible(shown, ascii_only=ascii_only) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text", "plain text"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("\x9b2J", "\\x9b2J"),
        ("\ud83d", "\\ud83d"),
        ("\U000e0041", "\\U000e0041"),
        ("Fuji 🗻 漢字", "Fuji 🗻 漢字"),
        ("\xa0", "\\xa0"),
    ],
)
def test_examples(text: str, shown: str) -> None:
    """Each kind of trick, and harmless text."""
    assert visible(text) == shown


@given(st.one_of(TEXTS, NASTY), st.integers(0, 30), st.booleans(), st.booleans())
def test_clipping(text: str, width: int, keep_end: bool, ascii_only: bool) -> None:
    """Clipped text fits, and what fits is not clipped; its beginning is that of the text, and its end if asked for."""
    text = visible(text, ascii_only=ascii_only)
    clipped = clip(text, width, keep_end=keep_end, ascii_only=ascii_only)
    assert cells(clipped) <= width
    if cells(text) <= width:
        assert clipped == text
    elif width:
        head, dots, tail = clipped.partition("~" if ascii_only else "…")
        assert dots or head == ""
        assert text.startswith(head)
        assert text.endswith(tail)


def test_naughty_strings(shared_data: Path) -> None:
    """The well-known list of strings that break things: none of them does anything here."""
    strings = json.loads((shared_data / "strings" / "blns.json").read_text())
    assert len(strings) > 400
    for text in strings:
        assert survivors(visible(text)) == []
        assert visible(text, ascii_only=True).isascii()

r"""Escaping for terminals: all foreign text passes through here, so it contains no commands and nothing invisible.

>>> visible('Fu\x1b[2Jji\u202e!')
'Fu\\x1b[2Jji\\u202e!'
"""

from __future__ import annotations

from typing import Final
from unicodedata import combining, east_asian_width

__all__ = ["cells", "clip", "head", "visible"]

VARIATIONS: Final = [*range(0xFE00, 0xFE0E), *range(0xE0100, 0xE01F0)]  # without the two that emoji use
INVISIBLE: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0") | frozenset(
    map(chr, VARIATIONS)
)
"""Characters that Python counts as printable although they are invisible."""

SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str, *, ascii_only: bool = False) -> str:
    r"""Escape every invisible character: control characters, bidi, zero width, surrogates.

    Backslashes are not escaped, so the result cannot be reversed. With `ascii_only`, every non-ASCII character is
    escaped.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join([character if _is_plain(character, ascii_only) else _spelled(character) for character in text])


def _is_plain(character: str, ascii_only: bool) -> bool:
    if ascii_only and not character.isascii():
        return False
    return character.isprintable() and character not in INVISIBLE


def _spelled(character: str) -> str:
    code = ord(character)
    if code <= 0xFF:
        return SHORT.get(character, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def cells(text: str) -> int:
    """Return the number of terminal columns that the text takes."""
    if text.isascii():
        return len(text)
    return sum([_cells(character) for character in text])


def _cells(character: str) -> int:
    if combining(character) or "\ufe00" <= character <= "\ufe0f":
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def clip(text: str, width: int, *, keep_end: bool = False, ascii_only: bool = False) -> str:
    """Shorten the text to a width, at its end or, with `keep_end`, in the middle.

    >>> clip("Arrival in Porto", 10), clip("Arrival in Porto", 10, keep_end=True)
    ('Arrival i…', 'Ar…n Porto')
    """
    if width <= 0:
        return ""
    if cells(text) <= width:
        return text
    dots = "~" if ascii_only else "…"
    room = width - 1
    begin = head(text, room // 4 if keep_end else room)
    end = head(text[::-1], room - cells(begin))[::-1] if keep_end else ""
    return begin + dots + end


def head(text: str, room: int) -> str:
    """Return the longest start of the text that fits."""
    for at, character in enumerate(text):
        room -= _cells(character)
        if room < 0:
            return text[:at]
    return text

"""The spelling of strings and numbers in JSON text.

The spelling is that of ``json.dumps(value, ensure_ascii=False)``, with one difference: half a surrogate pair becomes an
escape, so that all text can be encoded.
"""

from __future__ import annotations

import sys
from math import isfinite

from ._native import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from decimal import Decimal
    from json.encoder import encode_basestring, encode_basestring_ascii
else:
    try:  # the functions of `json` in C, without the time that importing its package takes
        from _json import encode_basestring, encode_basestring_ascii
    except ImportError:
        from json.encoder import encode_basestring, encode_basestring_ascii

__all__ = ["escape", "escape_ascii", "printable", "quote", "spelled"]


def quote(text: str) -> str:
    """Return `text` escaped, between quotes."""
    quoted: str = encode_basestring(text)
    if quoted.isascii():
        return quoted
    try:
        quoted.encode()
    except UnicodeEncodeError:
        return "".join([f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in quoted])
    return quoted


def escape(text: str) -> str:
    """Return `text` escaped, without quotes, for writing a piece of a string."""
    return quote(text)[1:-1]


def escape_ascii(text: str) -> str:
    """Return `text` in ASCII, with escapes for all other characters, without quotes."""
    quoted: str = encode_basestring_ascii(text)
    return quoted[1:-1]


def printable(text: str) -> str:
    r"""Return `text` with an escape for every character that a terminal or a log must not get raw.

    Those are control characters, line breaks, direction marks and other invisible ones, and halves of surrogate pairs.

    >>> printable("a\x1b[2J\u202eb")
    'a\\u001b[2J\\u202eb'
    """
    if text.isprintable():
        return text
    return "".join([c if c.isprintable() else "\\u007f" if c == "\x7f" else escape_ascii(c) for c in text])


def spelled(number: object) -> str | None:
    """Return an int, a float or a Decimal as JSON text. Return None for other types, infinities and NaN."""
    try:
        if isinstance(number, int) and not isinstance(number, bool):
            return int.__repr__(number)
        if isinstance(number, float):
            return float.__repr__(number) if isfinite(number) else None
    except ValueError:  # more digits than the interpreter converts
        return None
    # Importing decimal takes longer than importing the core. If it is not imported yet, no Decimal exists.
    decimal = sys.modules.get("decimal")
    if decimal is None or not isinstance(number, decimal.Decimal):
        return None
    value = cast("Decimal", number)
    return str(decimal.Decimal.__str__(value)) if value.is_finite() else None

"""How a string is spelled in JSON text: the one place that knows.

The spelling is that of ``json.dumps(text, ensure_ascii=False)``, with one difference: half a surrogate
pair is written as an escape, so that whatever is written can be encoded.
"""

from __future__ import annotations

from json.encoder import encode_basestring

__all__ = ["escape", "quote"]


def quote(text: str) -> str:
    """`text` between quotes, escaped."""
    quoted: str = encode_basestring(text)
    if quoted.isascii():
        return quoted
    try:
        quoted.encode()
    except UnicodeEncodeError:
        return "".join([f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in quoted])
    return quoted


def escape(text: str) -> str:
    """`text` escaped, without the quotes: a piece of a string may be written on its own."""
    return quote(text)[1:-1]

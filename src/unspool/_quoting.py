"""How strings and numbers are spelled in JSON text: the one place that knows.

The spelling is that of ``json.dumps(value, ensure_ascii=False)``, with one difference: half a surrogate
pair is written as an escape, so that whatever is written can be encoded.
"""

from __future__ import annotations

import sys
from json.encoder import encode_basestring
from math import isfinite
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from decimal import Decimal

__all__ = ["escape", "quote", "spelled"]


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


def spelled(number: object) -> str | None:
    """An int, a float or a Decimal as JSON writes it; None for what is no number, or none that JSON has."""
    try:
        if isinstance(number, int) and not isinstance(number, bool):
            return int.__repr__(number)
        if isinstance(number, float):
            return float.__repr__(number) if isfinite(number) else None
    except ValueError:  # more digits than this interpreter converts
        return None
    # Importing decimal takes longer than importing the core; where nobody did, nobody has a Decimal.
    decimal = sys.modules.get("decimal")
    if decimal is None or not isinstance(number, decimal.Decimal):
        return None
    value = cast("Decimal", number)
    return str(decimal.Decimal.__str__(value)) if value.is_finite() else None

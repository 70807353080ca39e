"""Decode UTF-8 that arrives in fragments, cut at any byte."""

from __future__ import annotations

from codecs import utf_8_decode
from typing import NamedTuple

__all__ = ["Decoded", "decode"]


class Decoded(NamedTuple):
    """The text of some bytes, and the bytes that are left."""

    text: str
    rest: bytes
    """The bytes of an incomplete character, or, if `is_broken`, the bytes after the invalid ones."""
    is_broken: bool


def decode(data: bytes) -> Decoded:
    """Decode bytes up to their end, to an incomplete character, or to the first invalid bytes."""
    try:
        text, length = utf_8_decode(data, "strict", False)
    except UnicodeDecodeError as error:
        return Decoded(data[: error.start].decode(), data[error.end :], True)
    rest = data[length:]
    if rest[:1] == b"\xed" and rest[1:2] >= b"\xa0":  # half a surrogate pair; the codec waits for a third byte
        return Decoded(text, rest[1:], True)
    return Decoded(text, rest, False)

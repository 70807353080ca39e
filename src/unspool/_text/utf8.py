"""Bytes to text, wherever the bytes are cut."""

from __future__ import annotations

from codecs import utf_8_decode
from typing import NamedTuple

__all__ = ["Decoded", "decode"]


class Decoded(NamedTuple):
    """What some bytes say."""

    text: str
    rest: bytes
    """The bytes of a character that is not complete yet, or, if `is_broken`, those after the broken one."""
    is_broken: bool


def decode(data: bytes) -> Decoded:
    """Decode as far as possible: up to the end, to half a character, or to what is not UTF-8."""
    try:
        text, length = utf_8_decode(data, "strict", False)
    except UnicodeDecodeError as error:
        return Decoded(data[: error.start].decode(), data[error.end :], True)
    rest = data[length:]
    if rest[:1] == b"\xed" and rest[1:2] >= b"\xa0":  # half a surrogate pair; the codec waits for a third byte
        return Decoded(text, rest[1:], True)
    return Decoded(text, rest, False)

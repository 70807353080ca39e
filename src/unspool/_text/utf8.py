"""Decode UTF-8 that arrives in fragments, cut at any byte."""

from __future__ import annotations

from codecs import utf_8_decode

__all__ = ["decode"]


def decode(data: bytes) -> tuple[str, bytes, bool]:
    """Decode bytes up to their end, to an incomplete character, or to the first invalid bytes.

    Return the text, the bytes that are left, and whether there were invalid bytes. The bytes that are left are those of
    an incomplete character, or those after the invalid ones.
    """
    try:
        text, length = utf_8_decode(data, "strict", False)
    except UnicodeDecodeError as error:
        return data[: error.start].decode(), data[error.end :], True
    rest = data[length:]
    if rest[:1] == b"\xed" and rest[1:2] >= b"\xa0":  # half a surrogate pair; the codec waits for a third byte
        return text, rest[1:], True
    return text, rest, False

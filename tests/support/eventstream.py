"""The event stream of AWS, as far as a server writes it: binary messages with headers, a payload and two checksums.

A message is a prelude (the length of the whole and that of the headers), the CRC-32 of the prelude, the headers, the
payload, and the CRC-32 of all before it. Numbers are big-endian. What a message is, its headers say.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Mapping

CONTENT_TYPE: Final = "application/vnd.amazon.eventstream"
STRING: Final = 7  # the type of a header's value
AROUND: Final = 16  # bytes of a message beside its headers and its payload


def message(headers: Mapping[str, str], payload: bytes) -> bytes:
    """One message."""
    written = b"".join(_header(name, value) for name, value in headers.items())
    prelude = struct.pack(">II", AROUND + len(written) + len(payload), len(written))
    checked = prelude + struct.pack(">I", crc32(prelude)) + written + payload
    return checked + struct.pack(">I", crc32(checked))


def _header(name: str, value: str) -> bytes:
    name_bytes, value_bytes = name.encode(), value.encode()
    return struct.pack(f">B{len(name_bytes)}sBH", len(name_bytes), name_bytes, STRING, len(value_bytes)) + value_bytes


def event(chunk: Mapping[str, Any]) -> bytes:
    """The message of a chunk with one member, whose name says whether it is an event or an exception."""
    ((name, body),) = chunk.items()
    kind = "exception" if name.endswith("Exception") else "event"
    headers = {f":{kind}-type": name, ":content-type": "application/json", ":message-type": kind}
    return message(headers, json.dumps(body, ensure_ascii=False).encode())

"""Hints: what to try next when a command cannot read its input.

A hint looks at the beginning of the input, and tries what it suggests: it names an option only if the option helps.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final, Literal

from ..._errors import Code, UnspoolError
from ..._parser import FragmentParser
from ..viewer.inputs import InputDecoder, InputKind
from ..viewer.recordings import RecordingError, RecordingReader

if TYPE_CHECKING:
    from ..._errors import JSONSyntaxError
    from ..._options import Options
    from ..viewer.recordings import Arrival
    from .arrivals import Input

    Level = Literal["none", "spelling", "guess"]

__all__ = ["hint_for"]

BINARY: Final = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"%PDF": "a PDF document",
    b"PK\x03\x04": "a ZIP archive; unpack it first",
    b"\x1f\x8b": "a gzip file; unpack it first, with gzip -dc",
    b"\x28\xb5\x2f\xfd": "a zstd file; unpack it first, with zstd -dc",
}
"""The first bytes of files that are not text."""
FENCES: Final = ("```", "~~~")
LEVELS: Final[tuple[Literal["none", "spelling", "guess"], ...]] = ("none", "spelling", "guess")


def hint_for(source: Input, *, extract: bool | None = None, option: str = "--repair") -> str:
    """Return a hint about an input that could not be read; empty if there is none.

    `extract` is the option of the command; None if the command has neither `--extract` nor `--repair`. `option` is the
    name of the latter.
    """
    head = bytes(source.head.data)
    if source.head.is_blank:
        return ""
    decoder = InputDecoder(source.kind, format=source.format)
    try:
        decoder.feed(0.0, head)
        decoder.settle()
    except UnspoolError:  # the error says what to do
        return ""
    if decoder.is_recording:
        head = _recorded(head, is_whole=source.head.is_whole)
    for magic, name in BINARY.items():
        if head.startswith(magic):
            return f"this looks like {name}"
    if b"\0" in head:
        return "this looks like a binary file, and not like text"
    found = decoder.found
    if extract is None or found is None or found.kind not in (InputKind.JSON, InputKind.NDJSON):
        return ""
    text = head.decode("utf-8", "replace")
    is_whole = source.head.is_whole
    return _about_text(text, found.options, is_whole=is_whole, extract=extract, repair=source.repair, option=option)


def _recorded(recording: bytes, *, is_whole: bool) -> bytes:
    """Return the bytes that were recorded, up to a line that is broken or not there yet."""
    reader = RecordingReader()
    found: list[Arrival] = []
    with suppress(RecordingError):
        found += reader.feed(recording)
        if is_whole:
            found += reader.close()
    return b"".join([arrival.data for arrival in found])


def _about_text(text: str, options: Options, *, is_whole: bool, extract: bool, repair: Level, option: str) -> str:
    """Return a hint about JSON text."""
    several = bool(options.multiple)
    if extract:
        options = options.replace(multiple=several)
    error = _read(text, options.replace(repair=repair), is_whole, extract).error
    if error is None:
        return ""
    stronger = LEVELS[LEVELS.index(repair) + 1 :]
    faults = ""
    for level in stronger:
        if not faults and _read(text, options.replace(repair=level), is_whole, extract).error is None:
            faults = f"this is JSON with faults that can be repaired: try {option} {level}"
    if extract or (several and faults) or not (several or _has_text_around(text, error)):
        return faults
    levels = (repair,) if several else (repair, *stronger)
    for level in levels:
        inside = _read(text, options.replace(multiple=several, repair=level), is_whole, True)
        if inside.error is None and inside.is_complete:
            kind = "Markdown" if any(fence in text for fence in FENCES) else "JSON with other text around it"
            return f"this looks like {kind}: try --extract" + ("" if level == repair else f" {option} {level}")
    return faults


def _has_text_around(text: str, error: JSONSyntaxError) -> bool:
    """Tell whether the text is wrong before or behind the value, and not within it."""
    return error.code is Code.TRAILING_TEXT or not text[: error.offset].strip()


def _read(text: str, options: Options, is_whole: bool, extract: bool) -> FragmentParser:
    parser = FragmentParser(options, extract=extract)
    parser.feed(text)
    if is_whole:
        parser.close()
    return parser

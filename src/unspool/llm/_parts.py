"""Parts: the things that a message is made of, in order.

    TextPart         text of the answer, with its citations
    ReasoningPart    reasoning or a summary of it, with the signature or the encrypted form that must go back
    RefusalPart      text in which the model declines to answer
    ToolCall         a call of a tool (`_calls`)
    ToolResultPart   the result of a call that the provider ran itself
    FilePart         an image, audio or another file
    SourcePart       a source that the model used, without a place in the text
    OpaquePart       a block that has no place above: everything about it is in `native`

A part is immutable. `native` is the provider's own block without the fields that grow: unknown fields survive there,
and the next request can repeat the block exactly. `block` is the place of the part on the wire.
"""

# Compiled with mypyc.
from __future__ import annotations

import base64
import binascii
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast, final

from .._native import mypyc_attr
from .._sharing import appended
from ._deltas import Record
from ._texts import NO_TEXT, TextVersion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ._deltas import Block

__all__ = [
    "NO_PARTS",
    "SECTION_GAP",
    "Citation",
    "FilePart",
    "OpaquePart",
    "Part",
    "PartVector",
    "ReasoningPart",
    "RefusalPart",
    "SourcePart",
    "TextPart",
    "ToolResultPart",
    "WrittenPart",
    "has_text",
    "merged",
    "moved",
    "native_in",
    "text_in",
]

LEAF_SIZE: Final = 32
SECTION_GAP: Final = "\n\n"
"""The text between two sections of a reasoning."""


# ---- the parts ---------------------------------------------------------------------------------------


class Part(Record):
    """One part of a message.

    `type` names the class. `id` is the provider's id of the block. `is_complete` becomes true when the part is whole.
    `native` is the provider's own block, without the fields that grow; read it, do not change it. `block` holds the
    numbers of the block on the wire.
    """

    __slots__ = ("_native", "block", "id", "is_complete")
    type: ClassVar[str] = ""

    def __init__(self, id: str | None, is_complete: bool, native: Mapping[str, object] | None, block: Block) -> None:
        self.id: Final = id
        self.is_complete: Final = is_complete
        self.block: Final = block
        self._native: Final = native

    @property
    def native(self) -> Mapping[str, Any] | None:
        """The provider's own block, without the fields that grow."""
        native = self._native
        return None if native is None else MappingProxyType(dict(native))

    def ended(self, is_complete: bool = True) -> Part:
        """Return the part, whole."""
        raise NotImplementedError

    def with_data(self, name: str, value: object, native: Mapping[str, object] | None) -> Part:
        """Return the part with another field, and with more native fields. Unknown names change native fields alone."""
        raise NotImplementedError

    def over(self, older: Part) -> Part:
        """Return this part with the fields of `older`, a part of the same class, where it has none."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[object, ...]:
        names = ["_native" if name == "native" else name for name in self.__match_args__]
        return type(self), tuple([getattr(self, name) for name in names])


def merged(native: Mapping[str, object] | None, more: Mapping[str, object] | None) -> Mapping[str, object] | None:
    """Return the native fields with more fields over them."""
    if not more:
        return native
    return more if native is None else {**native, **more}


class WrittenPart(Part):
    """A part with a text that grows."""

    __slots__ = ("_text",)

    def __init__(
        self,
        text: str | TextVersion,
        id: str | None,
        is_complete: bool,
        native: Mapping[str, object] | None,
        block: Block,
    ) -> None:
        super().__init__(id, is_complete, native, block)
        self._text: Final[TextVersion] = NO_TEXT.add(text) if isinstance(text, str) else text

    @property
    def text(self) -> str:
        """The text so far."""
        return str(self._text)

    def with_text(self, text: TextVersion) -> WrittenPart:
        """Return the part with another text."""
        raise NotImplementedError


def text_in(part: WrittenPart) -> TextVersion:
    """Return the text of the part in versions, for the other modules of this package."""
    return part._text


def has_text(part: WrittenPart) -> bool:
    """Tell whether the part has any text."""
    return part._text.length > 0


def native_in(part: Part) -> Mapping[str, object] | None:
    """Return the native fields of the part without a copy, for the other modules of this package."""
    return part._native


@final
class Citation(Record):
    """A source of one passage: `start` and `end` are its characters in the text of the part, where they are known.

    `native` is the provider's own citation.
    """

    __slots__ = ("cited_text", "end", "native", "source_id", "start", "title", "url")
    __match_args__ = ("url", "title", "cited_text", "start", "end", "source_id", "native")

    def __init__(
        self,
        url: str | None = None,
        title: str | None = None,
        cited_text: str | None = None,
        start: int | None = None,
        end: int | None = None,
        source_id: str | None = None,
        native: Mapping[str, Any] | None = None,
    ) -> None:
        self.url: Final = url
        self.title: Final = title
        self.cited_text: Final = cited_text
        self.start: Final = start
        self.end: Final = end
        self.source_id: Final = source_id
        self.native: Final = native


@final
@mypyc_attr(free_list_len=1)
class TextPart(WrittenPart):
    """Text of the answer."""

    __slots__ = ("citations",)
    __match_args__ = ("text", "citations", "id", "is_complete", "native", "block")
    type: ClassVar[str] = "text"

    def __init__(
        self,
        text: str | TextVersion = NO_TEXT,
        citations: tuple[Citation, ...] = (),
        id: str | None = None,
        is_complete: bool = False,
        native: Mapping[str, object] | None = None,
        block: Block = (),
    ) -> None:
        super().__init__(text, id, is_complete, native, block)
        self.citations: Final = citations

    def with_text(self, text: TextVersion) -> TextPart:
        """Return the part with another text."""
        return TextPart(text, self.citations, self.id, self.is_complete, self._native, self.block)

    def ended(self, is_complete: bool = True) -> TextPart:
        """Return the part, whole."""
        if self.is_complete == is_complete:
            return self
        return TextPart(self._text.compacted(), self.citations, self.id, is_complete, self._native, self.block)

    def over(self, older: Part) -> TextPart:
        """Return this part with the fields of `older` where it has none."""
        citations = older.citations if isinstance(older, TextPart) and not self.citations else self.citations
        is_complete = self.is_complete or older.is_complete
        native = merged(older._native, self._native)
        return TextPart(self._text, citations, self.id or older.id, is_complete, native, self.block)

    def with_data(self, name: str, value: object, native: Mapping[str, object] | None) -> TextPart:
        """Return the part with one more citation, or with another id or list of citations."""
        citations, named = self.citations, self.id
        if name == "citation" and isinstance(value, Citation):
            citations = (*citations, value)
        elif name == "citations" and isinstance(value, tuple):
            citations = cast("tuple[Citation, ...]", value)
        elif name == "id" and isinstance(value, str):
            named = value
        return TextPart(self._text, citations, named, self.is_complete, merged(self._native, native), self.block)


@final
@mypyc_attr(free_list_len=1)
class ReasoningPart(WrittenPart):
    """Reasoning of the model, or with `is_summary` a summary of it.

    `signature` proves to the provider that it wrote this text. `encrypted` is reasoning that only the provider can
    read. `sections` are the beginnings of the sections in the text: the block of each, and its place.
    """

    __slots__ = ("encrypted", "is_summary", "sections", "signature")
    __match_args__ = (
        "text",
        "signature",
        "encrypted",
        "is_summary",
        "id",
        "is_complete",
        "native",
        "block",
        "sections",
    )
    type: ClassVar[str] = "reasoning"

    def __init__(
        self,
        text: str | TextVersion = NO_TEXT,
        signature: str | None = None,
        encrypted: str | bytes | None = None,
        is_summary: bool = False,
        id: str | None = None,
        is_complete: bool = False,
        native: Mapping[str, object] | None = None,
        block: Block = (),
        sections: tuple[tuple[Block, int], ...] = (),
    ) -> None:
        super().__init__(text, id, is_complete, native, block)
        self.signature: Final = signature
        self.encrypted: Final = encrypted
        self.is_summary: Final = is_summary
        self.sections: Final = sections

    def with_text(self, text: TextVersion) -> ReasoningPart:
        """Return the part with another text."""
        return self._with(text, self.is_complete, self._native, self.sections)

    def with_sections(self, text: TextVersion, sections: tuple[tuple[Block, int], ...]) -> ReasoningPart:
        """Return the part with another text in other sections."""
        return self._with(text, self.is_complete, self._native, sections)

    def section_texts(self) -> list[tuple[Block, str]]:
        """Return the texts of the sections, each with its block: nothing for a text without sections."""
        if not self.sections:
            return []
        starts = [start for _, start in self.sections]
        ends = [start - len(SECTION_GAP) for start in starts[1:]] + [self._text.length]
        text = str(self._text)
        found = zip(self.sections, ends, strict=True)
        return [(block, text[start:end]) for (block, start), end in found]

    def ended(self, is_complete: bool = True) -> ReasoningPart:
        """Return the part, whole."""
        return (
            self
            if self.is_complete == is_complete
            else self._with(self._text.compacted(), is_complete, self._native, self.sections)
        )

    def over(self, older: Part) -> ReasoningPart:
        """Return this part with the fields of `older` where it has none."""
        known = older if isinstance(older, ReasoningPart) else self
        return ReasoningPart(
            self._text,
            self.signature or known.signature,
            self.encrypted or known.encrypted,
            self.is_summary or known.is_summary,
            self.id or known.id,
            self.is_complete or known.is_complete,
            merged(known._native, self._native),
            self.block,
            self._sections_over(known),
        )

    def _sections_over(self, older: ReasoningPart) -> tuple[tuple[Block, int], ...]:
        """Return the sections of the text. Those of `older` hold if the text is its text, or begins with it."""
        if self._text.length > 0 and (self.sections or not str(self._text).startswith(str(older._text))):
            return self.sections
        return older.sections

    def with_data(self, name: str, value: object, native: Mapping[str, object] | None) -> ReasoningPart:
        """Return the part with another signature, encrypted form or id, or with more of the first two."""
        signature, encrypted = self.signature, self.encrypted
        if isinstance(value, str) and name in {"signature", "more_signature"}:
            signature = value if name == "signature" else (signature or "") + value
        elif isinstance(value, (str, bytes)) and name in {"encrypted", "more_encrypted"}:
            encrypted = value if name == "encrypted" or encrypted is None else _joined(encrypted, value)
        return ReasoningPart(
            self._text,
            signature,
            encrypted,
            value if name == "is_summary" and isinstance(value, bool) else self.is_summary,
            value if name == "id" and isinstance(value, str) else self.id,
            self.is_complete,
            merged(self._native, native),
            self.block,
            self.sections,
        )

    def _with(
        self,
        text: TextVersion,
        is_complete: bool,
        native: Mapping[str, object] | None,
        sections: tuple[tuple[Block, int], ...],
    ) -> ReasoningPart:
        return ReasoningPart(
            text, self.signature, self.encrypted, self.is_summary, self.id, is_complete, native, self.block, sections
        )


@final
class RefusalPart(WrittenPart):
    """Text in which the model declines to answer."""

    __slots__ = ()
    __match_args__ = ("text", "id", "is_complete", "native", "block")
    type: ClassVar[str] = "refusal"

    def __init__(
        self,
        text: str | TextVersion = NO_TEXT,
        id: str | None = None,
        is_complete: bool = False,
        native: Mapping[str, object] | None = None,
        block: Block = (),
    ) -> None:
        super().__init__(text, id, is_complete, native, block)

    def with_text(self, text: TextVersion) -> RefusalPart:
        """Return the part with another text."""
        return RefusalPart(text, self.id, self.is_complete, self._native, self.block)

    def ended(self, is_complete: bool = True) -> RefusalPart:
        """Return the part, whole."""
        if self.is_complete == is_complete:
            return self
        return RefusalPart(self._text.compacted(), self.id, is_complete, self._native, self.block)

    def over(self, older: Part) -> RefusalPart:
        """Return this part with the fields of `older` where it has none."""
        native = merged(older._native, self._native)
        return RefusalPart(self._text, self.id or older.id, self.is_complete or older.is_complete, native, self.block)

    def with_data(self, name: str, value: object, native: Mapping[str, object] | None) -> RefusalPart:
        """Return the part with more native fields, or with another id."""
        named = value if name == "id" and isinstance(value, str) else self.id
        return RefusalPart(self._text, named, self.is_complete, merged(self._native, native), self.block)


@final
class ToolResultPart(Part):
    """The result of a call that the provider ran itself. `output` is plain JSON; `name` is the name of the tool."""

    __slots__ = ("call_id", "is_error", "name", "output")
    __match_args__ = ("call_id", "name", "output", "is_error", "id", "is_complete", "native", "block")
    type: ClassVar[str] = "tool_result"

    def __init__(
        self,
        call_id: str | None = None,
        name: str | None = None,
        output: Any = None,
        is_error: bool = False,
        id: str | None = None,
        is_complete: bool = False,
        native: Mapping[str, object] | None = None,
        block: Block = (),
    ) -> None:
        super().__init__(id, is_complete, native, block)
        self.call_id: Final = call_id
        self.name: Final = name
        self.output: Final = output
        self.is_error: Final = is_error

    def ended(self, is_complete: bool = True) -> ToolResultPart:
        """Return the part, whole."""
        return ToolResultPart(
            self.call_id, self.name, self.output, self.is_error, self.id, is_complete, self._native, self.block
        )

    def over(self, older: Part) -> ToolResultPart:
        """Return this part with the fields of `older` where it has none."""
        known = older if isinstance(older, ToolResultPart) else self
        return ToolResultPart(
            self.call_id or known.call_id,
            self.name or known.name,
            known.output if self.output is None else self.output,
            self.is_error or known.is_error,
            self.id or known.id,
            self.is_complete or known.is_complete,
            merged(known._native, self._native),
            self.block,
        )

    def with_data(self, name: str, value: object, native: Mapping[str, object] | None) -> ToolResultPart:
        """Return the part with another output, error flag, name or id, or with more items of the output."""
        output: Any = self.output
        if name == "output":
            output = value
        elif name == "more_output" and isinstance(value, list):
            more = cast("list[object]", value)
            output = [*cast("list[object]", output), *more] if isinstance(output, list) else more
        return ToolResultPart(
            value if name == "call_id" and isinstance(value, str) else self.call_id,
            value if name == "name" and isinstance(value, str) else self.name,
            output,
            value if name == "is_error" and isinstance(value, bool) else self.is_error,
            value if name == "id" and isinstance(value, str) else self.id,
            self.is_complete,
            merged(self._native, native),
            self.block,
        )


@final
class FilePart(Part):
    """A file that the model made: an image, audio, a document.

    `data` is the content: bytes, or base64 text if it came so. `transcript` is the text of audio. A file may have a
    `url` or a `file_id` in place of data.
    """

    __slots__ = ("_pieces", "_size", "_transcript", "file_id", "media_type", "name", "url")
    __match_args__ = (
        *("media_type", "data", "url", "file_id", "name", "transcript"),
        *("id", "is_complete", "native", "block"),
    )
    type: ClassVar[str] = "file"

    def __init__(
        self,
        media_type: str | None = None,
        data: str | bytes | None = None,
        url: str | None = None,
        file_id: str | None = None,
        name: str | None = None,
        transcript: str | TextVersion = NO_TEXT,
        id: str | None = None,
        is_complete: bool = False,
        native: Mapping[str, object] | None = None,
        block: Block = (),
        pieces: tuple[list[str | bytes], int] | None = None,
    ) -> None:
        super().__init__(id, is_complete, native, block)
        self.media_type: Final = media_type
        self.url: Final = url
        self.file_id: Final = file_id
        self.name: Final = name
        self._transcript: Final[TextVersion] = NO_TEXT.add(transcript) if isinstance(transcript, str) else transcript
        if pieces is None:
            pieces = ([], 0) if data is None else ([data], 1)
        self._pieces: Final = pieces[0]
        self._size: Final = pieces[1]

    @property
    def data(self) -> str | bytes | None:
        """The content of the file. Data that came in several pieces is decoded and joined to bytes."""
        pieces = self._pieces[: self._size]
        if len(pieces) < 2:
            return pieces[0] if pieces else None
        return b"".join([piece if isinstance(piece, bytes) else _decoded(piece) for piece in pieces])

    @property
    def transcript(self) -> str:
        """The text of audio."""
        return str(self._transcript)

    def __eq__(self, other: object) -> bool:
        # Versions of one file share their pieces: comparing those would cost as much as the file for every piece.
        if not isinstance(other, FilePart):
            return NotImplemented
        if self._pieces is not other._pieces:
            return self._fields() == other._fields()
        if self._size != other._size or self._transcript.length != other._transcript.length:
            return False
        mine = (self.media_type, self.url, self.file_id, self.name, self.id, self.is_complete, self.block)
        others = (other.media_type, other.url, other.file_id, other.name, other.id, other.is_complete, other.block)
        return mine == others and self._native == other._native and self.transcript == other.transcript

    def __hash__(self) -> int:
        return super().__hash__()

    def ended(self, is_complete: bool = True) -> FilePart:
        """Return the file, whole."""
        return self._with("is_complete", is_complete, None)

    def over(self, older: Part) -> FilePart:
        """Return this part with the fields of `older` where it has none."""
        known = older if isinstance(older, FilePart) else self
        return FilePart(
            self.media_type or known.media_type,
            None,
            self.url or known.url,
            self.file_id or known.file_id,
            self.name or known.name,
            self._transcript if self._transcript.length > 0 else known._transcript,
            self.id or known.id,
            self.is_complete or known.is_complete,
            merged(known._native, self._native),
            self.block,
            (self._pieces, self._size) if self._size > 0 else (known._pieces, known._size),
        )

    def with_data(self, name: str, value: object, native: Mapping[str, object] | None) -> FilePart:
        """Return the file with another field: "data" adds a piece, "whole_data" replaces all of it."""
        return self._with(name, value, native)

    def _with(self, name: str, value: object, native: Mapping[str, object] | None) -> FilePart:
        pieces, size, transcript = self._pieces, self._size, self._transcript
        if name == "data" and isinstance(value, (str, bytes)) and value:
            pieces = [value] if size == 0 else appended(pieces, size, value)
            size += 1
        elif name == "whole_data" and isinstance(value, (str, bytes)):
            pieces, size = [value], 1
        elif name == "transcript" and isinstance(value, str):
            transcript = transcript.add(value)
        return FilePart(
            value if name == "media_type" and isinstance(value, str) else self.media_type,
            None,
            value if name == "url" and isinstance(value, str) else self.url,
            value if name == "file_id" and isinstance(value, str) else self.file_id,
            value if name == "name" and isinstance(value, str) else self.name,
            transcript,
            value if name == "id" and isinstance(value, str) else self.id,
            self.is_complete or (name == "is_complete" and value is True),
            merged(self._native, native),
            self.block,
            (pieces, size),
        )


def _joined(data: str | bytes, more: str | bytes) -> str | bytes:
    """Return data with more data: bytes, or base64 text if both are text. Each text is base64 of its own."""
    if isinstance(data, str) and isinstance(more, str):
        return (
            data + more
            if len(data) % 4 == 0 and data[-1:] != "="
            else base64.b64encode(_decoded(data) + _decoded(more)).decode("ascii")
        )
    return (_decoded(data) if isinstance(data, str) else data) + (_decoded(more) if isinstance(more, str) else more)


def _decoded(piece: str) -> bytes:
    """Return the bytes of a piece of base64; nothing for a piece that is not base64."""
    try:
        return base64.b64decode(piece + "=" * (-len(piece) % 4))
    except (binascii.Error, ValueError):
        return b""


@final
class SourcePart(Part):
    """A source that the model used, without a place in the text."""

    __slots__ = ("media_type", "text", "title", "url")
    __match_args__ = ("url", "title", "media_type", "text", "id", "is_complete", "native", "block")
    type: ClassVar[str] = "source"

    def __init__(
        self,
        url: str | None = None,
        title: str | None = None,
        media_type: str | None = None,
        text: str | None = None,
        id: str | None = None,
        is_complete: bool = True,
        native: Mapping[str, object] | None = None,
        block: Block = (),
    ) -> None:
        super().__init__(id, is_complete, native, block)
        self.url: Final = url
        self.title: Final = title
        self.media_type: Final = media_type
        self.text: Final = text

    def ended(self, is_complete: bool = True) -> SourcePart:
        """Return the source."""
        return self

    def over(self, older: Part) -> SourcePart:
        """Return this part with the fields of `older` where it has none."""
        known = older if isinstance(older, SourcePart) else self
        return SourcePart(
            self.url or known.url,
            self.title or known.title,
            self.media_type or known.media_type,
            self.text or known.text,
            self.id or known.id,
            self.is_complete or known.is_complete,
            merged(known._native, self._native),
            self.block,
        )

    def with_data(self, name: str, value: object, native: Mapping[str, object] | None) -> SourcePart:
        """Return the source with more native fields."""
        more = merged(self._native, native)
        return SourcePart(self.url, self.title, self.media_type, self.text, self.id, self.is_complete, more, self.block)


@final
class OpaquePart(Part):
    """A block of the provider that has no other place in a message. `kind` is its type on the wire."""

    __slots__ = ("kind",)
    __match_args__ = ("kind", "id", "is_complete", "native", "block")
    type: ClassVar[str] = "opaque"

    def __init__(
        self,
        kind: str,
        id: str | None = None,
        is_complete: bool = False,
        native: Mapping[str, object] | None = None,
        block: Block = (),
    ) -> None:
        super().__init__(id, is_complete, native, block)
        self.kind: Final = kind

    def ended(self, is_complete: bool = True) -> OpaquePart:
        """Return the part, whole."""
        return OpaquePart(self.kind, self.id, is_complete, self._native, self.block)

    def over(self, older: Part) -> OpaquePart:
        """Return this part with the fields of `older` where it has none."""
        native = merged(older._native, self._native)
        is_complete = self.is_complete or older.is_complete
        return OpaquePart(self.kind, self.id or older.id, is_complete, native, self.block)

    def with_data(self, name: str, value: object, native: Mapping[str, object] | None) -> OpaquePart:
        """Return the part with more native fields, or with another id."""
        named = value if name == "id" and isinstance(value, str) else self.id
        return OpaquePart(self.kind, named, self.is_complete, merged(self._native, native), self.block)


def moved(part: Part, block: Block) -> Part:
    """Return the part, which is not a call, in another block."""
    if isinstance(part, ReasoningPart):
        sections = tuple([((block[0], *section[1:]), start) for section, start in part.sections])
        return ReasoningPart(block=block).over(part).with_sections(part._text, sections)
    if isinstance(part, TextPart):
        return TextPart(part._text, block=block).over(part)
    if isinstance(part, RefusalPart):
        return RefusalPart(part._text, block=block).over(part)
    if isinstance(part, ToolResultPart):
        return ToolResultPart(block=block).over(part)
    if isinstance(part, FilePart):
        return FilePart(block=block).over(part)
    if isinstance(part, SourcePart):
        return SourcePart(is_complete=False, block=block).over(part)
    return OpaquePart(part.kind, block=block).over(part) if isinstance(part, OpaquePart) else part


# ---- all parts of a message --------------------------------------------------------------------------


@final
@mypyc_attr(free_list_len=1)
class PartVector:
    """The parts of a message, in order. Immutable: a change copies a leaf of up to 32 parts, and the list of leaves."""

    __slots__ = ("_all", "_full", "_tail", "size")

    def __init__(self, full: tuple[tuple[Part, ...], ...], tail: tuple[Part, ...]) -> None:
        self._full: Final = full  # leaves with exactly 32 parts
        self._tail: Final = tail
        self._all: tuple[Part, ...] | None = None
        self.size: Final[int] = len(full) * LEAF_SIZE + len(tail)

    @staticmethod
    def of(parts: list[Part]) -> PartVector:
        """Return the vector of these parts."""
        end = len(parts) // LEAF_SIZE * LEAF_SIZE
        full = [tuple(parts[at : at + LEAF_SIZE]) for at in range(0, end, LEAF_SIZE)]
        return PartVector(tuple(full), tuple(parts[end:]))

    def at(self, number: int) -> Part:
        """Return the part with this number."""
        place = number - len(self._full) * LEAF_SIZE
        return self._tail[place] if place >= 0 else self._full[number // LEAF_SIZE][number % LEAF_SIZE]

    def append(self, part: Part) -> PartVector:
        """Return the vector with one more part."""
        tail = (*self._tail, part)
        return PartVector((*self._full, tail), ()) if len(tail) == LEAF_SIZE else PartVector(self._full, tail)

    def put(self, number: int, part: Part) -> PartVector:
        """Return the vector with another part under this number."""
        full, tail = self._full, self._tail
        place = number - len(full) * LEAF_SIZE
        if place >= 0:
            if len(tail) == 1:
                return PartVector(full, (part,))  # nearly always, and for every few characters
            return PartVector(full, (*tail[:place], part, *tail[place + 1 :]))
        leaf, place = number // LEAF_SIZE, number % LEAF_SIZE
        changed = (*full[leaf][:place], part, *full[leaf][place + 1 :])
        return PartVector((*full[:leaf], changed, *full[leaf + 1 :]), tail)

    def all(self) -> tuple[Part, ...]:
        """Return all parts as one tuple."""
        if not self._full:
            return self._tail
        found = self._all
        if found is None:
            found = self._all = tuple([part for leaf in self._full for part in leaf] + list(self._tail))
        return found

    def changed(self, before: PartVector) -> list[int]:
        """Return the numbers of the parts that are new or are other objects than in `before`, in order."""
        if self is before:
            return []
        found: list[int] = []
        is_last = self._full is before._full  # nearly always: the change is among the last parts
        first = len(self._full) if is_last else 0
        mine: tuple[tuple[Part, ...], ...] = (self._tail,) if is_last else self._leaves()
        others: tuple[tuple[Part, ...], ...] = (before._tail,) if is_last else before._leaves()
        for at, leaf in enumerate(mine):
            other: tuple[Part, ...] = others[at] if at < len(others) else ()
            if leaf is other:
                continue
            start = (first + at) * LEAF_SIZE
            for place, part in enumerate(leaf):
                if place >= len(other) or other[place] is not part:
                    found.append(start + place)
        return found

    def _leaves(self) -> tuple[tuple[Part, ...], ...]:
        return (*self._full, self._tail)


NO_PARTS: Final = PartVector((), ())

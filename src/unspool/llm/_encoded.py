"""Arguments that are encoded twice: a JSON string that holds the object.

Some models and gateways write ``"{\\"city\\": \\"Rome\\"}"`` where the schema wants ``{"city": "Rome"}``. Such a string
is valid JSON: only the type of the arguments tells that an object is missing. `EncodedText` decodes the string piece by
piece, so that the object inside streams, and only grows.
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from .._grammar.sink import Sink
from .._native import mypyc_attr
from .._parser import Intake
from ..typed._shape import OBJECT, STRING, kinds_of

if TYPE_CHECKING:
    from .._errors import JSONSyntaxError
    from .._native import i64
    from .._options import Options
    from ..typed._shape import Shape

__all__ = ["EncodedText", "may_hold_object", "wants_object"]

MAX_BLANK: Final = 64
"""The number of blanks before the object, after which the text counts as an ordinary string."""


def wants_object(shape: Shape) -> bool:
    """Tell whether an object can fit the shape, and a string cannot."""
    kinds = kinds_of(shape)
    return OBJECT in kinds and STRING not in kinds


def may_hold_object(text: str, is_closed: bool) -> bool | None:
    """Tell whether the text of a string begins as an object does; None while that is open."""
    begun = text.lstrip()
    if len(text) - len(begun) > MAX_BLANK:
        return False
    if begun:
        return begun[0] == "{"
    return False if is_closed else None


@final
class DecodedPieces(Sink):
    """Takes the pieces of one string."""

    __slots__ = ("is_closed", "pieces")

    def __init__(self) -> None:
        self.keeps_raw = False
        self.pieces: list[str] = []
        self.is_closed = False

    def grow_string(self, text: str, offset: i64) -> None:
        self.pieces.append(text)

    def end_string(self, offset: i64) -> None:
        self.is_closed = True

    def whole_string(self, key: str | None, index: i64, text: str, node_id: i64, start: i64, end: i64) -> None:
        self.pieces.append(text)
        self.is_closed = True


@final
@mypyc_attr(free_list_len=1)
class EncodedText:
    """A string while it is decoded. Immutable: more text makes a new one.

    `piece` is the text that the last fragment added to the string, and `extra` the text after the closing quote.
    """

    __slots__ = ("extra", "has_extra", "intake", "is_closed", "piece")

    def __init__(self, intake: Intake, piece: str, is_closed: bool, extra: str, has_extra: bool) -> None:
        self.intake: Final = intake
        self.piece: Final = piece
        self.is_closed: Final = is_closed
        self.extra: Final = extra
        self.has_extra: Final = has_extra
        """Text other than blanks has followed the string."""

    @staticmethod
    def begin(options: Options) -> EncodedText:
        """Return the string before its opening quote."""
        return EncodedText(Intake.create(options, False), "", False, "", False)

    def feed(self, fragment: str) -> EncodedText:
        """Return the string after one more fragment."""
        if self.is_closed:
            return EncodedText(self.intake, "", True, fragment, self.has_extra or bool(fragment.strip()))
        intake, sink = self.intake.fork(), DecodedPieces()
        before = intake.reader.offset
        intake.feed(fragment, sink)
        extra = fragment[intake.reader.offset - before :] if sink.is_closed else ""
        return EncodedText(intake, "".join(sink.pieces), sink.is_closed, extra, bool(extra.strip()))

    @property
    def error(self) -> JSONSyntaxError | None:
        """The error in the spelling of the string, if there is one."""
        return self.intake.reader.error

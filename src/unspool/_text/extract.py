"""The JSON in a text that wraps it: Markdown fences, prose before and after, a byte order mark.

A machine that stands before the reader. It cuts a text into pieces, some to be read and the others to be skipped,
and it has no grammar: it looks for the place where JSON begins, and counts brackets, minding strings, up to the
place where it ends. What is wrong in between is for the reader to say. The modes, what comes next, and what then::

    FIRST       a byte order mark, or not           SEARCH
    SEARCH      prose, up to a value                CONTAINER
    BLOCK       the first value of a fenced block   CONTAINER, SCALAR; SKIP where it is not JSON
    CONTAINER   the value, to its closing bracket   SEARCH; SKIP when one value is enough
    SCALAR      the value, to the end of its block
    SKIP        anything, to the end of the block or of the text
    MARKER      the rest of ``` or ~~~              INFO
    INFO        the rest of a fence line            BLOCK; SEARCH or SKIP if it closes a block

Any line may turn out to be a fence line, but not inside a value that began outside of a block. White space next to
a value is part of the JSON text (RFC 8259, section 2), so it is left to the reader.
"""

# Compiled with mypyc.
from __future__ import annotations

from string import ascii_letters, digits
from typing import TYPE_CHECKING, Final, cast, final

from .._errors import StateError
from .._sharing import appended
from .pieces import TAKEN, Piece, Skipped, Why
from .signs import AFTER_WORD, FARTHEST, FENCED, HEAD, INLINE, LINE_START, NO, SPACE, UNDECIDED, YES, find_marker, judge

if TYPE_CHECKING:
    from .._native import i64

__all__ = ["Extractor"]

FIRST: Final = 0
SEARCH: Final = 1
BLOCK: Final = 2
CONTAINER: Final = 3
SCALAR: Final = 4
SKIP: Final = 5
MARKER: Final = 6
INFO: Final = 7

# Where we are in the value.
OUTSIDE: Final = 0
STRING: Final = 1
ESCAPE: Final = 2

LONGEST_FENCE: Final = 64
"""Longer ones count as this long: about as much is held back where one may end."""

BEFORE_INDEX: Final = digits + "_)]" + ascii_letters

FIELDS: Final[dict[str, tuple[type, int]]] = {
    "multiple": (bool, 1),
    "_mode": (int, INFO),
    "_offset": (int, 2**62),
    "_held": (str, FARTHEST),
    "_place": (int, AFTER_WORD),
    "_is_blank": (bool, 1),
    "_is_done": (bool, 1),
    "_fence": (str, 1),
    "_size": (int, LONGEST_FENCE),
    "_label": (str, 4),
    "_is_within": (bool, 1),
    "_depth": (int, 2**62),
    "_string": (int, ESCAPE),
}
"""What is dumped: the type, and the largest number or the longest text."""


@final
class Extractor:
    """Text in, pieces out: in order, without gaps. Cutting the text elsewhere cuts the pieces elsewhere, no more.

    >>> extractor = Extractor()
    >>> [piece.text for piece in extractor.feed('Sure: {"a": 1} Anything else?') if not piece.is_skipped]
    ['{"a": 1} ']
    >>> extractor.skipped
    [Skipped(offset=0, length=6, why='prose'), Skipped(offset=15, length=14, why='prose')]
    """

    __slots__ = (*FIELDS, "_region", "_region_start", "_regions", "_told", "_why")

    def __init__(self, multiple: bool = False) -> None:
        self.multiple = multiple
        self._mode: i64 = FIRST
        self._offset: i64 = 0  # characters told in pieces
        self._held = ""  # those behind them that are not decided
        self._place: i64 = LINE_START
        self._is_blank = True  # only white space since the start, a fence or a value
        self._is_done = False  # no more values are wanted
        # The block, or the fence line in hand.
        self._fence = ""  # its character; empty outside of a block
        self._size: i64 = 0
        self._label = ""  # the first characters of the info string
        self._is_within = False  # the fence line stands in a block
        # The value.
        self._depth: i64 = 0
        self._string: i64 = OUTSIDE
        # The report. The first `_told` regions are ours; forks may have gone on behind them.
        self._regions: list[Skipped] = []
        self._told: i64 = 0
        self._region: Why = TAKEN  # the one that still grows
        self._region_start: i64 = 0
        self._why: Why = TAKEN  # of what the last step went over

    def feed(self, text: str) -> list[Piece]:
        """Cut one fragment up. The few characters at its end that are not decided come with the next pieces."""
        return self._cut(self._held + text, False)

    def close(self) -> list[Piece]:
        """The text has ended: the pieces that were held back."""
        return self._cut(self._held, True)

    @property
    def skipped(self) -> list[Skipped]:
        """What was skipped so far, where, and why."""
        regions = self._regions[: self._told]
        return regions if self._region == TAKEN else [*regions, self._growing()]

    def fork(self) -> Extractor:
        """An extractor that goes on from here on its own."""
        other = Extractor()
        for name in (*FIELDS, "_region", "_region_start", "_regions", "_told"):
            setattr(other, name, getattr(self, name))
        return other

    def ended_at(self, offset: int) -> Extractor:
        """What is left to say when nothing behind `offset` is read: what was skipped before it."""
        other = Extractor(self.multiple)
        other._offset = offset
        before = [region for region in self.skipped if region.offset < offset]
        other._regions = [Skipped(start, min(length, offset - start), why) for start, length, why in before]
        other._told = len(before)
        return other

    def dump(self) -> dict[str, object]:
        """The state as plain JSON data: a function of the text so far, however it was cut."""
        data: dict[str, object] = {name.removeprefix("_"): getattr(self, name) for name in FIELDS}
        data["skipped"] = [list(region) for region in self.skipped]
        return data

    @staticmethod
    def load(data: object) -> Extractor:
        """The extractor that was dumped; `StateError` if `data` cannot be a dump."""
        _require(isinstance(data, dict), "an object")
        fields = cast("dict[object, object]", data)
        other = Extractor()
        for name, (kind, largest) in FIELDS.items():
            value = fields.get(name.removeprefix("_"))
            _require(type(value) is kind, name)
            _require(0 <= (len(value) if isinstance(value, str) else cast("int", value)) <= largest, name)
            setattr(other, name, value)
        _require(other._fence in ("", "`", "~"), "_fence")
        other._load_report(fields.get("skipped"))
        return other

    # What is told.

    def _cut(self, text: str, is_last: bool) -> list[Piece]:
        pieces: list[Piece] = []
        end: i64 = len(text)
        start: i64 = 0
        i: i64 = 0
        why: Why = TAKEN
        while i < end:
            after = self._step(text, i, end, is_last)
            if after == UNDECIDED:
                break
            if self._why != why:
                self._tell(text[start:i], why, pieces)
                start = i
                why = self._why
            i = after
        self._tell(text[start:i], why, pieces)
        self._held = text[i:]
        return pieces

    def _tell(self, text: str, why: Why, pieces: list[Piece]) -> None:
        if not text:
            return
        pieces.append(Piece(text, self._offset, why))
        if why != self._region:
            if self._region != TAKEN:
                self._regions = appended(self._regions, self._told, self._growing())
                self._told += 1
            self._region = why
            self._region_start = self._offset
        self._offset += len(text)

    def _growing(self) -> Skipped:
        return Skipped(self._region_start, self._offset - self._region_start, self._region)

    def _load_report(self, report: object) -> None:
        _require(isinstance(report, list), "_skipped")
        end = 0
        told: int = self._offset  # a plain int: what is compared with it may be of any size
        for entry in cast("list[object]", report):
            items = cast("list[object]", entry) if isinstance(entry, list) else []
            _require([type(item) for item in items] == [int, int, str], "_skipped")
            region = Skipped(cast("int", items[0]), cast("int", items[1]), cast("Why", items[2]))
            _require(region.why in ("bom", "prose", "fence"), "_skipped")
            _require(end <= region.offset and (end < region.offset or region.why != self._region), "_skipped")
            end = region.offset + region.length
            _require(region.offset < end <= told, "_skipped")
            self._region = region.why
            self._regions.append(region)
        if self._regions and end == told:
            self._region_start = self._regions.pop().offset
        else:
            self._region = TAKEN
        self._told = len(self._regions)

    # The machine.

    def _step(self, text: str, i: i64, end: i64, is_last: bool) -> i64:
        """Go on from `i`, as far as there is one thing to say about the text: `_why` it is skipped, or not."""
        mode = self._mode
        if mode == FIRST:
            self._mode = SEARCH
            self._why = "bom"
            return i + 1 if text[i] == "\ufeff" else i
        if self._place == LINE_START:
            marker = find_marker(text, i, self._fence, self._size, is_last)
            if marker == UNDECIDED:
                return UNDECIDED
            self._place = HEAD
            if marker != NO:
                self._start_fence_line(text[marker])
                return marker
        if mode == CONTAINER or mode == SCALAR:
            return self._value(text, i, end)
        if mode == MARKER or mode == INFO:
            return self._fence_line(text, i, end, is_last)
        if self._is_blank and text[i] in SPACE:
            return self._space(text, i, end)
        if mode == BLOCK:
            # The first thing in a block decides what the block is. What is labelled as JSON is taken for it.
            verdict = YES if self._label.lower() == "json" else judge(text, i, FENCED, is_last)
            if verdict == UNDECIDED:
                return UNDECIDED
            self._mode = SKIP if verdict == NO else CONTAINER if text[i] in "[{" else SCALAR
        self._is_blank = False
        return i if mode == BLOCK else self._prose(text, i, end, is_last)

    def _space(self, text: str, i: i64, end: i64) -> i64:
        self._why = TAKEN
        while i < end and text[i] in SPACE:
            i += 1
            if text[i - 1] == "\n":
                self._place = LINE_START
                break
        return i

    def _prose(self, text: str, i: i64, end: i64, is_last: bool) -> i64:
        """Over the bracket at `i`, if it is prose; or up to the next one, or to the end of the line."""
        self._why = "prose"
        searches = self._mode == SEARCH
        at = i
        while at < end:
            c: i64 = ord(text[at])
            if c == 0x0A:
                self._place = LINE_START
                return at + 1
            if searches and (c == 0x7B or c == 0x5B):
                break
            at += 1
        if at == i:
            return self._bracket(text, i, is_last)
        if text[at - 1] in BEFORE_INDEX:
            self._place = AFTER_WORD
        elif self._place != HEAD or text[i:at].strip(SPACE):
            self._place = INLINE
        return at

    def _bracket(self, text: str, i: i64, is_last: bool) -> i64:
        verdict = judge(text, i, self._place, is_last)
        if verdict == UNDECIDED:
            return UNDECIDED
        if verdict == YES:
            self._mode = CONTAINER
            return i
        self._place = INLINE
        return i + 1

    def _value(self, text: str, i: i64, end: i64) -> i64:
        self._why = TAKEN
        depth = self._depth
        string = self._string
        in_block = self._fence != ""
        while i < end:
            c: i64 = ord(text[i])
            i += 1
            if c == 0x0A and in_block:
                # No string goes on in the next line: if that is a fence line, it ends the block whatever is open.
                self._place = LINE_START
                break
            if string == ESCAPE:
                string = STRING
            elif string == STRING:
                if c == 0x22:
                    string = OUTSIDE
                elif c == 0x5C:
                    string = ESCAPE
            elif c == 0x22:
                string = STRING
            elif c == 0x7B or c == 0x5B:
                depth += 1
            elif (c == 0x7D or c == 0x5D) and depth > 0:
                depth -= 1
                if depth == 0 and self._mode == CONTAINER:
                    self._place = INLINE
                    self._end_value()
                    break
        self._depth = depth
        self._string = string
        return i

    def _end_value(self) -> None:
        self._is_blank = True
        self._is_done = not self.multiple
        self._mode = SKIP if self._is_done else SEARCH

    def _start_fence_line(self, character: str) -> None:
        if self._mode == CONTAINER or self._mode == SCALAR:
            self._end_value()
            if self._is_cut():
                self._is_done = True
        self._why = "fence"
        self._is_within = self._fence != ""
        self._fence = character
        self._size = 0
        self._label = ""
        self._mode = MARKER
        self._place = INLINE

    def _fence_line(self, text: str, i: i64, end: i64, is_last: bool) -> i64:
        self._why = "fence"
        at = i
        if self._mode == MARKER:
            while at < end and text[at] == self._fence:
                at += 1
            self._size = min(self._size + at - i, LONGEST_FENCE)
            if at < end:
                self._mode = INFO
            return at
        while at < end:
            character = text[at]
            if character == "\n":
                self._end_fence_line()
                return at + 1
            if character == "`" == self._fence:
                self._leave_block()  # it was no fence, but code in a line: ```x```
                return at
            if character in "[{" and not self._is_done:
                if at > i:
                    return at
                after = self._bracket(text, i, is_last)
                if self._mode == CONTAINER:
                    self._fence = ""  # likewise: ```{"a": 1}```
                elif after > i:
                    self._label = (self._label + character)[:4]
                return after
            if len(self._label) < 4 and (self._label or character not in SPACE):
                self._label += character
            at += 1
        return at

    def _end_fence_line(self) -> None:
        if self._is_within and not self._label:
            self._leave_block()
        else:
            self._mode = SKIP if self._is_done else BLOCK
        self._is_blank = not self._is_cut()
        self._place = LINE_START

    def _leave_block(self) -> None:
        self._fence = ""
        self._mode = SKIP if self._is_done else SEARCH

    def _is_cut(self) -> bool:
        """The block ended before its value did: the reader waits for the rest, and nothing else is for it."""
        return self._depth > 0 or self._string != OUTSIDE


def _require(is_right: bool, name: str) -> None:
    if not is_right:
        raise StateError(f"not the state of an extractor: {name.removeprefix('_')}")

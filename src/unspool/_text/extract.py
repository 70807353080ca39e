"""The extractor: it finds the JSON in a text that wraps it in Markdown fences, prose, or a byte order mark.

The extractor works in front of the reader. It cuts a text into pieces, some to read and the others to skip, and knows
no grammar: it looks for the place where JSON begins, and counts brackets outside of strings up to the place where it
ends. The reader reports whatever is wrong in between. The modes, what each one reads, and the mode that follows::

    FIRST       a byte order mark, or nothing       SEARCH
    SEARCH      prose, up to a value                CONTAINER
    BLOCK       the first value of a fenced block   CONTAINER, SCALAR; SKIP if it is not JSON
    CONTAINER   the value, to its closing bracket   SEARCH; SKIP if one value is enough
    SCALAR      the value, to the end of its block
    SKIP        anything, to the end of the block or of the text
    MARKER      the rest of ``` or ~~~              INFO
    INFO        the rest of a fence line            BLOCK; SEARCH or SKIP if it closes a block

Any line may turn out to be a fence line, except inside a value that began outside of a block. White space next to a
value is part of the JSON text (RFC 8259, section 2), so the reader gets it.
"""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, cast, final

from .._dumps import as_dumped, check, raw_text
from .._sharing import appended
from .spelling import ODD_SPACES

if TYPE_CHECKING:
    from .._native import i64

__all__ = ["Extractor", "Piece", "Skipped", "Why"]

# The modes.
FIRST: Final = 0
SEARCH: Final = 1
BLOCK: Final = 2
CONTAINER: Final = 3
SCALAR: Final = 4
SKIP: Final = 5
MARKER: Final = 6
INFO: Final = 7

# The position in a line. The same characters can be JSON at the head of a line and prose in the middle of it.
LINE_START: Final = 0  # the line may be a fence line
HEAD: Final = 1  # it is not a fence line, and only blanks came so far
INLINE: Final = 2
AFTER_WORD: Final = 3  # a bracket here is an index: row["name"]
FENCED: Final = 4  # at the first character of a block

# The position in a value.
OUTSIDE: Final = 0
STRING: Final = 1
ESCAPE: Final = 2

# The answers to the question whether a text is what it looks like.
UNDECIDED: Final = -1  # more text is needed
NO: Final = -2
YES: Final = -3

MAX_HELD: Final = 128
"""The most characters that the extractor holds back while it cannot tell whether a bracket is JSON or prose."""
MAX_FENCE: Final = 64
"""Longer fences count as this long: the extractor may have to hold back about as many characters at their end."""

SPACE: Final = " \t\n\r"
ANY_SPACE: Final = SPACE + ODD_SPACES
DIGITS: Final = "0123456789"
LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
IN_NUMBERS: Final = DIGITS + "+-.eE"
IN_WORDS: Final = DIGITS + "+-." + LETTERS
BEFORE_INDEX: Final = DIGITS + "_)]" + LETTERS

Why: TypeAlias = Literal["", "bom", "prose", "fence"]
"""Why a piece is skipped; empty if it is not."""
TAKEN: Final = ""

FIELDS: Final[dict[str, tuple[type, int]]] = {
    "multiple": (bool, 1),
    "_mode": (int, INFO),
    "_offset": (int, 2**62),
    "_held": (str, MAX_HELD),
    "_place": (int, AFTER_WORD),
    "_is_blank": (bool, 1),
    "_is_done": (bool, 1),
    "_fence": (str, 1),
    "_size": (int, MAX_FENCE),
    "_label": (str, 4),
    "_is_within": (bool, 1),
    "_depth": (int, 2**62),
    "_string": (int, ESCAPE),
}
"""The dumped fields: the type of each, and the largest number or the longest text."""


@final
class Piece:
    """A part of the text, at `offset`: to read, or to skip because of `why`."""

    __slots__ = ("offset", "text", "why")

    def __init__(self, text: str, offset: int, why: Why) -> None:
        self.text = text
        self.offset = offset
        self.why: Why = why

    @property
    def is_skipped(self) -> bool:
        return self.why != TAKEN

    def __repr__(self) -> str:
        return f"Piece({self.text!r}, {self.offset}, {self.why!r})"


class Skipped(NamedTuple):
    """A part of the text that is not JSON, skipped for one reason."""

    offset: int
    length: int
    why: Why


@final
class Extractor:
    """A converter from fragments of text to pieces, in order and without gaps.

    Fragments with other borders give pieces with other borders, and change nothing else.

    >>> extractor = Extractor()
    >>> [piece.text for piece in extractor.feed('Sure: {"a": 1} Anything else?') if not piece.is_skipped]
    ['{"a": 1} ']
    >>> extractor.skipped
    [Skipped(offset=0, length=6, why='prose'), Skipped(offset=15, length=14, why='prose')]
    """

    __slots__ = (
        *FIELDS,
        "_region",
        "_region_start",
        "_regions",
        "_start",
        "_told",
        "_why",
        "is_in_string",
        "is_tolerant",
    )

    def __init__(self, multiple: bool = False, is_tolerant: bool = False) -> None:
        self.multiple = multiple
        # The value is repaired while it is read: `value_ended` tells where it ends, and not its brackets.
        self.is_tolerant = is_tolerant
        self.is_in_string = False  # then: a string of the value is open
        self._start: i64 = 0  # then: the held characters before it are cut
        self._mode: i64 = FIRST
        self._offset: i64 = 0  # characters handed out in pieces
        self._held = ""  # the undecided characters after them
        self._place: i64 = LINE_START
        self._is_blank = True  # only white space since the start, a fence or a value
        self._is_done = False  # no further value is wanted
        # The block, or the current fence line.
        self._fence = ""  # its character; empty outside of a block
        self._size: i64 = 0
        self._label = ""  # the first characters of the info string
        self._is_within = False  # the fence line is inside a block
        # The value.
        self._depth: i64 = 0
        self._string: i64 = OUTSIDE
        # The report. The first `_told` regions belong to this extractor; forks may have appended more.
        self._regions: list[Skipped] = []
        self._told: i64 = 0
        self._region: Why = TAKEN  # the region that still grows
        self._region_start: i64 = 0
        self._why: Why = TAKEN  # of the text that the last step passed

    def feed(self, text: str) -> list[Piece]:
        """Cut one fragment into pieces. A few undecided characters at its end come with the next pieces."""
        return self._cut(self._held + text, False)

    def close(self) -> list[Piece]:
        """End the text, and return the pieces that were held back."""
        return self._cut(self._held, True)

    def add(self, text: str) -> None:
        """Take one fragment; `next_piece` cuts it. That is the way of a tolerant extractor."""
        self._held += text

    def next_piece(self, is_last: bool) -> Piece | None:
        """Cut off the next piece, or return None if more text is needed. It is at most one line of the value."""
        text = self._held
        end: i64 = len(text)
        start = self._start
        after = start
        while after == start and start < end:  # a step may do no more than change the mode
            after = self._step(text, start, end, is_last)
        if after == UNDECIDED or start == end:
            self._held = text[start:]
            self._start = 0
            return None
        pieces: list[Piece] = []
        self._tell(text[start:after], self._why, pieces)
        self._start = after
        return pieces[0]

    def value_ended(self, unused: str) -> None:
        """The value has ended, and the last characters of the last pieces came after it."""
        self._offset -= len(unused)
        if len(unused) <= self._start:
            self._start -= len(unused)
        else:
            self._held = unused + self._held[self._start :]
            self._start = 0
        self._depth = 0
        self._place = INLINE
        self._end_value()

    @property
    def skipped(self) -> list[Skipped]:
        """The parts of the text that were skipped so far, and why."""
        regions = self._regions[: self._told]
        return regions if self._region == TAKEN else [*regions, self._growing()]

    def fork(self) -> Extractor:
        """Return an independent copy."""
        other = Extractor()
        for name in (*FIELDS, "_region", "_region_start", "_regions", "_told", "is_tolerant"):
            setattr(other, name, getattr(self, name))
        return other

    def ended_at(self, offset: int) -> Extractor:
        """Return an extractor for a text that ends at `offset`: it only reports what was skipped before."""
        other = Extractor(self.multiple, self.is_tolerant)
        other._offset = offset
        before = [region for region in self.skipped if region.offset < offset]
        other._regions = [Skipped(start, min(length, offset - start), why) for start, length, why in before]
        other._told = len(before)
        return other

    def dump(self) -> dict[str, object]:
        """Return the state as plain JSON data. It depends on the text so far, and not on how the text was cut."""
        data: dict[str, object] = {name.removeprefix("_"): getattr(self, name) for name in FIELDS}
        data["held"], data["label"] = as_dumped(self._held), as_dumped(self._label)  # text of the input
        data["skipped"] = [list(region) for region in self.skipped]
        return data

    @staticmethod
    def load(data: object, is_tolerant: bool = False) -> Extractor:
        """Return the dumped extractor. Raise `StateError` for invalid data."""
        _check_field(isinstance(data, dict), "an object")
        fields = cast("dict[object, object]", data)
        other = Extractor(False, is_tolerant)
        for name, (kind, largest) in FIELDS.items():
            value = fields.get(name.removeprefix("_"))
            if kind is str and isinstance(value, list):
                value = raw_text(cast("object", value))
            _check_field(type(value) is kind, name)
            _check_field(0 <= (len(value) if isinstance(value, str) else cast("int", value)) <= largest, name)
            setattr(other, name, value)
        _check_field(other._fence in ("", "`", "~"), "_fence")
        other._load_report(fields.get("skipped"))
        return other

    # The report.

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
        _check_field(isinstance(report, list), "_skipped")
        end = 0
        told: int = self._offset  # a plain int: the dumped numbers may exceed a machine integer
        for entry in cast("list[object]", report):
            items = cast("list[object]", entry) if isinstance(entry, list) else []
            _check_field([type(item) for item in items] == [int, int, str], "_skipped")
            region = Skipped(cast("int", items[0]), cast("int", items[1]), cast("Why", items[2]))
            _check_field(region.why in ("bom", "prose", "fence"), "_skipped")
            _check_field(end <= region.offset and (end < region.offset or region.why != self._region), "_skipped")
            end = region.offset + region.length
            _check_field(region.offset < end <= told, "_skipped")
            self._region = region.why
            self._regions.append(region)
        if self._regions and end == told:
            self._region_start = self._regions.pop().offset
        else:
            self._region = TAKEN
        self._told = len(self._regions)

    # The machine.

    def _step(self, text: str, i: i64, end: i64, is_last: bool) -> i64:
        """Go on from `i` as long as one answer holds, and set `_why`: the reason for skipping, or that it is read."""
        mode = self._mode
        if mode == FIRST:
            self._mode = SEARCH
            self._why = "bom"
            return i + 1 if text[i] == "\ufeff" else i
        if self._place == LINE_START:
            marker = find_marker(text, i, self._fence, self._size, is_last)
            if marker >= 0 and self.is_in_string and mode == CONTAINER:
                marker = is_end_of_block(text, marker, is_last)
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
            # The first thing in a block decides what the block is. The label 'json' settles it too.
            verdict = YES if self._label.lower() == "json" else judge(text, i, FENCED, is_last, self.is_tolerant)
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
        """Pass the bracket at `i` if it is prose; otherwise go to the next bracket or to the end of the line."""
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
        verdict = judge(text, i, self._place, is_last, self.is_tolerant)
        if verdict == UNDECIDED:
            return UNDECIDED
        if verdict == YES:
            self._mode = CONTAINER
            return i
        self._place = INLINE
        return i + 1

    def _value(self, text: str, i: i64, end: i64) -> i64:
        self._why = TAKEN
        if self.is_tolerant:
            self._depth = 1 if self._mode == CONTAINER else 0
            stop: i64 = text.find("\n", i) + 1 if self._fence != "" else 0
            if stop == 0:
                return end
            self._place = LINE_START
            return stop
        depth = self._depth
        string = self._string
        in_block = self._fence != ""
        while i < end:
            c: i64 = ord(text[i])
            i += 1
            if c == 0x0A and in_block:
                # A string cannot continue on the next line. If that is a fence line, it ends the block.
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
            self._size = min(self._size + at - i, MAX_FENCE)
            if at < end:
                self._mode = INFO
            return at
        while at < end:
            character = text[at]
            if character == "\n":
                self._end_fence_line()
                return at + 1
            if character == "`" == self._fence:
                self._leave_block()  # inline code, not a fence: ```x```
                return at
            if character in "[{" and not self._is_done:
                if at > i:
                    return at
                after = self._bracket(text, i, is_last)
                if self._mode == CONTAINER:
                    self._fence = ""  # inline code as well: ```{"a": 1}```
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
        """Return True if the block ended before its value did. The reader then gets no further text."""
        return self._depth > 0 or self._string != OUTSIDE


# ---- telling JSON and fences from prose --------------------------------------------------------------
#
# Each of these functions may need more text to answer.


def find_marker(text: str, start: i64, fence: str, size: i64, is_last: bool) -> i64:
    """Return where the marker of a fence is in the line at `start`. If `fence` is set, it must end that block."""
    indent = text[start : start + 4]
    line = indent.lstrip(" ")
    at = start + len(indent) - len(line)
    wanted = max(size, 3) if fence else 3
    marker = text[at : at + wanted]
    if at - start > 3 or (line and (line[0] not in (fence or "`~") or marker != line[0] * len(marker))):
        return NO
    if len(marker) == wanted:
        return at
    return NO if is_last else UNDECIDED


def is_end_of_block(text: str, marker: i64, is_last: bool) -> i64:
    """Return the place of the marker if the block ends there, inside a string: nothing may follow the fence line."""
    end = marker + MAX_HELD - 8
    line: i64 = text.find("\n", marker, end)
    if line >= 0 and text[line:end].strip(SPACE):
        return NO
    return marker if is_last or len(text) >= end else UNDECIDED


def judge(text: str, start: i64, place: i64, is_last: bool, is_tolerant: bool = False) -> i64:
    """Return whether a value begins at `start`.

    Brackets are JSON at any place if they begin with a string, or with a number or literal and a comma. Empty brackets,
    and brackets around one number or literal, are often something else: a placeholder, a check box, a footnote. Outside
    of a block they must be alone on their line. Inside a block, a scalar is a value as well. With `is_tolerant`, other
    quotes, a key without quotes and a comment count too, but not in the middle of a line.
    """
    rest = text[start : start + MAX_HELD]
    if place == AFTER_WORD and rest[0] == "[":
        return NO
    unclear: i64 = NO if is_last or len(rest) == MAX_HELD else UNDECIDED
    is_tolerant = is_tolerant and place != INLINE and place != AFTER_WORD
    space = ANY_SPACE if is_tolerant else SPACE
    closing = ""
    while rest[:1] == "[":
        closing += "]"
        if len(closing) == 3:
            return YES
        rest = rest[1:].lstrip(space)
    if rest[:1] == "{":
        closing = "}" + closing
        rest = rest[1:].lstrip(space)
    if rest[:1] == '"':
        return YES
    if is_tolerant and closing:
        if rest[:2] == "//" or rest[:2] == "/*":
            return YES
        is_comment = rest[:1] == "#" and text[start + 1] != "#"  # templates begin with {#
        if rest == "/" or (is_comment and len(rest) == 1):
            return unclear
        if is_comment and rest[1] == " ":
            return YES
        if rest[:1] in ("'", "\N{LEFT DOUBLE QUOTATION MARK}", "\N{LEFT SINGLE QUOTATION MARK}"):
            return YES
        key = rest.lstrip(IN_WORDS + "_$")
        if closing[:1] == "}" and len(key) < len(rest):
            key = key.lstrip(SPACE)
            if not key:
                return unclear
            if key[0] == ":":
                return YES
    after = rest.lstrip(IN_WORDS)
    word = rest[: len(rest) - len(after)]
    if not after and (closing or not is_last):
        return unclear
    if (closing[:1] == "}" or not is_scalar(word)) if word else not closing:
        return NO
    is_empty = not word
    for close in closing:
        after = after.lstrip(SPACE)
        if not after:
            return unclear
        if after[0] == "," and not is_empty:
            return YES
        if after[0] != close:
            return NO
        after = after[1:]
        is_empty = False
    if place == FENCED and closing:
        return YES
    if place == INLINE or place == AFTER_WORD:
        return NO
    after = after.lstrip(" \t\r")
    if not after:
        return YES if is_last else unclear
    return YES if after[0] == "\n" else NO


def is_scalar(word: str) -> bool:
    """Return True for a literal or a number. The reader checks the details."""
    if word in ("true", "false", "null"):
        return True
    if word.strip(IN_NUMBERS) or word[0] in "+." or word[-1] not in DIGITS:
        return False
    try:
        float(word)
    except ValueError:
        return False
    return True


def _check_field(is_right: bool, name: str) -> None:
    check(is_right, f"invalid extractor field {name.removeprefix('_')!r}")

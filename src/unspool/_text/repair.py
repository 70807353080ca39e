"""The repairer: a stage before the reader that reads broken JSON, and logs each change.

The repairer has no grammar. It asks the reader what may come next (its mode and its frames), looks at the text, and
passes it on: as it is, or a piece of it as another text (`Reader.feed_as`). So offsets are those of the text as it
came, and everything behind the reader stays as it is.

JSON is never changed: each rule needs text that no JSON has. A rule that needs to see more holds the text back, at most
`FARTHEST` characters; where these do not decide, JSON's reading wins. Text that no rule knows is refused: from there
on the reader gets the text as it is, and tells what is wrong.

The methods, and the modes of the reader that they serve::

    _between    white space, comments, punctuation; the first character of a token
    _atom       VALUE..         a number, a word, or the beginning of a string without quotes
    _key        KEY..           a key without quotes
    _in_string  STRING          the text of a string, and its end (ends.py)
    _in_triple  STRING          the same between triple quotes
    _in_bare    STRING          the same without quotes
    _in_key     KEY_STRING      the text of a key, and its end
"""

# Compiled with mypyc.
from __future__ import annotations

from .._dumps import as_dumped, check, check_position, flag, natural, raw_text
from .._errors import Code, Position
from .._grammar.reader import (
    AFTER_ITEM,
    AFTER_MEMBER,
    BETWEEN,
    COLON,
    END,
    FAILED,
    IGNORE,
    KEY,
    KEY_OR_CLOSE,
    KEY_STRING,
    LINE_END,
    LITERAL,
    LITERAL_END,
    SKIP_LINE,
    STRING,
    VALUE,
    VALUE_OR_CLOSE,
)
from .._grammar.scan import NUMBER, is_whole_number, mark_run, number_run, space_run
from .._grammar.sink import Sink
from .._native import TYPE_CHECKING, cast, final, mypyc_attr
from .._path import ROOT, Path
from .._repairs import Repair, RepairCode
from .._sharing import appended
from .ends import (
    FARTHEST,
    JOINS,
    LONGEST_KEY,
    NO,
    UNDECIDED,
    YES,
    array_was_not_closed,
    blank_run,
    dots_at,
    fits,
    has_line_break,
    is_colon,
    is_comment,
    key_ends,
    key_was_not_closed,
    member_follows,
    member_key_at,
    quote_is_missing,
    string_ends,
    word_key_follows,
)
from .spelling import (
    BARE,
    DOUBLE,
    JSON_ATOM,
    LITERALS,
    NO_QUOTE,
    NOT_NUMBER,
    ODD_DOUBLE,
    ODD_SINGLE,
    OTHER,
    SINGLE,
    SPELLED_LITERAL,
    TRIPLE_DOUBLE,
    TRIPLE_SINGLE,
    atom_kind,
    atom_run,
    closes,
    is_atom,
    is_odd_space,
    is_word,
    json_number,
    may_become_known,
    narrow,
    quote_kind,
)

if TYPE_CHECKING:
    from typing import Any, Final

    from .._grammar.reader import Frame, Reader
    from .._native import i64

__all__ = ["Repairer"]

# The levels: what may be repaired.
NOTHING: Final = 0  # only text that ended too early is closed
SPELLING: Final = 1
GUESS: Final = 2
LEVELS: Final = {"none": NOTHING, "spelling": SPELLING, "guess": GUESS}

# A comment that is open.
NO_COMMENT: Final = 0
LINE_COMMENT: Final = 1
BLOCK_COMMENT: Final = 2

CODE_OF_STYLE: Final = {
    SINGLE: RepairCode.SINGLE_QUOTES,
    ODD_DOUBLE: RepairCode.ODD_QUOTES,
    ODD_SINGLE: RepairCode.ODD_QUOTES,
}
FIELDS: Final = (
    ("_style", BARE),
    ("_brackets", 1 << 60),
    ("_comment", BLOCK_COMMENT),
    ("_comma", 1 << 60),
    ("_comma_line", 1 << 60),
    ("_comma_column", 1 << 60),
    ("_closed", 1 << 60),
)
NO_SINK: Final = Sink()
FLAGS: Final = ("_inner", "_bare_key", "_broke", "_refused", "_has_comma", "_dots", "_controls", "_after_string")


@final
@mypyc_attr(free_list_len=1)
class Repairer:
    """The stage. Its fields are small or shared, so `fork` takes constant time."""

    __slots__ = (
        "_after_string",
        "_at",
        "_bare_key",
        "_brackets",
        "_broke",
        "_closed",
        "_comma",
        "_comma_column",
        "_comma_line",
        "_comment",
        "_controls",
        "_dots",
        "_end",
        "_frame",
        "_has_comma",
        "_held",
        "_inner",
        "_is_last",
        "_last",
        "_level",
        "_log",
        "_logged",
        "_path",
        "_reader",
        "_refused",
        "_sink",
        "_style",
        "_text",
        "has_ended",
        "pieces",
        "stops_at_root",
        "unused",
    )

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._level: i64 = LEVELS[reader.dialect.options.repair]
        # Within a call.
        self._text = ""
        self._end: i64 = 0
        self._is_last = False
        self._sink = NO_SINK
        self._at: i64 = 0  # where the held text begins
        self._held = ""  # the characters that are read and not passed on
        self._refused = False  # no rule knows the text: it goes to the reader as it is
        # The string that is open.
        self._style: i64 = NO_QUOTE
        self._inner = False  # a quote was taken for text
        self._brackets: i64 = 0  # that the string opened itself
        self._controls = False  # the last repair is about control characters in this string
        # Between tokens.
        self._comment: i64 = NO_COMMENT
        self._bare_key = False  # the last key had no quotes
        self._broke = False  # a new line began since the last token
        self._after_string = False  # the last value was a string
        self._dots = False  # the last token was an ellipsis
        self._has_comma = False  # the last token was a comma, and this is its place
        self._comma: i64 = 0
        self._comma_line: i64 = 0
        self._comma_column: i64 = 0
        self._closed: i64 = 0  # the offset after the last closing quote: a # there begins no comment
        # The log. The first `_logged` repairs belong to this repairer; forks may have appended more.
        self._log: list[Repair] = []
        self._logged: i64 = 0
        self._last: Repair | None = None  # it may still grow
        self._frame: Frame | None = None  # the container of the last repair, and its path
        self._path = ROOT
        self.stops_at_root = False  # the text behind a value is none of ours
        self.has_ended = False  # then: a value has ended in the last fragment, and this came after it
        self.unused = ""
        self.pieces: list[tuple[str, str]] | None = None  # what was passed on, for those who set a list

    # ---- The stage as its users see it ------------------------------------------------------------------

    def feed(self, text: str, sink: Sink) -> None:
        """Read one fragment."""
        reader = self._reader
        self.has_ended = False
        if reader.is_over:
            self._forget()
            return
        if self._level == NOTHING or self._refused:
            if self.pieces is not None:
                self.pieces.append((text, text))
            reader.feed(text, sink)
            return
        if self._held:
            text = self._held + text
            self._held = ""
        end: i64 = len(text)
        room = reader.dialect.max_chars - reader.offset
        if end <= room:
            self._run(text, end, False, sink)
            return
        self._run(text, room, False, sink)
        if self.has_ended:
            return
        if not reader.is_over:
            reader.skip(text[self._at :], sink)
            self._forget()

    def finish(self, sink: Sink) -> None:
        """The text has ended. Close what is open, if the options say so."""
        self.pause(sink)
        reader = self._reader
        mode = reader.mode
        if mode == FAILED or mode == IGNORE or mode == END or mode == BETWEEN or mode == LINE_END or mode == SKIP_LINE:
            return
        if reader._frame is None and (is_whole_number(mode) or mode == LITERAL_END):
            return
        is_whole = mode == AFTER_ITEM or mode == AFTER_MEMBER or mode == LITERAL_END
        if is_whole and self._level == GUESS and not self._refused:
            self._close_all(RepairCode.MISSING_CLOSE)
        elif reader.dialect.closes_truncated and (reader._frame is not None or mode >= STRING):
            self._close_all(RepairCode.TRUNCATED)
        self._forget()

    def end_line(self, sink: Sink) -> None:
        """The line has ended, and with it the document: the next one begins without a past."""
        self.finish(sink)
        self._comment = NO_COMMENT
        self._style = NO_QUOTE
        self._bare_key = self._broke = self._after_string = self._dots = self._has_comma = self._controls = False

    def pause(self, sink: Sink) -> None:
        """Pass on what is held: the text goes on elsewhere, or nowhere."""
        held = self._held
        self._held = ""
        self._run(held, len(held), True, sink)

    def give_up(self, sink: Sink) -> None:
        """The text goes on with bytes that are not characters: the reader gets what is held as it is."""
        held = self._held
        self._held = ""
        self._refused = True
        self._run(held, len(held), True, sink)

    def fork(self, reader: Reader) -> Repairer:
        """Return a repairer that goes on from here on its own, before a fork of the reader."""
        other = Repairer(reader)
        other._held = self._held
        other._refused = self._refused
        other._style = self._style
        other._inner = self._inner
        other._brackets = self._brackets
        other._controls = self._controls
        other._comment = self._comment
        other._bare_key = self._bare_key
        other._broke = self._broke
        other._after_string = self._after_string
        other._dots = self._dots
        other._has_comma = self._has_comma
        other._comma = self._comma
        other._comma_line = self._comma_line
        other._comma_column = self._comma_column
        other._closed = self._closed
        other._log = self._log
        other._logged = self._logged
        other._last = self._last
        other.stops_at_root = self.stops_at_root
        return other

    @property
    def is_waiting(self) -> bool:
        """Some text is held back."""
        return len(self._held) > 0

    @property
    def repairs(self) -> list[Repair]:
        """The repairs so far, in the order in which they were made: a comma is one too many when the bracket comes."""
        repairs = self._log[: self._logged]
        if self._last is not None:
            repairs.append(self._last)
        return repairs

    # ---- The log ----------------------------------------------------------------------------------------

    def _record(self, code: RepairCode, length: int) -> bool:
        """Log a repair at the place where the reader is. Return False if it is one too many, or the reading is over."""
        reader = self._reader
        path = self._container()
        if reader.is_in_value:
            path = Path(path, reader._step()) if reader._frame is not None else ROOT
        return self._record_at(code, Position(reader.offset, reader.line, reader.column), length, path)

    def _container(self) -> Path:
        """Return the path of the innermost container: it is made from the last one if that is close."""
        frame = self._reader._frame
        if frame is None:
            return ROOT
        known = self._frame
        if frame is not known:
            path: Path | None = self._path
            if known is not None and frame.parent is known:
                path = Path(self._path, frame.step)
            else:
                levels = 0
                while known is not None and known is not frame and path is not None:
                    levels += 1
                    known = known.parent if levels < 4 else None
                    path = path.parent
            self._path = path if known is not None and path is not None else self._reader.container_path
            self._frame = frame
        return self._path

    def _record_at(self, code: RepairCode, position: Position, length: int, path: Path) -> bool:
        reader = self._reader
        if reader.is_over:
            return False
        last = self._last
        count = self._logged if last is None else self._logged + 1
        if count >= self._reader.dialect.max_repairs:
            reader.fail(Code.MAX_REPAIRS, self._sink)
            return False
        if last is not None:
            self._log = appended(self._log, self._logged, last)
            self._logged += 1
        self._last = Repair(code, position, length, path)
        self._controls = False
        return True

    def _extend(self, offset: i64) -> None:
        """The last repair reaches up to this offset. It never gets shorter: a limit may stop the reader inside it."""
        last = self._last
        if last is not None:
            start: i64 = last.position.offset
            if offset > start + last.length:
                self._last = Repair(last.code, last.position, offset - start, last.path)

    # ---- Passing on -------------------------------------------------------------------------------------

    def _pass(self, start: i64, stop: i64) -> None:
        """Pass on text as it is."""
        text = self._text
        reader = self._reader
        sink = self._sink
        if start < stop:
            piece = text[start:stop]
            if self.pieces is not None:
                self.pieces.append((piece, piece))
            reader.feed(piece, sink)

    def _put(self, source: str, target: str) -> None:
        """Pass on another text instead of the source."""
        reader = self._reader
        sink = self._sink
        if reader.is_over:
            return
        if self.pieces is not None:
            self.pieces.append((source, target))
        reader.feed_as(source, target, sink)

    def _drop(self, source: str) -> None:
        """Leave something out between two tokens. It ends a number, or the next digit would belong to that."""
        self._put(source, " " if is_atom(self._reader.mode) else "")

    def _close_all(self, code: RepairCode) -> None:
        """Close all that is open: the text is over."""
        reader = self._reader
        if self._record(code, 0):
            if self.pieces is not None:
                self.pieces.append(("", closing(reader)))
            reader.close_all(self._sink)

    def _hold(self, start: i64, at: i64) -> i64:
        """Pass on what comes before `at`, and wait for more text there."""
        self._pass(start, at)
        self._at = at
        return UNDECIDED

    def _refuse(self, start: i64) -> i64:
        """No rule knows this text: the reader gets it as it is, and all that comes."""
        end = self._end
        self._refused = True
        self._pass(start, end)
        return end

    def _beyond(self, limit: i64, otherwise: i64) -> i64:
        """Return the answer where the text that may be seen is over: more may come, or JSON's reading wins."""
        return UNDECIDED if limit == self._end and not self._is_last else otherwise

    # ---- The machine ------------------------------------------------------------------------------------

    def _run(self, text: str, end: i64, is_last: bool, sink: Sink) -> None:
        """Pass on what is decided of ``text[:end]``, and hold the rest."""
        self._text = text
        self._end = end
        self._is_last = is_last
        self._sink = sink
        reader = self._reader
        i: i64 = 0
        while i < end:
            mode = reader.mode
            if mode == FAILED or mode == IGNORE:
                i = end
                break
            after: i64
            was_open = reader._frame is not None
            if self._refused or mode == SKIP_LINE:
                self._pass(i, end)
                after = end
            elif self._comment != NO_COMMENT:
                after = self._in_comment(i)
            elif mode == STRING:
                style = self._style
                if style == BARE:
                    after = self._in_bare(i)
                elif style == TRIPLE_DOUBLE or style == TRIPLE_SINGLE:
                    after = self._in_triple(i)
                else:
                    after = self._in_string(i)
            elif mode == KEY_STRING:
                after = self._in_key(i)
            else:
                after = self._between(i)
            if after == UNDECIDED:
                i = self._at
                if not self._is_last:
                    self._held = text[i:end]
                    break
                after = self._refuse(i)
            i = after
            if self.stops_at_root and was_open and reader._frame is None and reader.mode != FAILED:
                self.has_ended = True
                self.unused = text[i:]
                break
        self._at = i
        self._text = ""
        if reader.is_over:
            self._forget()

    def _forget(self) -> None:
        """The reader reads nothing any more: only the log counts."""
        self._held = ""
        self._refused = False
        self._comment = NO_COMMENT
        self._bare_key = False
        self._after_string = False
        self._inner = False
        self._controls = False
        self._brackets = 0
        self._closed = 0
        self._end_token()

    def _between(self, i: i64) -> i64:
        """Read white space and the beginning of the next token."""
        text = self._text
        end = self._end
        is_last = self._is_last
        reader = self._reader
        at = space_run(text, i, end)
        if at > i:
            if (at > i + 1 or text[i] != " ") and has_line_break(text, i, at):
                self._broke = True
            if at == end or is_atom(reader.mode):
                if is_atom(reader.mode) and reader._after == IGNORE:
                    at = i + 1  # the text ends here
                self._pass(i, at)
                return at
        mode = reader.mode
        if mode >= NUMBER and at == i:  # a number that was too long to look at it as a whole
            stop, _ = number_run(text, i, end, mode)
            if stop > i:
                self._pass(i, stop)
                return stop
        if is_atom(mode):
            mode = reader._after
            if mode == IGNORE:
                self._pass(i, at + 1)
                return at + 1
        character = text[at]
        c: i64 = ord(character)
        if is_odd_space(c):
            self._pass(i, at)
            last = self._last
            if last is not None and last.code is RepairCode.ODD_SPACE and self._ends_at(last, reader.offset):
                self._put(character, " ")
                self._extend(reader.offset)
            elif self._record(RepairCode.ODD_SPACE, 1):
                self._put(character, " ")
            return at + 1
        c = narrow(c)
        if c == 0x2F or c == 0x23:  # / #
            if c == 0x23 and self._closed > 0 and reader.offset + at - i == self._closed:  # #
                return self._refuse(i)
            is_color = c == 0x23 and mode == VALUE and reader._frame is not None
            answer = is_comment(text, at, end, YES if is_last else UNDECIDED)
            if is_color:
                answer = UNDECIDED if at + 1 == end and not self._is_last else YES
                if at + 1 < end and space_run(text, at + 1, at + 2) == at + 1:
                    answer = NO
            if answer == UNDECIDED:
                return self._hold(i, at)
            if answer == YES:
                self._pass(i, at)
                if self._record(RepairCode.COMMENT, 1 if c == 0x23 else 2):  # #
                    self._comment = BLOCK_COMMENT if text[at : at + 2] == "/*" else LINE_COMMENT
                    if self._comment == BLOCK_COMMENT:
                        self._drop(text[at : at + 2])
                        return at + 2
                return at
        if (c == 0x2E or character == "…") and mode != VALUE and mode != COLON:  # .
            after = self._ellipsis(i, at, mode)
            if after != NO:
                return after
        if mode == KEY_OR_CLOSE or mode == KEY:
            return self._key(i, at, c)
        if mode == COLON:
            return self._colon(i, at, c)
        if mode == AFTER_MEMBER or mode == AFTER_ITEM:
            return self._after(i, at, c, mode)
        is_behind_root = mode == BETWEEN and reader._count > 0 and not reader.dialect.lines  # lines begin there
        if mode == END or mode == LINE_END or is_behind_root:
            if c == 0x2C or c == 0x3B:  # , ;
                self._pass(i, at)
                if self._record(RepairCode.EXTRA_COMMA, 1):
                    self._drop(character)
                return at + 1
            if (c == 0x7D or c == 0x5D) and self._level == GUESS:  # } ]
                self._pass(i, at)
                if self._record(RepairCode.EXTRA_CLOSE, 1):
                    self._drop(character)
                return at + 1
        if mode == END or mode == LINE_END or (mode == BETWEEN and is_atom(reader.mode)):
            return self._refuse(i)
        if mode == LITERAL:
            self._pass(i, at + 1)
            return at + 1
        return self._value(i, at, c, mode)

    def _ends_at(self, repair: Repair, offset: i64) -> bool:
        start: i64 = repair.position.offset
        return start + repair.length == offset

    def _mark(self, i: i64, at: i64, target: str) -> i64:
        """Pass on one character of punctuation, which may be the wide form of it."""
        text = self._text
        self._end_token()
        if text[at] == target:
            self._pass(i, at + 1)
        else:
            self._pass(i, at)
            if self._record(RepairCode.ODD_PUNCTUATION, 1):
                self._put(text[at], target)
        return at + 1

    def _take_comma(self, i: i64, at: i64) -> i64:
        """Pass on a comma."""
        after = self._mark(i, at, ",")
        self._came_comma()
        return after

    def _came_comma(self) -> None:
        """Remember the place of the comma that the reader has read last: it may be one too many."""
        reader = self._reader
        self._has_comma = True
        self._comma = reader.offset - 1
        self._comma_line = reader.line
        self._comma_column = reader.column - 1

    def _close(self, i: i64, at: i64, target: str) -> i64:
        """Pass on the closing bracket that is expected."""
        if self._has_comma and not self._reader.dialect.options.trailing_commas:
            position = Position(self._comma, self._comma_line, self._comma_column)
            self._pass(i, at)
            i = at
            if not self._record_at(RepairCode.TRAILING_COMMA, position, 1, self._container()):
                return at
        self._after_string = False
        return self._mark(i, at, target)

    def _insert(self, code: RepairCode, target: str) -> None:
        """Put something in that is missing."""
        if self._record(code, 0):
            self._put("", target)

    def _ellipsis(self, i: i64, at: i64, mode: i64) -> i64:
        text = self._text
        end = self._end
        is_last = self._is_last
        reader = self._reader
        out: i64 = YES if is_last else UNDECIDED
        answer = dots_at(text, at, end, out)
        if answer == NO or self._level != GUESS or reader._frame is None:
            return NO
        if answer == UNDECIDED:
            return self._hold(i, at)
        stop = at + 1 if text[at] == "…" else at + 3
        limit = min(end, at + FARTHEST)
        after = space_run(text, stop, limit)
        if after == end and not self._is_last:
            return self._hold(i, at)
        if after < limit and not has_line_break(text, stop, after):
            c = narrow(ord(text[after]))
            if c != 0x2C and c != 0x5D and c != 0x7D:  # , ] }
                answer = is_comment(text, after, limit, out)
                if answer == NO:
                    return NO
                if answer == UNDECIDED:
                    return self._hold(i, at)
        self._pass(i, at)
        if self._record(RepairCode.ELLIPSIS, stop - at):
            self._drop(text[at:stop])
            self._dots = mode == VALUE_OR_CLOSE or mode == KEY_OR_CLOSE
        return stop

    # ---- Comments ---------------------------------------------------------------------------------------

    def _in_comment(self, i: i64) -> i64:
        text = self._text
        end = self._end
        reader = self._reader
        stop: i64
        if self._comment == LINE_COMMENT:
            stop = text.find("\n", i, end)
            if stop < 0:
                stop = end
            else:
                self._comment = NO_COMMENT
        else:
            stop = text.find("*/", i, end)
            if stop >= 0:
                stop += 2
                self._comment = NO_COMMENT
            else:
                stop = end
                if not self._is_last and text[end - 1] == "*":
                    stop = end - 1
        if has_line_break(text, i, stop):
            self._broke = True
        if stop > i:
            self._drop(text[i:stop])
            self._extend(reader.offset)
        if stop < end and self._comment == BLOCK_COMMENT:
            self._at = stop
            return UNDECIDED
        return stop

    # ---- Keys -------------------------------------------------------------------------------------------

    def _key(self, i: i64, at: i64, c: i64) -> i64:
        """The next token should be a key, or the end of the object."""
        text = self._text
        reader = self._reader
        kind = quote_kind(c)
        if kind != NO_QUOTE:
            self._bare_key = False
            return self._open_quote(i, at, kind, True)
        if c == 0x7D:  # }
            return self._close(i, at, "}")
        if c == 0x2C:  # ,
            self._pass(i, at)
            if self._dots or self._record(RepairCode.EXTRA_COMMA, 1):
                self._drop(text[at])
            self._dots = False
            return at + 1
        frame = reader._frame
        if self._level == GUESS and frame is not None:
            outer = frame.parent
            if c == 0x7B and self._has_comma and outer is not None and not outer.is_object:  # {
                self._pass(i, at)
                if self._record(RepairCode.MISSING_CLOSE, 0):
                    self._put("", "},")
                    self._has_comma = False
                return at
            if c == 0x5D:  # ]
                return self._wrong_bracket(i, at, c)
        if is_word(text[at]) or c == 0x2D:  # -
            return self._bare_key_at(i, at)
        return self._refuse(i)

    def _bare_key_at(self, i: i64, at: i64) -> i64:
        text = self._text
        end = self._end
        stop = at
        limit = min(end, at + LONGEST_KEY)
        while stop < limit and (is_word(text[stop]) or text[stop] in "-. \t/"):
            stop += 1
        if stop == limit:
            if limit == end and stop - at < LONGEST_KEY and not self._is_last:
                return self._hold(i, at)
            return self._refuse(i)
        word = text[at:stop].rstrip(" \t")
        size: i64 = len(word)
        c = narrow(ord(text[stop]))
        if c == 0x22 and self._level == GUESS and size == stop - at:  # " as in  key": 1
            after = blank_run(text, stop + 1, min(end, stop + FARTHEST))
            if after == end and not self._is_last:
                return self._hold(i, at)
            if after < end and is_colon(narrow(ord(text[after]))):
                self._pass(i, at)
                self._insert(RepairCode.MISSING_QUOTE, '"')
                self._pass(at, stop + 1)
                self._bare_key = False
                self._end_token()
                return stop + 1
        if not is_colon(c):
            return self._refuse(i)
        self._pass(i, at)
        if self._record(RepairCode.UNQUOTED_KEY, size):
            self._put("", '"')
            self._pass(at, at + size)
            self._put("", '"')
            self._bare_key = True
            self._end_token()
        return at + size

    def _end_token(self) -> None:
        self._style = NO_QUOTE
        self._has_comma = False
        self._comma = 0
        self._comma_line = 0
        self._comma_column = 0
        self._dots = False
        self._broke = False

    def _open_quote(self, i: i64, at: i64, kind: i64, is_key: bool) -> i64:
        """A quote opens a string or a key. Text that can only be text goes along with it."""
        text = self._text
        stop = at + 1
        if kind == DOUBLE:
            stop = mark_run(text, stop, self._end)
            if is_key and text.find(":", at, stop) >= 0:
                stop = at + 1
            self._pass(i, stop)
        else:
            self._pass(i, at)
            if self._record(CODE_OF_STYLE[kind], 1):
                self._put(text[at], '"')
        self._end_token()
        self._style = kind
        self._inner = False
        self._brackets = 0
        self._controls = False
        return stop

    def _end_quote(self, i: i64, at: i64) -> i64:
        """The quote at `at` ends a string or a key. A colon or a comma right after it goes along with it."""
        text = self._text
        after = text[at + 1] if at + 1 < self._end else ""
        is_key = self._reader.mode == KEY_STRING
        self._after_string = not is_key
        self._closed = self._reader.offset + at + 1 - i
        self._end_token()
        if text[at] != '"':
            self._pass(i, at)
            self._put(text[at], '"')
            return at + 1
        if after == ":" and is_key:
            self._pass(i, at + 2)
            return at + 2
        if after == "," and not is_key and self._reader._frame is not None:
            self._pass(i, at + 2)
            self._came_comma()
            return at + 2
        self._pass(i, at + 1)
        return at + 1

    def _in_key(self, i: i64) -> i64:
        """Read the text of a key, up to a quote that ends it."""
        text = self._text
        end = self._end
        style = self._style
        at = i
        while at < end:
            c: i64 = ord(text[at])
            if c == 0x5C:  # \
                return self._escape(i, at)
            if c < 0x20:
                return self._control(i, at)
            if closes(style, c):
                answer: i64 = YES
                if self._level == GUESS:
                    limit = min(end, at + FARTHEST)
                    out: i64 = self._beyond(limit, YES)
                    answer = key_ends(text, at + 1, limit, out, style)
                if answer == UNDECIDED:
                    return self._hold(i, at)
                if answer == YES:
                    return self._end_quote(i, at)
                return self._inner_quote(i, at)
            if c == 0x22:  # "
                self._pass(i, at)
                self._put('"', '\\"')
                return at + 1
            if c == 0x3A and self._level == GUESS:  # :
                limit = min(end, at + FARTHEST)
                out = self._beyond(limit, NO)
                rest = text[at:end].rstrip(" \t\r\n")
                if self._is_last and limit == end and rest.endswith("}"):
                    out = YES  # no other quote will come, and the object is closed
                answer = key_was_not_closed(text, at + 1, limit, out, style)
                if answer == UNDECIDED:
                    return self._hold(i, at)
                if answer == YES:
                    self._pass(i, at)
                    self._insert(RepairCode.MISSING_QUOTE, '"')
                    self._end_token()
                    return at
            at += 1
        self._pass(i, end)
        return end

    def _colon(self, i: i64, at: i64, c: i64) -> i64:
        """The next token should be a colon."""
        text = self._text
        end = self._end
        if c == 0x3A:  # :
            return self._mark(i, at, ":")
        if c == 0x3D:  # =
            if at + 1 == end and not self._is_last:
                return self._hold(i, at)
            size = 2 if text[at + 1 : at + 2] == ">" else 1
            self._pass(i, at)
            if self._record(RepairCode.COLON_SPELLING, size):
                self._put(text[at : at + size], ":")
            return at + size
        is_value = c == 0x7B or c == 0x5B or c == 0x2D or quote_kind(c) != NO_QUOTE or is_word(text[at])  # { [ -
        if is_value and self._level == GUESS:
            self._pass(i, at)
            self._insert(RepairCode.MISSING_COLON, ":")
            return at
        return self._refuse(i)

    # ---- After a value ----------------------------------------------------------------------------------

    def _after(self, i: i64, at: i64, c: i64, mode: i64) -> i64:
        """The next token should be a comma, or the end of the container."""
        text = self._text
        end = self._end
        in_object = mode == AFTER_MEMBER
        if c == 0x2C:  # ,
            return self._take_comma(i, at)
        if c == 0x7D and in_object:  # }
            return self._close(i, at, "}")
        if c == 0x5D and not in_object:  # ]
            return self._close(i, at, "]")
        if self._level != GUESS:
            return self._refuse(i)
        if c == 0x7D or c == 0x5D:  # } ]
            return self._wrong_bracket(i, at, c)
        is_quote = quote_kind(c) != NO_QUOTE
        is_open = (c == 0x7B or c == 0x5B) and not in_object  # { [
        is_apart = self._broke or (self._after_string and not in_object)
        is_value = is_apart and (is_word(text[at]) or c == 0x2D)  # -
        if is_quote or is_open or is_value:
            if in_object:
                limit = min(end, at + FARTHEST)
                out: i64 = self._beyond(limit, YES)
                answer = member_follows(text, at, limit, out, True, False)
                if answer == UNDECIDED:
                    return self._hold(i, at)
                if answer == NO:
                    return self._refuse(i)
            self._pass(i, at)
            self._insert(RepairCode.MISSING_COMMA, ",")
            self._broke = False
            return at
        return self._refuse(i)

    def _wrong_bracket(self, i: i64, at: i64, c: i64) -> i64:
        """A closing bracket of the other kind: the right one is missing, or this one is wrong, or one too many."""
        text = self._text
        end = self._end
        is_last = self._is_last
        reader = self._reader
        frame = reader._frame
        assert frame is not None
        limit = min(end, at + FARTHEST)
        out: i64 = self._beyond(limit, NO)
        outer = frame.parent if frame.is_mixed else None
        levels = 0
        while outer is not None and outer.is_object != (c == 0x7D):  # }
            levels += 1
            outer = outer.parent if levels < FARTHEST else None
        missing: i64 = NO
        if outer is not None:
            missing = fits(outer.parent, text, at + 1, limit, out, is_last)
            if missing == UNDECIDED:
                return self._hold(i, at)
        wrong: i64 = NO
        extra: i64 = NO
        if missing == NO:
            wrong = fits(frame.parent, text, at + 1, limit, out, is_last)
            extra = fits(frame, text, at + 1, limit, out, is_last)
            if wrong == UNDECIDED or (wrong == NO and extra == UNDECIDED):
                return self._hold(i, at)
        self._pass(i, at)
        if missing == YES or (wrong == NO and extra == NO and outer is not None):
            if self._record(RepairCode.MISSING_CLOSE, 0):
                while frame is not outer and frame is not None:
                    self._put("", "}" if frame.is_object else "]")
                    frame = frame.parent
            self._has_comma = False
            return at
        if wrong == YES or extra == NO:
            if self._record(RepairCode.WRONG_CLOSE, 1):
                self._put(text[at], "}" if frame.is_object else "]")
                self._end_token()
                self._after_string = False
            return at + 1
        if self._record(RepairCode.EXTRA_CLOSE, 1):
            self._drop(text[at])
        return at + 1

    # ---- Values -----------------------------------------------------------------------------------------

    def _value(self, i: i64, at: i64, c: i64, mode: i64) -> i64:
        """The next token should be a value; in an array also its end."""
        text = self._text
        end = self._end
        reader = self._reader
        frame = reader._frame
        kind = quote_kind(c)
        if kind != NO_QUOTE:
            if frame is None and (kind == ODD_DOUBLE or kind == ODD_SINGLE):
                return self._refuse(i)
            if self._level == GUESS and frame is not None and not frame.is_object:
                outer = frame.parent
                if outer is not None and outer.is_object and self._has_comma:
                    # A comma and then a key: the array was not closed.
                    limit = min(end, at + LONGEST_KEY)
                    answer = member_key_at(text, at, limit, self._beyond(limit, NO), self._after_string)
                    if answer == UNDECIDED:
                        return self._hold(i, at)
                    if answer == YES:
                        self._pass(i, at)
                        if self._record(RepairCode.MISSING_CLOSE, 0):
                            self._put("", "],")
                            self._has_comma = False
                        return at
            return self._open_quote(i, at, kind, False)
        if c == 0x7B or c == 0x5B:  # { [
            return self._mark(i, at, "{" if c == 0x7B else "[")
        if frame is not None:
            if c == 0x5D and mode == VALUE_OR_CLOSE:  # ]
                return self._close(i, at, "]")
            if c == 0x2C and self._dots:  # ,
                self._pass(i, at)
                self._drop(text[at])
                self._dots = False
                return at + 1
            if self._level == GUESS:
                if c == 0x7D and not frame.is_object:  # }
                    return self._wrong_bracket(i, at, c)
                if c == 0x2C and not frame.is_object:  # ,
                    outer = frame.parent
                    if outer is not None and outer.is_object:
                        limit = min(end, at + FARTHEST)
                        answer = array_was_not_closed(text, at + 1, limit, self._beyond(limit, NO))
                        if answer == UNDECIDED:
                            return self._hold(i, at)
                        if answer == YES:
                            self._pass(i, at)
                            self._insert(RepairCode.MISSING_CLOSE, "]")
                            return at
                if c == 0x2C or c == 0x7D or c == 0x5D:  # , } ]
                    self._pass(i, at)
                    self._insert(RepairCode.MISSING_VALUE, "null")
                    self._has_comma = False
                    return at
        stop: i64
        if frame is not None and 0x30 <= c <= 0x39:  # 0 to 9
            # By far the most common atom: a number right before a comma or a bracket.
            stop, number_mode = number_run(text, at, min(end, at + FARTHEST), NUMBER)
            if stop < end and is_whole_number(number_mode):
                character = text[stop]
                if character == ",":
                    self._after_string = False
                    self._end_token()
                    self._pass(i, stop + 1)
                    self._came_comma()
                    return stop + 1
                if character == "]" or character == "}":
                    return self._take(i, at, stop, JSON_ATOM)
        stop = atom_run(text, at, min(end, at + FARTHEST))
        if stop == at or c == 0x28 or c == 0x3D or c == 0x29:  # ( = )
            if c != 0x23 and c != 0x2F:  # # /
                return self._refuse(i)
            return self._open_bare(i, at)
        return self._atom(i, at, stop)

    def _atom(self, i: i64, at: i64, stop: i64) -> i64:
        """Read a number or a word, up to what follows it."""
        text = self._text
        end = self._end
        reader = self._reader
        atom = text[at:stop]
        kind = atom_kind(atom)
        if stop - at == FARTHEST:
            return self._open_bare(i, at) if kind == OTHER else self._take(i, at, stop, kind)
        frame = reader._frame
        if frame is None:
            if stop == end and not self._is_last and may_become_known(atom):
                return self._hold(i, at)
            if kind == OTHER:
                return self._refuse(i)
            return self._take(i, at, stop, kind)
        if stop == end:
            if not self._is_last:
                if may_become_known(atom):
                    return self._hold(i, at)
                return self._open_bare(i, at)
            return self._last_atom(i, at, stop, kind)
        if kind == OTHER:
            return self._open_bare(i, at)
        limit = min(end, at + FARTHEST)
        after = blank_run(text, stop, limit)
        if has_line_break(text, stop, after):
            return self._take(i, at, stop, kind)
        if after == limit:
            if limit == end and not self._is_last:
                return self._hold(i, at)
            return self._take(i, at, stop, kind)
        c = narrow(ord(text[after]))
        if c == 0x2C or c == 0x7D or c == 0x5D:  # , } ]
            return self._take(i, at, stop, kind)
        answer = is_comment(text, after, limit, self._beyond(limit, YES))
        if answer == UNDECIDED:
            return self._hold(i, at)
        is_apart = after > stop
        if answer == YES or (is_apart and (quote_kind(c) != NO_QUOTE or c == 0x7B or c == 0x5B)):  # { [
            return self._take(i, at, stop, kind)
        if self._level != GUESS:
            return self._take(i, at, stop, kind)
        if frame.is_object and quote_kind(c) != NO_QUOTE:
            answer = word_key_follows(text, after, limit, self._beyond(limit, NO))
            if answer == UNDECIDED:
                return self._hold(i, at)
            if answer == YES:
                return self._take(i, at, stop, kind)
        if is_apart and 0x30 <= c <= 0x39 and kind != SPELLED_LITERAL:  # 0 to 9
            return self._refuse(i)
        return self._open_bare(i, at)

    def _last_atom(self, i: i64, at: i64, stop: i64, kind: i64) -> i64:
        """The text ended with an atom in a container: a number or a word may have been cut."""
        text = self._text
        atom = text[at:stop]
        if kind == SPELLED_LITERAL or (kind == JSON_ATOM and atom in LITERALS) or (kind == NOT_NUMBER):
            return self._take(i, at, stop, kind)
        self._pass(i, at)
        for word, literal in LITERALS.items():
            if word.startswith(atom):
                if self._level == GUESS and word == literal and len(atom) + 1 == len(word):
                    # Only its last letter is missing.
                    self._put(atom, atom)
                    self._insert(RepairCode.TRUNCATED, word[-1])
                    return stop
                self._put(atom, literal[: len(atom)] if len(atom) < len(literal) else literal)
                return stop
        if kind == OTHER and not may_become_known(atom):
            return self._open_bare(at, at)
        self._refused = True
        self._pass(at, stop)
        return stop

    def _take(self, i: i64, at: i64, stop: i64, kind: i64) -> i64:
        """Pass on a number or a literal in its JSON spelling."""
        text = self._text
        self._after_string = False
        if kind == JSON_ATOM or (kind == NOT_NUMBER and self._level != GUESS):
            self._end_token()
            self._pass(i, stop)
            return stop
        self._pass(i, at)
        atom = text[at:stop]
        code = RepairCode.NUMBER_SPELLING
        if kind == SPELLED_LITERAL:
            code = RepairCode.LITERAL_SPELLING
            target = LITERALS[atom]
        elif kind == NOT_NUMBER:
            code = RepairCode.NOT_A_NUMBER
            target = "null"
        else:
            target = json_number(atom)
        if self._record(code, stop - at):
            self._put(atom, target)
            self._end_token()
        return stop

    # ---- Strings ----------------------------------------------------------------------------------------

    def _in_string(self, i: i64) -> i64:
        """Read the text of a string between quotes."""
        text = self._text
        end = self._end
        style = self._style
        run = i
        while True:
            run = mark_run(text, run, end)
            if run == end:
                self._pass(i, end)
                return end
            c: i64 = ord(text[run])
            if c == 0x7B or c == 0x5B:  # { [
                self._brackets += 1
            elif c == 0x7D or c == 0x5D:  # } ]
                if self._brackets > 0:
                    self._brackets -= 1
            elif c == 0x5C:  # \
                return self._escape(i, run)
            elif c < 0x20:
                return self._control(i, run)
            elif closes(style, c):
                return self._candidate(i, run)
            elif c == 0x22:  # "
                self._pass(i, run)
                self._put('"', '\\"')
                return run + 1
            elif (c == 0x2C or c == 0x201D or c == 0x201C) and self._level == GUESS:  # , and curly quotes
                answer = self._is_quote_missing(run, c)
                if answer == UNDECIDED:
                    return self._hold(i, run)
                if answer == YES:
                    self._pass(i, run)
                    if self._record(RepairCode.MISSING_QUOTE, 0 if c == 0x2C else 1):  # ,
                        self._put("" if c == 0x2C else text[run], '"')  # ,
                        self._end_token()
                        self._after_string = True
                    return run if c == 0x2C else run + 1  # ,
            run += 1

    def _is_quote_missing(self, at: i64, c: i64) -> i64:
        """Tell whether the string ended at this comma, or at a curly quote that should have been a straight one."""
        text = self._text
        end = self._end
        reader = self._reader
        frame = reader._frame
        if frame is None or self._brackets > 0:
            return NO
        limit = min(end, at + FARTHEST)
        out: i64 = self._beyond(limit, NO)
        if c == 0x2C:  # ,
            return quote_is_missing(text, at, limit, out, self._style, frame.is_object, not frame.is_object)
        if self._style != DOUBLE:
            return NO
        after = blank_run(text, at + 1, limit)
        if after == limit:
            return out
        c = ord(text[after])
        if c == 0x2C:  # ,
            return quote_is_missing(text, after, limit, out, self._style, frame.is_object, False)
        if c != 0x7D and c != 0x5D:  # } ]
            return NO
        if has_line_break(text, at + 1, after):
            return YES
        while c == 0x7D or c == 0x5D:  # } ]
            after = blank_run(text, after + 1, limit)
            if after == limit:
                return YES if self._is_last else out
            c = ord(text[after])
        return quote_is_missing(text, after, limit, out, self._style, True, False) if c == 0x2C else NO  # ,

    def _candidate(self, i: i64, at: i64) -> i64:
        """A quote that may end the string."""
        text = self._text
        end = self._end
        is_last = self._is_last
        reader = self._reader
        style = self._style
        if reader._length == 0 and at == i and not self._inner and (style == DOUBLE or style == SINGLE):
            # The second quote: a third one makes triple quotes, if JSON cannot have another string there.
            dialect = reader.dialect
            is_value = style == DOUBLE and reader._frame is None and dialect.multiple and not dialect.lines
            if at + 1 == end and not self._is_last and not is_value:
                return self._hold(i, at)
            if text[at + 1 : at + 2] == text[at] and not is_value:
                return self._open_triple(at)
        frame = reader._frame
        answer: i64 = YES
        if self._level == GUESS and frame is not None:
            outer = frame.parent
            limit = min(end, at + FARTHEST)
            answer = string_ends(
                text,
                at + 1,
                limit,
                self._beyond(limit, YES),
                frame.is_object,
                outer is not None and not outer.is_object,
                self._inner,
                self._brackets,
                self._bare_key or style != DOUBLE,
                is_last,
            )
        if answer == UNDECIDED:
            return self._hold(i, at)
        if answer == NO:
            return self._inner_quote(i, at)
        if answer == JOINS and not reader._carry:
            plus = blank_run(text, at + 1, end)
            after = blank_run(text, plus + 1, end) + 1
            self._pass(i, at)
            if self._record(RepairCode.CONCATENATION, after - at):
                self._put(text[at:after], "")
                self._style = quote_kind(ord(text[after - 1]))
            return after
        return self._end_quote(i, at)

    def _inner_quote(self, i: i64, at: i64) -> i64:
        """A quote that is part of the text."""
        text = self._text
        self._pass(i, at)
        if self._record(RepairCode.UNESCAPED_QUOTE, 1):
            if text[at] == '"':
                self._put('"', '\\"')
            else:
                self._pass(at, at + 1)
            self._inner = True
        return at + 1

    def _open_triple(self, at: i64) -> i64:
        """The second and the third quote come at `at`; the first one opened the string."""
        text = self._text
        reader = self._reader
        first: i64 = reader.offset - 1
        position = Position(first, reader.line, reader.column - 1)
        if self._style == SINGLE:
            self._last = Repair(RepairCode.TRIPLE_QUOTES, position, 3, reader.path)  # it was logged as a single one
        elif not self._record_at(RepairCode.TRIPLE_QUOTES, position, 3, reader.path):
            return at
        self._put(text[at : at + 2], "")
        self._style = TRIPLE_DOUBLE if self._style == DOUBLE else TRIPLE_SINGLE
        return at + 2

    def _in_triple(self, i: i64) -> i64:
        """Read the text of a string between triple quotes. The last three of a run of quotes end it."""
        text = self._text
        end = self._end
        quote = "'" if self._style == TRIPLE_SINGLE else '"'
        at = i
        while at < end:
            character = text[at]
            if character == "\\":
                return self._escape(i, at)
            if character < " ":
                return self._control(i, at)
            if character == quote:
                limit = min(end, at + FARTHEST)
                stop = at
                while stop < limit and text[stop] == quote:
                    stop += 1
                is_long = stop == at + FARTHEST  # the run may go on: its last three are not known yet
                if stop == end and not self._is_last and not is_long:
                    return self._hold(i, at)
                self._pass(i, at)
                if is_long:
                    stop -= 3
                while (is_long or stop - at != 3) and at < stop:
                    if quote == '"':
                        self._put('"', '\\"')
                    else:
                        self._pass(at, at + 1)
                    at += 1
                if at < stop:
                    self._put(text[at:stop], '"')
                    self._end_token()
                    self._after_string = True
                    self._closed = self._reader.offset
                return stop
            if character == '"':
                self._pass(i, at)
                self._put('"', '\\"')
                return at + 1
            at += 1
        self._pass(i, end)
        return end

    def _control(self, i: i64, at: i64) -> i64:
        """A raw control character in a string."""
        text = self._text
        reader = self._reader
        self._pass(i, at)
        if reader.is_over:
            return at
        if not self._controls:
            if not self._record(RepairCode.CONTROL_CHARACTER, 1):
                return at
            self._controls = True
        self._put(text[at], f"\\u{ord(text[at]):04x}")
        self._extend(reader.offset)
        return at + 1

    def _escape(self, i: i64, at: i64) -> i64:
        """A backslash in a string: an escape, or only a backslash."""
        text = self._text
        end = self._end
        if at + 1 == end:
            return self._half_escape(i, at)
        c: i64 = ord(text[at + 1])
        if c == 0x22 or c == 0x5C or c == 0x2F or c == 0x6E or c == 0x72 or c == 0x74:  # " \ / n r t
            self._pass(i, at + 2)
            return at + 2
        if c == 0x62 or c == 0x66:  # b f
            if not self._reader.dialect.options.latex:
                self._pass(i, at + 2)
                return at + 2
            if at + 2 == end and not self._is_last:
                return self._hold(i, at)
            if not text[at + 2 : at + 3].isalpha():
                self._pass(i, at + 2)
                return at + 2
            return self._backslash(i, at, RepairCode.LATEX)
        wanted = 4 if c == 0x75 else 2 if c == 0x78 else 0  # u x
        if wanted:
            digits = text[at + 2 : min(at + 2 + wanted, end)]
            if not digits.strip("0123456789abcdefABCDEF"):
                if len(digits) == wanted:
                    if c == 0x75:  # u
                        self._pass(i, at + 6)
                        return at + 6
                    self._pass(i, at)
                    if self._record(RepairCode.INVALID_ESCAPE, 4):
                        self._put(text[at : at + 4], "\\u00" + digits)
                    return at + 4
                if at + 2 + len(digits) == end:
                    return self._half_escape(i, at)
        elif c == 0x27 or c == 0x60:  # ' `
            self._pass(i, at)
            if self._record(RepairCode.INVALID_ESCAPE, 1):
                self._put(text[at : at + 2], f"\\u00{c:02x}")
            return at + 2
        return self._backslash(i, at, RepairCode.INVALID_ESCAPE)

    def _half_escape(self, i: i64, at: i64) -> i64:
        """The text is over inside an escape. If that is its end, the reader knows what is missing."""
        if not self._is_last:
            return self._hold(i, at)
        self._pass(i, at)
        if self._text[at : at + 2] == "\\x":
            self._put(self._text[at : self._end], "\\u00")
        else:
            self._pass(at, self._end)
        return self._end

    def _backslash(self, i: i64, at: i64, code: RepairCode) -> i64:
        """A backslash that begins no escape stays a backslash."""
        self._pass(i, at)
        if self._record(code, 1):
            self._put("\\", "\\\\")
        return at + 1

    # ---- Strings without quotes -------------------------------------------------------------------------

    def _open_bare(self, i: i64, at: i64) -> i64:
        """Text without quotes begins."""
        reader = self._reader
        if self._level != GUESS or reader._frame is None:
            return self._refuse(i)
        self._pass(i, at)
        self._end_token()
        if self._record(RepairCode.UNQUOTED_STRING, 0):
            self._put("", '"')
            self._style = BARE
            self._inner = False
            self._brackets = 0
            self._controls = False
        return at

    def _in_bare(self, i: i64) -> i64:
        """Read the text of a string without quotes. White space at its end does not belong to it."""
        text = self._text
        end = self._end
        is_last = self._is_last
        reader = self._reader
        frame = reader._frame
        assert frame is not None
        at = i
        while at < end:
            c: i64 = ord(text[at])
            if c == 0x20 or c == 0x09 or c == 0x0A or c == 0x0D or c == 0x2C or is_odd_space(c):  # ,
                break
            if c == 0x22 or c == 0x5C or c < 0x20:  # " \
                break
            if c == 0x7B or c == 0x5B or c == 0x28:  # { [ (
                self._brackets += 1
            elif c == 0x7D or c == 0x5D or c == 0x29:  # } ] )
                if self._brackets == 0 and c != 0x29:  # )
                    self._pass(i, at)
                    return self._end_bare(at)
                if self._brackets > 0:
                    self._brackets -= 1
            at += 1
        if at > i:
            self._pass(i, at)
            self._grow_bare()
            return at
        c = ord(text[at])
        limit = min(end, at + FARTHEST)
        out: i64 = self._beyond(limit, YES)
        if c == 0x5C:  # \
            return self._escape(i, at)
        if c == 0x22:  # "
            outer = frame.parent
            answer: i64 = NO
            if self._brackets == 0:
                answer = string_ends(
                    text,
                    at + 1,
                    limit,
                    out,
                    frame.is_object,
                    outer is not None and not outer.is_object,
                    self._inner,
                    0,
                    self._bare_key,
                    is_last,
                )
            if answer == UNDECIDED:
                return self._hold(i, at)
            if answer == NO:
                self._put('"', '\\"')
                self._inner = True
                self._grow_bare()
                return at + 1
            last = self._last
            if last is not None and last.code is RepairCode.UNQUOTED_STRING:
                self._last = Repair(RepairCode.MISSING_QUOTE, last.position, 0, last.path)
            self._put('"', '"')
            self._end_token()
            self._after_string = True
            return at + 1
        if c == 0x2C:  # ,
            if frame.is_object:
                answer = member_follows(text, at + 1, limit, out, True, False)
            else:
                answer = NO if self._brackets > 0 else YES
            if answer == UNDECIDED:
                return self._hold(i, at)
            if answer == YES:
                return self._end_bare(at)
            self._pass(at, at + 1)
            self._grow_bare()
            return at + 1
        # White space: more text may follow on this line.
        after = blank_run(text, at, limit)
        if has_line_break(text, at, after) or after == at:
            return self._end_bare(at)
        if after == limit:
            if out == UNDECIDED:
                return self._hold(i, at)
            if not self._is_last:
                return self._end_bare(at)
            self._at = at
            self._put(text[at:after], "")
            return after
        c = narrow(ord(text[after]))
        if c == 0x2C:  # ,
            if frame.is_object:
                answer = member_follows(text, after + 1, limit, out, True, False)
                if answer == UNDECIDED:
                    return self._hold(i, at)
                if answer == YES:
                    return self._end_bare(at)
            elif self._brackets == 0:
                return self._end_bare(at)
        elif c == 0x7D or c == 0x5D:  # } ]
            if self._brackets == 0:
                return self._end_bare(at)
        else:
            answer = is_comment(text, after, limit, out)
            if answer == UNDECIDED:
                return self._hold(i, at)
            if answer == YES:
                return self._end_bare(at)
        # The white space belongs to the text.
        while at < after:
            if ord(text[at]) < 0x20:
                self._put(text[at], f"\\u{ord(text[at]):04x}")
            else:
                self._pass(at, at + 1)
            at += 1
        return after

    def _grow_bare(self) -> None:
        reader = self._reader
        last = self._last
        if last is not None and last.code is RepairCode.UNQUOTED_STRING:
            self._extend(reader.offset)

    def _end_bare(self, at: i64) -> i64:
        self._grow_bare()
        self._put("", '"')
        self._end_token()
        self._after_string = True
        return at

    # ---- Dumping and loading ----------------------------------------------------------------------------

    def dump(self) -> dict[str, object]:
        """Return the state as plain JSON data. It depends on the text so far, and not on how the text was cut."""
        data: dict[str, object] = {name[1:]: getattr(self, name) for name, _ in FIELDS}
        for name in FLAGS:
            data[name[1:]] = getattr(self, name)
        data["held"] = as_dumped(self._held)
        data["log"] = [
            [repair.code.value, *repair.position, repair.length, list(repair.path.steps)] for repair in self.repairs
        ]
        return data

    def load(self, data: object) -> None:
        """Restore a dump. Raise `StateError` for data that `dump` cannot have written."""
        reader = self._reader
        check(type(data) is dict, "repair is not an object")
        fields = cast("dict[str, Any]", data)
        check(len(fields) == len(FIELDS) + len(FLAGS) + 2, "wrong fields of repair")
        for name, largest in FIELDS:
            number = natural(fields[name[1:]])
            check(number <= largest, "impossible fields of repair")
            setattr(self, name, number)
        for name in FLAGS:
            setattr(self, name, flag(fields[name[1:]]))
        self._held = raw_text(fields["held"])
        is_open = reader.mode == STRING or reader.mode == KEY_STRING
        check(is_open == (self._style != NO_QUOTE) or self._level == NOTHING or self._refused, "no open string")
        check(self._style != BARE or reader._frame is not None, "no container")
        for code, offset, line, column, length, steps in fields["log"]:
            position = Position(natural(offset), natural(line), natural(column))
            check_position(offset, line, column)
            check(offset + natural(length) <= reader.offset or reader.is_failed, "a repair beyond the text")
            check(all(isinstance(step, str) or natural(step) >= 0 for step in steps), "impossible path")
            self._log.append(Repair(RepairCode(code), position, length, Path.of(*steps)))
        self._logged = len(self._log)
        check(self._logged <= self._reader.dialect.max_repairs, "more repairs than the limit")
        if self._logged > 0:
            self._last = self._log.pop()
            self._logged -= 1


def closing(reader: Reader) -> str:
    """Return the text that closes all that is open."""
    brackets: list[str] = []
    frame = reader._frame
    while frame is not None:
        brackets.append("}" if frame.is_object else "]")
        frame = frame.parent
    token = '"' if reader.mode == STRING else reader._word[reader._length :] if reader.mode == LITERAL else ""
    return token + "".join(brackets)

"""Standard output and standard error, for all commands: output, error messages, exit statuses, progress bars.

Foreign text always goes through `shown` before it reaches a terminal. Output for programs is JSON lines in ASCII, where
JSON itself escapes everything else.
"""

from __future__ import annotations

import errno
import io
import json
import os
import stat
import sys
from codecs import getincrementaldecoder
from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn, cast, final

import typer
from rich.console import Console
from rich.filesize import decimal
from rich.text import Text

from ..._errors import OptionsError, PatternError, UnspoolError
from ..viewer.escaping import cells, clip, head, visible
from ..viewer.timeline import EMPTY
from ..viewer.tracks import in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    from rich.progress import Progress, ProgressColumn

    from .arrivals import Input

    Describe = Callable[[float, float | None, int], str]
    """Words for what is done, the total if it is known, and the number of steps."""

__all__ = [
    "BROKEN",
    "USAGE",
    "Complaints",
    "EmptyError",
    "Excerpt",
    "Outlet",
    "UsageError",
    "complain",
    "console",
    "counted",
    "crop",
    "discard_output",
    "excerpt",
    "excuse",
    "guarded",
    "is_ascii_only",
    "playing_progress",
    "prepare_streams",
    "print_words",
    "progress",
    "recording_progress",
    "shown",
    "standard_output",
    "writable",
    "write_line",
    "write_lines",
    "write_text",
]

BROKEN: Final = 1  # exit status: the input is broken, or incomplete
USAGE: Final = 2
INTERRUPTED: Final = 130  # as after SIGINT
CLOSED: Final = 141  # as after SIGPIPE

CLOSED_OUTPUT: Final = "standard output is closed"
MAX_COMPLAINTS: Final = 20
PLAIN_LOCALES: Final = ("C", "POSIX")
COERCED: Final = "C.UTF-8"  # Python replaces a plain locale by this one, in LC_CTYPE
AS_LINE: Final = json.JSONEncoder(separators=(",", ":")).encode

LEFT_SHARE: Final = 2 / 3  # of the room of an excerpt, for the text before the caret

BAR_DELAY: Final = 0.5  # seconds before a progress bar appears
BAR_PAUSE: Final = 0.1  # seconds between two updates
BAR_MIN_WIDTH: Final = 60  # columns of the terminal
LARGE: Final = 4 * 1024 * 1024  # bytes: parsing them in one piece takes noticeable time


class UsageError(UnspoolError):
    """The options do not fit together, or do not fit the input."""


class EmptyError(UnspoolError):
    """The input is empty."""

    def _message(self) -> str:
        return EMPTY


# Text that a terminal may show.


def is_ascii_only() -> bool:
    """Return whether the output has to be ASCII.

    UNSPOOL_ASCII=1 turns that on, UNSPOOL_ASCII=0 off. Otherwise the encoding of standard output decides, and the
    locale: Python writes UTF-8 under the locale "C", but such a terminal shows ASCII only.
    """
    asked = os.environ.get("UNSPOOL_ASCII", "")
    if asked:
        return asked != "0"
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "")
    if not encoding.startswith("utf"):
        return True
    return "PYTHONIOENCODING" not in os.environ and _locale() in PLAIN_LOCALES


def _locale() -> str:
    names = [os.environ.get(name, "") for name in ("LC_ALL", "LC_CTYPE", "LANG")]
    if names[1] == COERCED and names[2] in PLAIN_LOCALES:
        names[1] = ""
    return next((name for name in names if name), "")


def shown(text: str) -> str:
    """Return foreign text with everything invisible spelled out."""
    return visible(text, ascii_only=is_ascii_only())


def counted(count: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "field"), counted(2000, "field")
    ('1 field', '2,000 fields')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def crop(line: Text, width: int) -> None:
    """Cut a line to `width` columns. Unlike rich, count combining marks the way terminals do."""
    too_long = len(line.plain) - len(head(line.plain, max(width, 1)))
    if too_long:
        line.right_crop(too_long)
    line.no_wrap = True


class Excerpt(NamedTuple):
    """Part of a line, as it may be shown, and the column of the caret in it, from 0."""

    text: str
    caret: int


def excerpt(before: str, after: str, width: int, *, ascii_only: bool = False) -> Excerpt:
    r"""Return as much of a line as fits, with the caret under the first character of `after`.

    >>> excerpt('{"title": "Trip to', ' Fuji" "days": 3}', 20)
    Excerpt(text='…": "Trip to Fuji" …', caret=12)
    """
    dots = "~" if ascii_only else "…"
    left = [visible(character, ascii_only=ascii_only) for character in before]
    right = [visible(character, ascii_only=ascii_only) for character in after[:1] + after[1:].removesuffix("\r")]
    here = [clip(piece, width, ascii_only=ascii_only) for piece in right[:1]]
    room = max(width - max(_cells(here), 1), 0)
    left = _fitting(left[::-1], max(int(room * LEFT_SHARE), room - _cells(right[1:])), dots)[::-1]
    right = _fitting(right[1:], room - _cells(left), dots)
    return Excerpt("".join(left + here + right), _cells(left))


def _fitting(pieces: list[str], room: int, dots: str) -> list[str]:
    """Return as many of the pieces as fit, followed by dots if some are missing."""
    if _cells(pieces) <= room:
        return pieces
    fitting = [dots] if room else []
    room -= 1
    for piece in pieces:
        room -= cells(piece)
        if room < 0:
            break
        fitting.insert(-1, piece)
    return fitting


def _cells(pieces: list[str]) -> int:
    return sum([cells(piece) for piece in pieces])


# Writing.


@final
class _Console(Console):
    """A console that raises BrokenPipeError; rich would exit by itself."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """Return a rich console that respects NO_COLOR and never interprets text as markup."""
    return _Console(stderr=stderr, markup=False, emoji=False, highlight=False, safe_box=is_ascii_only())


def print_words(terminal: Console, text: Text) -> None:
    """Print a sentence: wrapped between words on a terminal, in one line elsewhere."""
    terminal.print(text, soft_wrap=not terminal.is_terminal)


def write_line(value: object) -> None:
    """Write one line of JSON to standard output, and flush it.

    The line is ASCII: it contains no control sequence, and every encoding can represent it.
    """
    write_lines([value])


def write_lines(values: Iterable[object]) -> None:
    """Write several lines like `write_line`, one by one, with one flush."""
    for value in values:
        sys.stdout.write(AS_LINE(value) + "\n")
    sys.stdout.flush()


def write_text(text: str) -> None:
    """Write text to standard output, and flush it. The caller makes sure that a terminal may show it."""
    if text:
        sys.stdout.write(text)
        sys.stdout.flush()


def writable(fragment: str) -> str:
    """Return the text with JSON escapes for characters that the terminal or its encoding does not support."""
    if not sys.stdout.isatty():
        try:
            fragment.encode(sys.stdout.encoding or "utf-8")
        except UnicodeEncodeError:
            pass
        else:
            return fragment
    return "".join([character if shown(character) == character else _escaped(character) for character in fragment])


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join([f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4)])


def standard_output() -> io.FileIO:
    """Return standard output as an unbuffered file for bytes."""
    try:
        return io.FileIO(sys.stdout.fileno(), "wb", closefd=False)
    except io.UnsupportedOperation:
        raise OSError(errno.EBADF, CLOSED_OUTPUT) from None


@final
class Outlet:
    """Standard output for foreign bytes: unchanged and unbuffered, but made visible on a terminal."""

    __slots__ = ("_decoder",)

    def __init__(self) -> None:
        is_text = sys.stdout.isatty() or not hasattr(sys.stdout, "buffer")
        self._decoder = getincrementaldecoder("utf-8")("replace") if is_text else None

    def write(self, data: bytes) -> None:
        """Write the bytes, and flush them."""
        if self._decoder is None:
            sys.stdout.buffer.write(data)
            sys.stdout.flush()
        else:
            self._show(self._decoder.decode(data))

    def close(self) -> None:
        """Show the beginning of a character that was never completed."""
        if self._decoder is not None:
            self._show(self._decoder.decode(b"", final=True))

    def _show(self, text: str) -> None:
        write_text("\n".join([shown(line) for line in text.split("\n")]))


# Errors and exit statuses.


def complain(message: str) -> None:
    """Write an error message to standard error."""
    with suppress(OSError):  # standard error may be closed
        print_words(console(stderr=True), Text(f"unspool: {shown(message)}"))


@final
class Complaints:
    """The problems of an input: written to standard error at once, up to a limit, and counted for the exit status.

    `name` is the name of the input. Commands with several inputs leave it empty and add the name to each complaint.
    """

    def __init__(self, name: str = "") -> None:
        self.count = 0
        self._name = name

    def add(self, what: str) -> None:
        """Report one more problem."""
        self.count += 1
        if self.count <= MAX_COMPLAINTS:
            complain(f"{self._name}: {what}" if self._name else what)

    def settle(self) -> None:
        """End the command: exit with status 1 if there were complaints."""
        if self.count > MAX_COMPLAINTS:
            complain(f"and {self.count - MAX_COMPLAINTS} more")
        if self.count:
            raise typer.Exit(BROKEN)


@contextmanager
def guarded(name: str = "", hint: Callable[[], str] | None = None) -> Generator[None]:
    """Turn an error that ends a command into one line on standard error and an exit status.

    Ctrl-C and a closed pipe are silent. `name` is the name of the input, if there is one. If the input is broken, the
    line of `hint` follows.
    """
    try:
        yield
    except typer.Exit as left:
        if left.exit_code == BROKEN:
            _add_hint(hint)
        raise
    except (KeyboardInterrupt, OSError, UnspoolError) as error:
        status = excuse(error, name)
        if status == BROKEN and not isinstance(error, OSError):
            _add_hint(hint)
        raise typer.Exit(status) from None


def _add_hint(hint: Callable[[], str] | None) -> None:
    words = hint() if hint is not None else ""
    if words:
        with suppress(OSError):  # standard error may be closed
            print_words(console(stderr=True), Text(f"hint: {words}", style="bold"))


def excuse(error: BaseException, name: str = "") -> int:
    """Report an error that ends the command, and return the exit status."""
    _let_go_of_broken_output()
    match error:
        case KeyboardInterrupt():
            return INTERRUPTED
        case BrokenPipeError():
            return CLOSED
        case UsageError() | OptionsError() | PatternError():
            complain(str(error))
            return USAGE
        case OSError():
            what = error.strerror or str(error)
            complain(f"{error.filename}: {what}" if isinstance(error.filename, str) else what)
            return BROKEN
        case _:
            what = in_words(error) if isinstance(error, UnspoolError) else str(error)
            complain(f"{name}: {what}" if name else what)
            return BROKEN


def _let_go_of_broken_output() -> None:
    """Discard output that cannot be flushed. Otherwise Python tries again at exit, and reports the failure."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        discard_output()


def discard_output() -> None:
    """Redirect standard output to the null device."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def prepare_streams() -> None:
    """Prepare a process that was started with some of its standard streams closed.

    Their descriptors become the null device, so that no file opened later gets one of their numbers. Writing to a
    closed standard output raises `OSError`.
    """
    streams = cast("list[object]", [sys.stdin, sys.stdout, sys.stderr])
    if None not in streams:
        return
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    if streams[1] is None:
        sys.stdout = _Closed()
    if streams[2] is None:
        sys.stderr = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")


@final
class _Closed(io.TextIOBase):
    """Standard output of a process that was started without one."""

    encoding = "utf-8"

    def write(self, text: str, /) -> NoReturn:
        raise OSError(errno.EBADF, CLOSED_OUTPUT)


# Progress bars on standard error, for slow input and output.
#
# There is no bar where the user sees the stream itself: on a terminal that shows the output, and in the middle of a
# pipe, where the last command owns the terminal.


@contextmanager
def progress(source: Input, *, shares_terminal: bool = False) -> Generator[Callable[[float], None]]:
    """Show the progress of reading; yield a function that takes the number of bytes just read.

    The bar appears after half a second. If the size is unknown, it counts bytes. Set `shares_terminal` if the command
    writes lines to standard output while it reads.
    """
    size = source.size or None
    terminal = None if source.is_typed else _bar_terminal(shares_terminal, passes=size is None)
    with _Bar(terminal, "reading", size, _bytes) as bar:
        if size is not None and source.block >= size > LARGE:
            bar.draw()  # the whole file is one fragment: this is the only chance before the end
        yield bar.add


@contextmanager
def recording_progress(source: Input) -> Generator[Callable[[float], None]]:
    """Count bytes and pieces; yield a function that takes the number of bytes of each piece."""
    terminal = None if source.is_typed else _bar_terminal(True, passes=True)
    with _Bar(terminal, "recording", None, _pieces) as bar:
        yield bar.add


@contextmanager
def playing_progress(duration: Callable[[], float | None]) -> Generator[Callable[[float], None] | None]:
    """Show the time in a recording; yield a function that takes it, or None if there is no bar.

    `duration` returns the total time or None; it is only called if there is a bar.
    """
    terminal = _bar_terminal(True, passes=True)
    if terminal is None:
        yield None
        return
    with _Bar(terminal, "playing", duration(), _seconds) as bar:
        yield bar.move_to


def _bar_terminal(shares_terminal: bool, *, passes: bool) -> Console | None:
    """Return standard error if a bar may be drawn there. `passes`: the next command in a pipe may show the stream."""
    terminal = console(stderr=True)
    if not terminal.is_terminal or terminal.is_dumb_terminal:
        return None
    if shares_terminal and (sys.stdout.isatty() or (passes and _is_in_pipe())):
        return None
    return terminal


def _is_in_pipe() -> bool:
    try:
        mode = os.fstat(sys.stdout.fileno()).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _bytes(done: float, total: float | None, count: int) -> str:
    return decimal(int(done)) if total is None else f"{decimal(int(done))} of {decimal(int(total))}"


def _pieces(done: float, total: float | None, count: int) -> str:
    return f"{decimal(int(done))} in {counted(count, 'piece')}"


def _seconds(done: float, total: float | None, count: int) -> str:
    return f"{done:.1f} s" if total is None else f"{done:.1f} of {total:.1f} s"


@final
class _Bar:
    """A progress bar that appears after a delay and disappears at the end. Without a terminal it does nothing."""

    def __init__(self, terminal: Console | None, label: str, total: float | None, describe: Describe) -> None:
        self._terminal = terminal
        self._label = label
        self._total = total
        self._describe = describe
        self._done = 0.0
        self._count = 0
        self._next = monotonic() + BAR_DELAY if terminal is not None else 0.0
        self._drawn: Progress | None = None

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._drawn is not None:
            self._drawn.stop()

    def add(self, amount: float) -> None:
        """Move the bar by `amount`."""
        self.move_to(self._done + amount)

    def move_to(self, done: float) -> None:
        """Move the bar to `done`."""
        self._done = done
        self._count += 1
        if self._terminal is not None and (now := monotonic()) >= self._next:
            self._next = now + BAR_PAUSE
            self.draw()

    def draw(self) -> None:
        """Draw the bar now."""
        if self._terminal is None:
            return
        words = self._describe(self._done, self._total, self._count)
        if self._drawn is None:
            self._drawn = self._begun(self._terminal, words)
        self._drawn.update(self._drawn.task_ids[0], completed=self._done, words=words)
        self._drawn.refresh()

    def _begun(self, terminal: Console, words: str) -> Progress:
        from rich.progress import Progress  # slow to import, and rarely needed

        # Without redirect_stdout=False rich would move standard output above the bar.
        columns = self._columns(terminal.width)
        drawn = Progress(*columns, console=terminal, transient=True, auto_refresh=False, redirect_stdout=False)
        drawn.add_task("", total=self._total, words=words)
        drawn.start()
        return drawn

    def _columns(self, width: int) -> list[ProgressColumn]:
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

        columns: list[ProgressColumn] = [TextColumn(self._label), TextColumn("{task.fields[words]}")]
        if self._total is None:
            return columns
        if width < BAR_MIN_WIDTH:
            return [TextColumn("{task.percentage:>3.0f} %")]
        if not is_ascii_only():  # rich has no bar in ASCII
            columns.insert(1, BarColumn(bar_width=None))
        return [*columns, TimeRemainingColumn()]

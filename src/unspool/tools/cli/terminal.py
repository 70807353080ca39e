"""Standard output and standard error, for all commands: what may be written there, and what happens when it cannot be.

Text of others goes through `shown`, always. What is meant for machines is JSON lines, in which JSON itself does the
escaping.
"""

from __future__ import annotations

import errno
import io
import json
import os
import sys
from codecs import getincrementaldecoder
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, NoReturn, cast, final

import typer
from rich.console import Console
from rich.text import Text

from ..._errors import OptionsError, PatternError, UnspoolError
from ..viewer.escaping import head, visible

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

__all__ = [
    "BROKEN",
    "CLOSED",
    "INTERRUPTED",
    "NOTHING",
    "USAGE",
    "Complaints",
    "EmptyError",
    "Outlet",
    "UsageError",
    "complain",
    "console",
    "crop",
    "discard_output",
    "excuse",
    "guarded",
    "is_ascii_only",
    "prepare_streams",
    "print_words",
    "shown",
    "standard_output",
    "write_line",
    "write_lines",
    "write_text",
]

BROKEN: Final = 1  # exit status: the input is broken, or incomplete
USAGE: Final = 2
INTERRUPTED: Final = 130  # as after SIGINT
CLOSED: Final = 141  # as after SIGPIPE

NOTHING: Final = "there is nothing in it"
CLOSED_OUTPUT: Final = "standard output is closed"
MOST_COMPLAINTS: Final = 20
PLAIN_LOCALES: Final = ("C", "POSIX")
AS_LINE: Final = json.JSONEncoder(separators=(",", ":")).encode
COERCED: Final = "C.UTF-8"  # what Python puts in the place of a plain locale, in LC_CTYPE


class UsageError(UnspoolError):
    """The command does not go with its options, or with what it is given to read."""


class EmptyError(UnspoolError):
    """An input that has nothing in it."""

    def __str__(self) -> str:
        return NOTHING


def is_ascii_only() -> bool:
    """Whether the terminal, or the user, wants nothing but ASCII.

    UNSPOOL_ASCII=1 asks for it, UNSPOOL_ASCII=0 for the contrary. Without it the encoding of standard output tells,
    and a locale that is plainly "C", which Python itself takes for UTF-8.
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
    """Text of others, as it may be shown."""
    return visible(text, ascii_only=is_ascii_only())


@final
class _Console(Console):
    """Where nobody reads any more, rich would end the program its own way."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """A terminal as rich knows it: it minds NO_COLOR, and takes no markup out of any text."""
    return _Console(stderr=stderr, markup=False, emoji=False, highlight=False, safe_box=is_ascii_only())


def crop(line: Text, width: int) -> None:
    """Cut a line to so many columns. rich has a way to do it, but takes marks for nothing that terminals may show."""
    too_long = len(line.plain) - len(head(line.plain, max(width, 1)))
    if too_long:
        line.right_crop(too_long)
    line.no_wrap = True


def complain(message: str) -> None:
    """Say what is wrong, on standard error."""
    with suppress(OSError):  # nobody is left to be told
        print_words(console(stderr=True), Text(f"unspool: {shown(message)}"))


def print_words(terminal: Console, text: Text) -> None:
    """Print words: for a terminal in lines that end between two of them, for anything else in one line."""
    terminal.print(text, soft_wrap=not terminal.is_terminal)


@final
class Complaints:
    """What is wrong with an input: told at once, up to a number of times, and remembered for the exit status.

    `name` is what people call the input; whoever has several of them says it with each complaint.
    """

    def __init__(self, name: str = "") -> None:
        self.count = 0
        self._name = name

    def add(self, what: str) -> None:
        """One more."""
        self.count += 1
        if self.count <= MOST_COMPLAINTS:
            complain(f"{self._name}: {what}" if self._name else what)

    def settle(self) -> None:
        """This is the end of the command; how many there were decides how it ends."""
        if self.count > MOST_COMPLAINTS:
            complain(f"and {self.count - MOST_COMPLAINTS} more")
        if self.count:
            raise typer.Exit(BROKEN)


def write_line(value: object) -> None:
    """One line of JSON on standard output, at once: whoever reads it should not have to wait.

    It is ASCII: what a terminal could take for a command cannot be in it, and no encoding can fail.
    """
    write_lines([value])


def write_lines(values: Iterable[object]) -> None:
    """As `write_line`, for all that one step brings."""
    write_text("".join([AS_LINE(value) + "\n" for value in values]))


def write_text(text: str) -> None:
    """Text on standard output, at once. It is for the caller to see that it may be written there."""
    if text:
        sys.stdout.write(text)
        sys.stdout.flush()


def standard_output() -> io.FileIO:
    """Standard output, for bytes, with nothing in between in which something could be kept."""
    try:
        return io.FileIO(sys.stdout.fileno(), "wb", closefd=False)
    except io.UnsupportedOperation:
        raise OSError(errno.EBADF, CLOSED_OUTPUT) from None


@final
class Outlet:
    """Standard output, for bytes of others: as they are, and at once. A terminal is shown what can be seen of them."""

    __slots__ = ("_decoder",)

    def __init__(self) -> None:
        is_text = sys.stdout.isatty() or not hasattr(sys.stdout, "buffer")
        self._decoder = getincrementaldecoder("utf-8")("replace") if is_text else None

    def write(self, data: bytes) -> None:
        """Write the bytes."""
        if self._decoder is None:
            sys.stdout.buffer.write(data)
            sys.stdout.flush()
        else:
            self._show(self._decoder.decode(data))

    def close(self) -> None:
        """Nothing more comes: half of a character is shown as what it is."""
        if self._decoder is not None:
            self._show(self._decoder.decode(b"", final=True))

    def _show(self, text: str) -> None:
        write_text("\n".join([shown(line) for line in text.split("\n")]))


@contextmanager
def guarded(name: str = "") -> Generator[None]:
    """Whatever ends a command before its time ends it quietly, or with a complaint, and with its exit status.

    Ctrl-C and a reader that has seen enough are quiet. Input that cannot be read, output that cannot be written, and
    every `UnspoolError` are told in one line. `name` is what people call the input, where there is one.
    """
    try:
        yield
    except (KeyboardInterrupt, OSError, UnspoolError) as error:
        raise typer.Exit(excuse(error, name)) from None


def excuse(error: BaseException, name: str = "") -> int:
    """Say what has to be said about an error that ends the command; the exit status."""
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
            complain(f"{name}: {error}" if name else str(error))
            return BROKEN


def _let_go_of_broken_output() -> None:
    """What is left to write, and cannot be, goes nowhere: Python would try it again at its very end, and complain."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        discard_output()


def discard_output() -> None:
    """From now on, whatever is written to standard output goes nowhere."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def prepare_streams() -> None:
    """For a process that was started with some of its three streams closed.

    Their numbers are taken, so that no file that is opened later is mistaken for one of them; and to write to what is
    closed is an error like any other.
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
    """Standard output that was closed before anybody could write to it."""

    encoding = "utf-8"

    def write(self, text: str, /) -> NoReturn:
        raise OSError(errno.EBADF, CLOSED_OUTPUT)

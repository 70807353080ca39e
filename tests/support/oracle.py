"""A slow, plain model of reading: what a prefix of a JSON text means, worked out from its first character.

It shares nothing with the reader it judges but the names of the error codes. There is no incremental
machinery here: `read` looks at the whole prefix, token by token, with one stack of open containers.
Where the design leaves a choice, the choice is made in one place and marked "chosen".
"""

from __future__ import annotations

import codecs
import math
import re
from dataclasses import dataclass, replace
from decimal import Decimal
from string import hexdigits
from typing import Any, Final, Literal, NamedTuple

from unspool._errors import Code

Status = Literal["done", "open", "dead"]
Steps = tuple[str | int, ...]


MISSING: Final = type("Missing", (), {"__repr__": lambda _: "MISSING"})()
"""The value before there is any."""

WHITESPACE = " \t\n\r"
ENDS_ATOM = WHITESPACE + ",]}"
LITERALS: dict[str, tuple[str, object]] = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}
ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}

# state -> {the characters that may come: the state after them}
NUMBER: dict[str, dict[str, str]] = {
    "start": {"-": "minus", "0": "zero", "123456789": "whole"},
    "minus": {"0": "zero", "123456789": "whole"},
    "zero": {".": "point", "eE": "e"},
    "whole": {"0123456789": "whole", ".": "point", "eE": "e"},
    "point": {"0123456789": "fraction"},
    "fraction": {"0123456789": "fraction", "eE": "e"},
    "e": {"+": "plus sign", "-": "minus sign", "0123456789": "power"},
    "plus sign": {"0123456789": "power"},
    "minus sign": {"0123456789": "negative power"},
    "power": {"0123456789": "power"},
    "negative power": {"0123456789": "negative power"},
}
ENDINGS = {"zero", "whole", "fraction", "power", "negative power"}


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """The options that `read` takes, named and preset as in `unspool._options.Options`."""

    max_depth: int | None = 128
    max_chars: int | None = 16 * 1024 * 1024
    max_string: int | None = 16 * 1024 * 1024
    max_key: int | None = 64 * 1024
    max_path: int | None = 4096
    max_number: int | None = 1000
    duplicate_keys: str = "last"
    surrogates: str = "replace"
    trailing_commas: bool = False
    multiple: bool | str = False
    trailing: str = "error"


class Error(NamedTuple):
    """What is wrong, where, and in which value."""

    code: Code
    offset: int
    line: int
    column: int
    path: Steps


@dataclass(frozen=True)
class Reading:
    """What is known at the end of a prefix."""

    value: Any
    """The partial value; with `multiple`, of the newest root that shows anything."""
    values: tuple[Any, ...]
    """The partial values of all roots, in order; one at most unless `multiple`."""
    status: Status
    error: Error | None
    """Why it is dead."""
    at_close: Error | None
    """What `close()` would complain of here: the error, or the end that came too early."""
    final: Any
    """The value if the text ended here; MISSING where that would be an error."""

    @property
    def finishable(self) -> bool:
        return self.at_close is None


class Token(NamedTuple):
    """What stands at one place: its value so far, where it ends (None: not yet), and what is wrong with it."""

    value: Any
    end: int | None = None
    error: tuple[Code, int] | None = None


@dataclass
class Frame:
    """An open container and the step to the child that comes next or is being read."""

    container: Any
    step: str | int


def read(text: str, **options: Any) -> Reading:
    """The meaning of `text` as the beginning of a JSON text."""
    dialect = Dialect(**options)
    return _read_lines(text, dialect) if dialect.multiple == "lines" else _Model(text, dialect).reading()


def _read_lines(text: str, dialect: Dialect) -> Reading:
    """Each line is a text of its own; only the last one may be open. CR ends a line, too, but is not counted as one."""
    alone = replace(dialect, multiple=False, max_chars=None)
    allowed = text[: dialect.max_chars]
    roots: list[Any] = []
    status: Status = "open"
    at_close: Error | None = None
    final: Any = MISSING
    start = 0
    path: Steps = ()
    lines = re.split("[\r\n]", allowed)
    for number, line in enumerate(lines):
        is_last = number == len(lines) - 1
        path = ()
        if line.strip(WHITESPACE):
            model = _Model(line, alone)
            one = model.reading()
            path = model.path()
            roots += one.values if is_last or one.final is MISSING else [one.final]
            error = one.error if is_last else one.at_close
            status, at_close, final = one.status if is_last else "done", one.at_close, one.final
            found = error or at_close
            if found is not None:
                at_close = _Model(text, alone).located(found.code, start + found.offset, found.path)
            if error is not None:
                return Reading(roots[-1] if roots else MISSING, tuple(roots), "dead", at_close, at_close, MISSING)
        start += len(line) + 1
    if len(allowed) < len(text):
        at_close = _Model(text, alone).located(Code.MAX_CHARS, len(allowed), path)
        return Reading(roots[-1] if roots else MISSING, tuple(roots), "dead", at_close, at_close, MISSING)
    return Reading(roots[-1] if roots else MISSING, tuple(roots), status, None, at_close, final)


class _Model:
    def __init__(self, text: str, dialect: Dialect) -> None:
        self.dialect = dialect
        self.whole_text = text
        self.text = text if dialect.max_chars is None else text[: dialect.max_chars]
        self.at = 0
        self.frames: list[Frame] = []
        self.roots: list[Any] = []
        self.expects = "value"  # or: item or close, key, key or close, colon, comma, end
        self.in_flight = False
        self.atom_at_end = Token(MISSING)
        self.error: Error | None = None

    def reading(self) -> Reading:
        while self.error is None and self.at < len(self.text) and not self.in_flight:
            if self.text[self.at] in WHITESPACE:
                self.at += 1
            elif self.expects == "end" and self.dialect.trailing == "ignore" and not self.dialect.multiple:
                self.at = len(self.text)
            else:
                self.one_token(self.text[self.at])
        ignores = self.expects == "end" and self.dialect.trailing == "ignore" and not self.dialect.multiple
        if self.error is None and len(self.text) < len(self.whole_text) and not ignores:
            self.die(Code.MAX_CHARS, len(self.text))  # chosen: what is ignored is not read, and does not count
        value = self.roots[-1] if self.roots else MISSING
        at_close, final = self.close(value)
        status: Status = "dead" if self.error else "done" if self.expects == "end" else "open"
        return Reading(value, tuple(self.roots), status, self.error, at_close, final)

    def close(self, value: Any) -> tuple[Error | None, Any]:
        """What `close()` says here, and the final value if it says nothing."""
        if self.error is not None:
            return self.error, MISSING
        if self.expects == "end" or (self.dialect.multiple and not self.frames and not self.in_flight):
            return None, value  # chosen: with `multiple`, no value at all is a complete text
        token = self.atom_at_end
        if not self.frames and token.end is not None:
            return (self.located(*token.error, ()), MISSING) if token.error else (None, token.value)
        return self.located(Code.INCOMPLETE, len(self.text), self.path()), MISSING

    def one_token(self, char: str) -> None:
        expects = self.expects
        if expects in {"item or close", "key or close", "comma"} and char == ("}" if self.in_object() else "]"):
            self.frames.pop()
            self.at += 1
            self.expects = "comma" if self.frames else "end"
        elif expects == "comma" and char == ",":
            self.at += 1
            strict, lenient = ("key", "key or close") if self.in_object() else ("value", "item or close")
            self.expects = lenient if self.dialect.trailing_commas else strict
            self.frames[-1].step = len(self.frames[-1].container)
        elif expects == "colon" and char == ":":
            self.at += 1
            self.expects = "value"
        elif expects in {"key", "key or close"} and char == '"':
            self.key()
        elif expects in {"value", "item or close"} or (expects == "end" and self.dialect.multiple):
            self.expects = "value" if expects == "end" else expects
            self.one_value(char)
        else:
            self.die(Code.TRAILING_TEXT if expects == "end" else Code.UNEXPECTED_CHARACTER, self.at)

    def one_value(self, char: str) -> None:
        if char in "{[" and len(self.frames) == self.dialect.max_depth:
            self.die(Code.MAX_DEPTH, self.at)
        elif char in "{[":
            container: Any = {} if char == "{" else []
            self.show(container)
            self.frames.append(Frame(container, 0))
            self.expects = "key or close" if char == "{" else "item or close"
            self.at += 1
        elif char == '"':
            token = scan_string(self.text, self.at, self.dialect.surrogates, self.dialect.max_string, Code.MAX_STRING)
            self.show(token.value)
            self.finish(token)
        elif char in LITERALS or char in "-0123456789":
            literal = char in LITERALS
            token = (
                scan_literal(self.text, self.at)
                if literal
                else scan_number(self.text, self.at, self.dialect.max_number)
            )
            if token.end == len(self.text):  # whether it goes on is not known: only `close()` may use it
                self.atom_at_end = token
                token = Token(MISSING)
            elif token.end is not None and self.text[token.end] not in ENDS_ATOM:
                token = Token(MISSING, error=(Code.INVALID_LITERAL if literal else Code.INVALID_NUMBER, token.end))
            elif token.end is not None and token.error is None:
                self.show(token.value)
            self.finish(token)
        else:
            self.die(Code.UNEXPECTED_CHARACTER, self.at)

    def key(self) -> None:
        limit, code = self.dialect.max_key, Code.MAX_KEY
        if self.dialect.max_path is not None:
            outer = [frame.step for frame in self.frames[:-1] if isinstance(frame.step, str)]
            room = self.dialect.max_path - sum(len(step) for step in outer)
            if limit is None or room < limit:
                limit, code = room, Code.MAX_PATH
        token = scan_string(self.text, self.at, self.dialect.surrogates, limit, code)
        self.finish(token)
        if token.error is None and token.end is not None:
            self.frames[-1].step, self.expects = token.value, "colon"
            if self.dialect.duplicate_keys == "error" and token.value in self.frames[-1].container:
                self.die(Code.DUPLICATE_KEY, token.end - 1, (token.value,))

    def finish(self, token: Token) -> None:
        if token.error is not None:
            self.die(*token.error)
        elif token.end is None:
            self.in_flight = True
        else:
            self.at = token.end
            self.expects = "comma" if self.frames else "end"

    def show(self, value: Any) -> None:
        """The kind of the value that was expected is known: from now on it is visible."""
        if not self.frames:
            self.roots.append(value)
        elif self.in_object():
            self.frames[-1].container[self.frames[-1].step] = value
        else:
            self.frames[-1].container.append(value)

    def in_object(self) -> bool:
        return isinstance(self.frames[-1].container, dict)

    def path(self) -> Steps:
        """The value being read or expected, otherwise the innermost container."""
        within_value = self.expects in {"value", "item or close"}
        return tuple(frame.step for frame in (self.frames if within_value else self.frames[:-1]))

    def located(self, code: Code, offset: int, path: Steps) -> Error:
        line_start = self.whole_text.rfind("\n", 0, offset) + 1
        return Error(code, offset, 1 + self.whole_text.count("\n", 0, offset), offset - line_start + 1, path)

    def die(self, code: Code, offset: int, member: Steps = ()) -> None:
        self.error = self.located(code, offset, self.path() + member)


def scan_literal(text: str, start: int) -> Token:
    """true, false or null, by its first letter."""
    word, value = LITERALS[text[start]]
    for index, letter in enumerate(word):
        if start + index == len(text):
            return Token(MISSING)
        if text[start + index] != letter:
            return Token(MISSING, error=(Code.INVALID_LITERAL, start + index))
    return Token(value, start + len(word))


def scan_number(text: str, start: int, limit: int | None) -> Token:
    """The longest number at `start`. An `end` at the end of the text means: a number, if nothing follows."""
    state, at = "start", start
    while at < len(text):
        after = next((after for chars, after in NUMBER[state].items() if text[at] in chars), None)
        if after is None:
            break
        if at - start == limit:
            return Token(MISSING, error=(Code.MAX_NUMBER, at))
        state, at = after, at + 1
        if state == "power" and math.isinf(float(text[start:at])):
            return Token(MISSING, error=(Code.NUMBER_OVERFLOW, at - 1))
    if state not in ENDINGS:
        return Token(MISSING) if at == len(text) else Token(MISSING, error=(Code.INVALID_NUMBER, at))
    raw = text[start:at]
    if not any(mark in raw for mark in ".eE"):
        return Token(int(Decimal(raw)), at)  # by way of Decimal: `int` itself refuses thousands of digits
    value = float(raw)
    return Token(value, at, (Code.NUMBER_OVERFLOW, at) if math.isinf(value) else None)


def scan_string(text: str, start: int, surrogates: str, limit: int | None, over: Code) -> Token:
    """The string whose opening quote is at `start`; a high half that may still find its low half is held back."""
    strict = surrogates == "error"
    out: list[str] = []
    high = ""  # the half held back
    at = start + 1
    while at < len(text):
        char = text[at]
        raw_half = "\ud800" <= char <= "\udfff"
        if high and char != "\\" and not "\udc00" <= char <= "\udfff":
            if strict:
                return Token("".join(out), error=(Code.LONE_SURROGATE, at))
            out.append(lone(high, surrogates))
            high = ""
        if char == '"':
            return Token("".join(out), at + 1)
        if not high and len(out) == limit:
            return Token("".join(out), error=(over, at))
        if char < " ":
            return Token("".join(out), error=(Code.CONTROL_CHARACTER, at))
        if char != "\\" and not raw_half:
            out.append(char)
            at += 1
            continue
        if raw_half and strict and not high and char >= "\udc00":
            return Token("".join(out), error=(Code.LONE_SURROGATE, at))
        escape = Token(char, at + 1) if raw_half else scan_escape(text, at, bool(high), strict)
        if escape.error is not None or escape.end is None:
            return Token("".join(out), error=escape.error)
        low = "\udc00" <= escape.value <= "\udfff"
        if high and low:
            out.append(chr(0x10000 + (ord(high) - 0xD800) * 0x400 + ord(escape.value) - 0xDC00))
            high = ""
        else:
            if high:
                out.append(lone(high, surrogates))
                high = ""
                if len(out) == limit:
                    return Token("".join(out), error=(over, at))
            if "\ud800" <= escape.value <= "\udbff":
                high = escape.value
            else:
                out.append(lone(escape.value, surrogates) if low else escape.value)
        at = escape.end
    return Token("".join(out))


def scan_escape(text: str, start: int, after_high: bool, strict: bool) -> Token:
    """The escape whose backslash is at `start`; `strict` refuses what cannot be, or lacks, half of a pair."""
    if start + 1 == len(text):
        return Token(MISSING)
    letter = text[start + 1]
    if letter != "u":
        if strict and after_high:
            return Token(MISSING, error=(Code.LONE_SURROGATE, start + 1))
        if letter not in ESCAPES:
            return Token(MISSING, error=(Code.INVALID_ESCAPE, start + 1))
        return Token(ESCAPES[letter], start + 2)
    digits = text[start + 2 : start + 6]
    for count in range(1, len(digits) + 1):
        at = start + 1 + count
        if text[at] not in hexdigits:
            return Token(MISSING, error=(Code.INVALID_ESCAPE, at))
        lowest, highest = (int(digits[:count].ljust(4, filler), 16) for filler in "0f")
        may_be_low, must_be_low = highest >= 0xDC00 and lowest <= 0xDFFF, lowest >= 0xDC00 and highest <= 0xDFFF
        if strict and (not may_be_low if after_high else must_be_low):
            return Token(MISSING, error=(Code.LONE_SURROGATE, at))
    return Token(chr(int(digits, 16)), start + 6) if len(digits) == 4 else Token(MISSING)


def lone(half: str, surrogates: str) -> str:
    return half if surrogates == "keep" else "\ufffd"


def dead_byte(data: bytes) -> int | None:
    """The first byte after which no further bytes make `data` a JSON text in UTF-8; None: there is none."""
    for end in range(1, len(data) + 1):
        decoder = codecs.getincrementaldecoder("utf-8")("strict")
        try:
            text = decoder.decode(data[:end])
        except UnicodeDecodeError:
            return end - 1
        begun = decoder.getstate()[0]
        half_a_pair = begun[:1] == b"\xed" and begun[1:2] >= b"\xa0"  # here the decoder is a byte late
        stand_in = "\u00e9" if begun else ""  # no rule tells characters beyond ASCII apart
        if half_a_pair or read(text + stand_in).status == "dead":
            return end - 1
    return None


def same(left: Any, right: Any) -> bool:
    """Equal as JSON data: types, the order of keys and the sign of zero included."""
    return _compare(left, right, grown=False)


def is_prefix_value(earlier: Any, later: Any) -> bool:
    """The growth order: `later` is `earlier`, or what `earlier` may become when more text comes."""
    return _compare(earlier, later, grown=True)


def _compare(left: Any, right: Any, *, grown: bool) -> bool:
    pairs = [(left, right, grown)]  # a list, not recursion: documents may be deep
    while pairs:
        a, b, may_grow = pairs.pop()
        if a is MISSING and may_grow:
            continue
        if type(a) is not type(b):
            return False
        if isinstance(a, (list, dict)):
            if len(a) > len(b) or (len(a) < len(b) and not may_grow):
                return False
            if isinstance(a, dict) and list(a) != list(b)[: len(a)]:
                return False
            steps = list(a) if isinstance(a, dict) else list(range(len(a)))
            pairs += [(a[step], b[step], may_grow and step == steps[-1]) for step in steps]
        elif isinstance(a, str) and may_grow:
            if not b.startswith(a):
                return False
        elif a != b or (isinstance(a, float) and math.copysign(1, a) != math.copysign(1, b)):
            return False
    return True

"""`SnapshotReader`: snapshots become values.

A snapshot is a complete text, so `json` reads it, several times faster than a reader that can stop anywhere. Where
`json` rejects a text, or lacks something that the options ask for, the project's own reader reads the text and reports
what is wrong, and where.
"""

from __future__ import annotations

from json import JSONDecoder
from math import isinf
from typing import Final, NoReturn, final

from .._errors import LimitError, OptionsError, Reason, SnapshotError
from .._options import UNLIMITED_OPTIONS, Options
from .._parser import Intake, as_bytes
from .values import Limits, Number, SpelledValueSink, copied, join_halves

__all__ = ["ANY_READER", "SnapshotReader"]

BYTES: Final = (bytes, bytearray, memoryview)
MAX_SPELLINGS: Final = 10_000  # numbers that the reader remembers, so that each spelling is one object


class Spellings(dict[str, Number]):
    """One `Number` per spelling, so that numbers that stay the same are found equal by identity."""

    __slots__ = ("_max_length", "_may_be_huge")

    def __init__(self, max_length: int | None, may_be_huge: bool) -> None:
        super().__init__()
        self._max_length = max_length
        self._may_be_huge = may_be_huge  # larger than any float

    def __missing__(self, raw: str) -> Number:
        if self._max_length is not None and len(raw) > self._max_length:
            raise ValueError
        if not self._may_be_huge and not raw.lstrip("-").isdigit() and isinf(float(raw)):
            raise ValueError
        if len(self) >= MAX_SPELLINGS:
            self.clear()
        number = self[raw] = Number(raw)
        return number


@final
class SnapshotReader:
    """The reader of one chunker: it turns snapshots into values as `policy` uses them."""

    def __init__(self, options: Options) -> None:
        if options.multiple or options.on_error == "skip":
            raise OptionsError("a snapshot is one complete value: it cannot have multiple=True or on_error='skip'")
        # The next snapshot may complete half a surrogate pair; a replacement character would contradict it.
        surrogates = "keep" if options.surrogates == "replace" else options.surrogates
        self.limits = Limits(options)
        self._options = options.replace(surrogates=surrogates)
        is_plain = options.duplicate_keys == "last" and options.trailing == "error" and surrogates == "keep"
        self._reads_as_json_does = is_plain and not options.trailing_commas
        number = Spellings(options.max_number, options.floats == "decimal").__getitem__
        self._decode = JSONDecoder(parse_int=number, parse_float=number, parse_constant=_reject_constant).decode

    def read(self, snapshot: object, step: int) -> object:
        """Return the value of a snapshot: str and bytes are JSON text, everything else is a parsed value."""
        json_text = _json_text(snapshot)
        if json_text is None:
            return copied(snapshot, self._options.max_depth, step)
        if self._reads_as_json_does:
            try:
                decoded = join_halves(json_text) if isinstance(json_text, str) else json_text.decode()
                if self._options.max_chars is None or len(decoded) <= self._options.max_chars:
                    return self._decode(decoded)
            except (ValueError, RecursionError):
                pass
        return self._parse(json_text, step)

    def explain(self, snapshot: object, step: int) -> None:
        """Raise the `SnapshotError` of a text that exceeds a limit, with the position as its cause."""
        json_text = _json_text(snapshot)
        if json_text is not None:
            self._parse(json_text, step)

    def _parse(self, json_text: str | bytes, step: int) -> object:
        intake, sink = Intake.create(self._options, False), SpelledValueSink()
        intake.feed(json_text, sink)
        intake.finish(sink)
        if sink.errors:
            error = sink.errors[-1]
            reason = Reason.LIMIT if isinstance(error, LimitError) else Reason.NOT_JSON
            raise SnapshotError(error.path, reason, step) from error
        return sink.value()


def _json_text(snapshot: object) -> str | bytes | None:
    if isinstance(snapshot, str):
        return snapshot
    if type(snapshot) in BYTES:
        return as_bytes(snapshot)
    return None


def _reject_constant(constant: str) -> NoReturn:
    raise ValueError(constant)


ANY_READER: Final = SnapshotReader(UNLIMITED_OPTIONS.replace(floats="decimal"))
"""A reader without limits."""

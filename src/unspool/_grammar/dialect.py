"""`Options` as the reader wants them: numbers and flags that cost nothing to look at. Made once, shared by forks."""

# Compiled with mypyc.
from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from .modes import BETWEEN, END, IGNORE, VALUE
from .scan import KEEP, REFUSE, REPLACE

if TYPE_CHECKING:
    from .._native import i64
    from .._options import Options

UNLIMITED: Final = 1 << 60  # far beyond any text, far below where machine integers end
SURROGATES: Final = {"replace": REPLACE, "error": REFUSE, "keep": KEEP}


@final
class Dialect:
    """What one reader accepts."""

    __slots__ = (
        "after_root",
        "decimals",
        "first_mode",
        "max_chars",
        "max_depth",
        "max_errors",
        "max_key",
        "max_number",
        "max_string",
        "multiple",
        "options",
        "skips_errors",
        "surrogates",
        "trailing_commas",
        "unique_keys",
    )

    def __init__(self, options: Options) -> None:
        self.options = options
        self.max_depth: i64 = _limit(options.max_depth)
        self.max_chars: i64 = _limit(options.max_chars)
        self.max_string: i64 = _limit(options.max_string)
        self.max_key: i64 = _limit(options.max_key)
        self.max_number: i64 = _limit(options.max_number)
        self.max_errors: i64 = _limit(options.max_errors)
        self.surrogates: i64 = SURROGATES[options.surrogates]
        self.decimals = options.floats == "decimal"
        self.trailing_commas = options.trailing_commas
        self.unique_keys = options.duplicate_keys == "error"
        self.skips_errors = options.on_error == "skip"
        self.multiple = options.multiple
        self.first_mode: i64 = BETWEEN if options.multiple else VALUE
        self.after_root: i64 = BETWEEN if options.multiple else IGNORE if options.trailing == "ignore" else END


def _limit(limit: int | None) -> int:
    return UNLIMITED if limit is None else min(limit, UNLIMITED)

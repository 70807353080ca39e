"""`Options`: the JSON dialect that a parser accepts, and its limits."""

from __future__ import annotations

from ._dumps import check
from ._errors import OptionsError, StateError
from ._native import TYPE_CHECKING, final

if TYPE_CHECKING:
    from typing import Any, Final, Literal, NoReturn

__all__ = ["UNLIMITED_OPTIONS", "Options"]

MIB: Final = 1024 * 1024

CHOICES: Final = {
    "duplicate_keys": ("last", "error"),
    "surrogates": ("replace", "error", "keep"),
    "trailing": ("error", "ignore"),
    "floats": ("float", "decimal"),
    "on_error": ("stop", "skip"),
    "repair": ("none", "spelling", "guess"),
    "truncated": ("error", "close"),
}
LIMITS: Final = (
    "max_depth",
    "max_chars",
    "max_string",
    "max_key",
    "max_path",
    "max_number",
    "max_errors",
    "max_repairs",
)
FLAGS: Final = ("trailing_commas", "latex")
LINES: Final = "lines"


@final
class Options:
    """The options of a parser, immutable. The defaults are strict RFC 8259, with limits that suit the output of models.

    Every limit counts characters, except `max_depth`, `max_errors` and `max_repairs`. None removes a limit. A text that
    exceeds a limit fails at the same offset however it is cut, before the parser uses the memory.
    """

    # Not a dataclass: importing `dataclasses` takes longer than importing the rest of the core.
    __slots__ = (*LIMITS, *FLAGS, "multiple", *CHOICES)

    max_depth: int | None
    """The number of objects and arrays that can be open at once."""
    max_chars: int | None
    """The length of the whole text; with ``trailing="ignore"``, up to the end of the value."""
    max_string: int | None
    """The length of one string, decoded."""
    max_key: int | None
    """The length of one key, decoded."""
    max_path: int | None
    """The length of all keys of one path together, decoded. Events and patches repeat the path of their value."""
    max_number: int | None
    """The length of one number in the text."""
    max_errors: int | None
    """The number of errors to skip before one ends the parsing. The parser keeps each of them."""
    max_repairs: int | None
    """The number of repairs; one more ends the parsing. The parser keeps each of them."""
    duplicate_keys: Literal["last", "error"]
    """A key that occurs twice in one object: the last one wins, or it is an error."""
    surrogates: Literal["replace", "error", "keep"]
    """An escape that is half of a surrogate pair: replace it with U+FFFD, fail, or keep it."""
    trailing_commas: bool
    """Accept a comma before a closing bracket."""
    multiple: bool | Literal["lines"]
    """Accept several values one after another; with ``"lines"``, one per line, and the end of a line ends its value."""
    trailing: Literal["error", "ignore"]
    """Text after the value: an error, or ignored."""
    floats: Literal["float", "decimal"]
    """The type of numbers with a fraction or an exponent: float, or decimal.Decimal."""
    on_error: Literal["stop", "skip"]
    """At an error: stop, or drop the invalid value and continue after it."""
    repair: Literal["none", "spelling", "guess"]
    """Broken text: an error; read if it can mean one thing only; or also read with guesses. Each repair is logged."""
    truncated: Literal["error", "close"]
    """Text that ends too early: an error, or closed where it ends, with a repair in the log."""
    latex: bool
    r"""With `repair`: a backslash before f or b and another letter is a backslash, as in ``\frac``."""

    def __init__(
        self,
        *,
        max_depth: int | None = 128,
        max_chars: int | None = 16 * MIB,
        max_string: int | None = 16 * MIB,
        max_key: int | None = MIB // 16,
        max_path: int | None = 4096,
        max_number: int | None = 1000,
        max_errors: int | None = 1000,
        max_repairs: int | None = 1000,
        duplicate_keys: Literal["last", "error"] = "last",
        surrogates: Literal["replace", "error", "keep"] = "replace",
        trailing_commas: bool = False,
        multiple: bool | Literal["lines"] = False,
        trailing: Literal["error", "ignore"] = "error",
        floats: Literal["float", "decimal"] = "float",
        on_error: Literal["stop", "skip"] = "stop",
        repair: Literal["none", "spelling", "guess"] = "none",
        truncated: Literal["error", "close"] = "error",
        latex: bool = False,
    ) -> None:
        given = locals()
        for name, choices in CHOICES.items():
            if given[name] not in choices:
                raise OptionsError(f"{name} must be {' or '.join(map(repr, choices))}")
        for name in LIMITS:
            limit = given[name]
            if limit is not None and (type(limit) is not int or limit < 0):
                raise OptionsError(f"{name} must be a whole number from 0 up, or None")
        for name in FLAGS:
            if type(given[name]) is not bool:
                raise OptionsError(f"{name} must be True or False")
        if type(multiple) is not bool and multiple != LINES:
            raise OptionsError(f"multiple must be True, False or {LINES!r}")
        if on_error == "skip" and (repair != "none" or truncated == "close"):
            raise OptionsError('on_error="skip" drops broken values and repair keeps them: choose one of the two')
        if latex and repair == "none":
            raise OptionsError('latex=True needs repair="spelling" or repair="guess"')
        for name in self.__slots__:
            object.__setattr__(self, name, given[name])

    def as_dict(self) -> dict[str, Any]:
        """Return all options by name: ``Options(**options.as_dict()) == options``."""
        return {name: getattr(self, name) for name in self.__slots__}

    def replace(self, **changes: Any) -> Options:
        """Return a copy with some options changed."""
        return Options(**{**self.as_dict(), **changes})

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("options are immutable; use replace() to get a changed copy")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("options are immutable; use replace() to get a changed copy")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Options):
            return NotImplemented
        return self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        return hash(tuple(self.as_dict().values()))

    def __repr__(self) -> str:
        default = DEFAULTS.as_dict()
        changed = {name: value for name, value in self.as_dict().items() if value != default[name]}
        return f"Options({', '.join(f'{name}={value!r}' for name, value in changed.items())})"

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (self.as_dict(),)


def _restore(options: dict[str, Any]) -> Options:
    return Options(**options)


DEFAULTS: Final = Options()
UNLIMITED_OPTIONS: Final = Options(
    max_depth=None,
    max_chars=None,
    max_string=None,
    max_key=None,
    max_path=None,
    max_number=None,
    surrogates="keep",
)
"""Options for text that the library wrote or read before: no limits, and every string comes back unchanged."""


def chosen_options(options: object) -> Options:
    """Return the given options, or the defaults for None. Raise `OptionsError` for anything else."""
    if options is None:
        return DEFAULTS
    if not isinstance(options, Options):
        raise OptionsError(f"options must be Options or None, not {type(options).__name__}")
    return options


def loaded_options(data: object, cap: Options | None) -> Options:
    """Return the options of a dump. Raise `StateError` for invalid ones, and for limits larger than those of `cap`."""
    check(type(data) is dict, "options that are not an object")
    try:
        options = Options(**data)  # type: ignore[arg-type]
    except (OptionsError, TypeError) as wrong:
        raise StateError(f"invalid state dump: {wrong}") from None
    for name in LIMITS if cap is not None else ():
        limit, most = getattr(options, name), getattr(cap, name)
        check(most is None or (limit is not None and limit <= most), f"its {name} is larger than {most}")
    return options

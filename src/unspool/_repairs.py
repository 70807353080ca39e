"""`Repair`: one change that the parser made to a broken text, and `RepairCode`, the kinds of changes."""

from __future__ import annotations

from collections import namedtuple
from enum import StrEnum

from ._native import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple

    from ._errors import Position
    from ._path import Path

    class RepairFields(NamedTuple):
        """The fields of `Repair`."""

        code: RepairCode
        position: Position
        length: int
        path: Path
else:
    RepairFields = namedtuple("RepairFields", ("code", "position", "length", "path"))

__all__ = ["REPAIR_SENTENCES", "Repair", "RepairCode"]


class RepairCode(StrEnum):
    """The kinds of repairs. The set is closed, so programs can match on it."""

    COMMENT = "comment"
    TRAILING_COMMA = "trailing_comma"
    EXTRA_COMMA = "extra_comma"
    SINGLE_QUOTES = "single_quotes"
    ODD_QUOTES = "odd_quotes"
    TRIPLE_QUOTES = "triple_quotes"
    UNQUOTED_KEY = "unquoted_key"
    LITERAL_SPELLING = "literal_spelling"
    NUMBER_SPELLING = "number_spelling"
    CONTROL_CHARACTER = "control_character"
    INVALID_ESCAPE = "invalid_escape"
    ODD_SPACE = "odd_space"
    ODD_PUNCTUATION = "odd_punctuation"
    COLON_SPELLING = "colon_spelling"
    # From here on: guesses.
    UNESCAPED_QUOTE = "unescaped_quote"
    MISSING_QUOTE = "missing_quote"
    UNQUOTED_STRING = "unquoted_string"
    MISSING_COMMA = "missing_comma"
    MISSING_COLON = "missing_colon"
    MISSING_VALUE = "missing_value"
    MISSING_CLOSE = "missing_close"
    WRONG_CLOSE = "wrong_close"
    EXTRA_CLOSE = "extra_close"
    ELLIPSIS = "ellipsis"
    NOT_A_NUMBER = "not_a_number"
    CONCATENATION = "concatenation"
    LATEX = "latex"
    TRUNCATED = "truncated"


REPAIR_SENTENCES: dict[RepairCode, str] = {
    RepairCode.COMMENT: "a comment was left out",
    RepairCode.TRAILING_COMMA: "a comma before a closing bracket was left out",
    RepairCode.EXTRA_COMMA: "a comma too many was left out",
    RepairCode.SINGLE_QUOTES: "single quotes were read as double quotes",
    RepairCode.ODD_QUOTES: "curly quotes or backticks were read as double quotes",
    RepairCode.TRIPLE_QUOTES: "triple quotes were read as double quotes",
    RepairCode.UNQUOTED_KEY: "a key without quotes was read as a key",
    RepairCode.LITERAL_SPELLING: "another spelling of true, false or null was read",
    RepairCode.NUMBER_SPELLING: "another spelling of a number was read",
    RepairCode.CONTROL_CHARACTER: "a raw control character in a string was kept",
    RepairCode.INVALID_ESCAPE: "an unknown escape was read as the text that is written",
    RepairCode.ODD_SPACE: "an unusual space was read as a space",
    RepairCode.ODD_PUNCTUATION: "wide punctuation was read as its ASCII form",
    RepairCode.COLON_SPELLING: "another sign was read as the colon",
    RepairCode.UNESCAPED_QUOTE: "a quote inside a string was kept as text",
    RepairCode.MISSING_QUOTE: "a missing quote was put in",
    RepairCode.UNQUOTED_STRING: "text without quotes was read as a string",
    RepairCode.MISSING_COMMA: "a missing comma was put in",
    RepairCode.MISSING_COLON: "a missing colon was put in",
    RepairCode.MISSING_VALUE: "null was put in for a missing value",
    RepairCode.MISSING_CLOSE: "missing closing brackets were put in",
    RepairCode.WRONG_CLOSE: "a closing bracket was read as the other kind",
    RepairCode.EXTRA_CLOSE: "a closing bracket too many was left out",
    RepairCode.ELLIPSIS: "an ellipsis was left out",
    RepairCode.NOT_A_NUMBER: "null was put in for a number that JSON does not have",
    RepairCode.CONCATENATION: "strings joined by a plus sign were read as one",
    RepairCode.LATEX: "an escape before a letter was read as a backslash",
    RepairCode.TRUNCATED: "the text ended too early and was closed",
}

GUESSES = frozenset(list(RepairCode)[list(RepairCode).index(RepairCode.UNESCAPED_QUOTE) :])


class Repair(RepairFields):
    """One repair: what it was, where it was, and how many characters stood there (0 if something was put in).

    `position` is that in the text as it came, and `path` the place in the value. The last repair of a list may still
    change while its token is open: a comment grows, for example.

    >>> from unspool import Options, ValueParser
    >>> parser = ValueParser(Options(repair="spelling"))
    >>> parser.feed("{'n': True}")
    >>> [(repair.code.value, repair.position.offset, repair.is_guess) for repair in parser.repairs]
    [('single_quotes', 1, False), ('literal_spelling', 6, False)]
    """

    __slots__ = ()

    @property
    def is_guess(self) -> bool:
        """The text could have been meant in another way: something was put in, left out, or an end was chosen."""
        return self.code in GUESSES

    def __str__(self) -> str:
        from ._errors import shown_path

        line, column = self.position.line, self.position.column
        offset = self.position.offset
        place = f"line {line}, column {column} (offset {offset}), in {shown_path(self.path)}"
        return f"{REPAIR_SENTENCES[self.code]}: {place}"


for _name in (Repair, RepairCode):
    _name.__module__ = "unspool"
del _name

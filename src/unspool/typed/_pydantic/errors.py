"""What pydantic finds wrong, as problems: where, pydantic's own name for it, and what was expected.

Pydantic's sentences hold the limits of the type, which may be told, but some also quote what was written, or what a
validator of the user's said of it. Those are cut short or replaced: a problem never quotes the text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, get_args

from pydantic_core import core_schema

from ..._path import ROOT, Path
from .._shape import Problem, ShapeError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails, ValidationError

    from ..._path import Step
    from ..._tree.nodes import Node

__all__ = ["shape_error"]

LONGEST_EXPECTED: Final = 200
KNOWN: Final[frozenset[str]] = frozenset(get_args(core_schema.ErrorType))
# These end with a reason, which may quote.
REASONED: Final = frozenset(
    {
        "date_parsing",
        "date_from_datetime_parsing",
        "datetime_parsing",
        "datetime_from_date_parsing",
        "time_parsing",
        "time_delta_parsing",
        "url_parsing",
        "url_syntax_violation",
        "uuid_parsing",
        "too_long",
        "too_short",
    }
)
WORDS: Final = {
    "missing": "a required key",
    "missing_argument": "a required item",
    "missing_keyword_only_argument": "a required key",
    "extra_forbidden": "no such key",
    "unexpected_keyword_argument": "no such key",
    "unexpected_positional_argument": "no such item",
    "union_tag_invalid": "a known tag",
    "union_tag_not_found": "a tag that tells which it is",
    "json_invalid": "text that is JSON",
    "bytes_invalid_encoding": "text that encodes bytes",
    "value_error": "what its validator accepts",
    "assertion_error": "what its validator accepts",
    "get_attribute_error": "an object",
    "iteration_error": "an array",
    "mapping_type": "an object",
    "timezone_offset": "another time zone",
}
ABSENT: Final = frozenset({"missing", "missing_argument", "missing_keyword_only_argument"})
OPENING = re.compile(r"^\w+(?: input| items)? should (?:be )?")


def shape_error(error: ValidationError, node: Node | None = None) -> ShapeError:
    """The problems of a value; of `node`, where the value was judged as it was written."""
    details = error.errors(include_url=False, include_context=False, include_input=False)
    return ShapeError([Problem(_path(one, node), one["type"], expected(one["type"], one["msg"])) for one in details])


def expected(code: str, message: str) -> str:
    """What was expected, in words."""
    words = WORDS.get(code)
    if words is not None:
        return words
    if code not in KNOWN:
        return "what its validator accepts"  # only the user knows what this one says
    if code in REASONED:
        message = message.split(", ", 1)[0]
    message = OPENING.sub("", message)
    return message if len(message) <= LONGEST_EXPECTED else message[: LONGEST_EXPECTED - 3] + "..."


def _path(one: ErrorDetails, node: Node | None) -> Path:
    """Where it is. Pydantic's own places also name branches of unions and functions, which are in no document."""
    path = ROOT
    if node is None:
        # The values of the container were made before, so whatever is wrong is at most one step away.
        return Path(path, one["loc"][0]) if one["loc"] else path
    missing: Step | None = None
    for step in one["loc"]:
        child = node.child_at(step)
        missing = step if child is None else None
        if child is not None:
            path, node = Path(path, step), child
    return path if missing is None or one["type"] not in ABSENT else Path(path, missing)

"""The signs by which JSON, and the fences around it, are told from prose. Each question may need more text."""

# Compiled with mypyc.
from __future__ import annotations

from string import ascii_letters, digits
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .._native import i64

# Where we are in the line. What looks like JSON at its head may be prose in the middle of it.
LINE_START: Final = 0  # the line may be a fence line
HEAD: Final = 1  # it is not, and there were only blanks so far
INLINE: Final = 2
AFTER_WORD: Final = 3  # a bracket here is an index: row["name"]
FENCED: Final = 4  # at the first thing in a block

# Whether something is what it looks like.
UNDECIDED: Final = -1  # more text will tell
NO: Final = -2
YES: Final = -3

FARTHEST: Final = 128
"""How many characters are held back, at most, until it is clear whether a bracket is JSON or prose."""
SPACE: Final = " \t\n\r"
IN_NUMBERS: Final = digits + "+-.eE"
IN_WORDS: Final = digits + "+-." + ascii_letters


def find_marker(text: str, start: i64, fence: str, size: i64, is_last: bool) -> i64:
    """Where in the line at `start` the marker of a fence is: of any one, or of one that ends the block of `fence`."""
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


def judge(text: str, start: i64, place: i64, is_last: bool) -> i64:
    """Whether a value begins at `start`.

    Brackets are JSON wherever they stand if a string comes first in them, or a number or a literal and a comma.
    Around nothing, or around one number or literal, they are often something else (a placeholder, a check box,
    a footnote): outside of a block they must be alone on their line. In a block a scalar is a value, too.
    """
    rest = text[start : start + FARTHEST]
    if place == AFTER_WORD and rest[0] == "[":
        return NO
    unclear: i64 = NO if is_last or len(rest) == FARTHEST else UNDECIDED
    closing = ""
    while rest[:1] == "[":
        closing += "]"
        if len(closing) == 3:
            return YES
        rest = rest[1:].lstrip(SPACE)
    if rest[:1] == "{":
        closing = "}" + closing
        rest = rest[1:].lstrip(SPACE)
    if rest[:1] == '"':
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
    """A literal or a number, as far as that matters here."""
    if word in ("true", "false", "null"):
        return True
    if word.strip(IN_NUMBERS) or word[0] in "+." or word[-1] not in digits:
        return False
    try:
        float(word)
    except ValueError:
        return False
    return True

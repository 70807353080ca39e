"""Where a string ends, and what follows a comma: looking ahead in text that may be broken.

Every function here is stateless. It looks at ``text[i:end]`` and answers YES, NO or UNDECIDED. The caller bounds how
far it may look, and passes `out`: the answer where the text that may be seen is over. That is UNDECIDED while more
text can come.

A quote ends a string if what follows can only follow a value. In JSON the end of a member's string is followed by a
closing bracket, or by a comma, a whole key and its colon. So JSON always gets the answer YES.
"""

# Compiled with mypyc.
from __future__ import annotations

from .._grammar.scan import space_run
from .._native import TYPE_CHECKING
from .spelling import (
    JSON_ATOM,
    NO_QUOTE,
    OTHER,
    atom_kind,
    atom_run,
    closes,
    is_blank,
    is_odd_space,
    is_word,
    narrow,
    quote_kind,
)

if TYPE_CHECKING:
    from typing import Final

    from .._grammar.reader import Frame
    from .._native import i64

UNDECIDED: Final = -1
NO: Final = 0
YES: Final = 1
JOINS: Final = 2  # a plus sign and another string follow

FARTHEST: Final = 256
"""The most characters that the stage looks ahead. Where they do not decide, JSON's reading wins."""
LONGEST_KEY: Final = 64
"""The longest key that is recognized where JSON has none."""


def blank_run(text: str, start: i64, end: i64) -> i64:
    """Return the end of the white space at `start`, with spaces that JSON does not have."""
    i = space_run(text, start, end)
    while i < end and is_odd_space(ord(text[i])):
        i = space_run(text, i + 1, end)
    return i


def has_line_break(text: str, start: i64, end: i64) -> bool:
    """Tell whether a new line begins between `start` and `end`."""
    return text.find("\n", start, end) >= 0


def is_colon(c: i64) -> bool:
    """Tell whether this character may follow a key."""
    return c == 0x3A or c == 0xFF1A or c == 0x3D  # : =


def is_comment(text: str, i: i64, end: i64, out: i64) -> i64:
    """Tell whether a comment begins at `i`."""
    c: i64 = ord(text[i])
    if c == 0x23:  # #
        return YES
    if c != 0x2F:  # /
        return NO
    if i + 1 == end:
        return NO if out != UNDECIDED else UNDECIDED
    c = ord(text[i + 1])
    return YES if c == 0x2F or c == 0x2A else NO  # / *


def is_comment_behind(text: str, start: i64, i: i64, end: i64, out: i64) -> i64:
    """Tell whether a comment begins at `i`, behind a quote that ends at `start`. A # that touches the quote is text."""
    if ord(text[i]) == 0x23:  # #
        return YES if i > start else NO
    return is_comment(text, i, end, out)


def quoted_key_follows(text: str, i: i64, end: i64, out: i64) -> i64:
    """Tell whether the quote at `i` opens a key with its colon. The key may contain quotes or line breaks, not both."""
    style = quote_kind(ord(text[i]))
    broke = False
    is_first = True  # no quote yet
    at = i + 1
    while at < end:
        c: i64 = ord(text[at])
        if c == 0x5C:  # \
            at += 2
            continue
        if c == 0x0A:  # LF
            if not is_first:
                return NO
            broke = True
        if closes(style, c):
            after = blank_run(text, at + 1, end)
            if after >= end:
                return out
            c = narrow(ord(text[after]))
            if is_colon(c):
                return YES
            answer = is_comment_behind(text, at + 1, after, end, out) if is_first else NO
            if answer != NO:
                return answer
            if c == 0x2C or c == 0x7D or c == 0x5D or broke:  # , } ]
                return NO
            is_first = False
            if out == YES:
                out = NO  # this is not JSON any more
        at += 1
    return out


def key_run(text: str, start: i64, end: i64) -> i64:
    """Return the end of the words that a key without its quotes may have at `start`, with escapes."""
    at = start
    while at < end:
        if text[at] == "\\":
            at += 2
        elif is_word(text[at]) or text[at] in "- ./":
            at += 1
        else:
            return at
    return end


def bare_key_follows(text: str, i: i64, end: i64, out: i64) -> i64:
    """Tell whether a word and a colon are at `i`."""
    at = i
    while at < end and at - i <= LONGEST_KEY and (is_word(text[at]) or text[at] == "-"):
        at += 1
    if at == i or at - i > LONGEST_KEY:
        return NO
    after = space_run(text, at, end)
    if after == end:
        return UNDECIDED if out == UNDECIDED else NO
    c = narrow(ord(text[after]))
    if c == 0x22 and at == after:  # " as in  key": 1
        after = space_run(text, at + 1, end)
        if after == end:
            return UNDECIDED if out == UNDECIDED else NO
        c = narrow(ord(text[after]))
    return YES if c == 0x3A else NO


def dots_at(text: str, i: i64, end: i64, out: i64) -> i64:
    """Tell whether an ellipsis is at `i`."""
    if text[i] == "…":
        return YES
    if text[i] != ".":
        return NO
    dots = text[i : min(i + 3, end)]
    if dots == "...":
        return YES
    return UNDECIDED if out == UNDECIDED and dots == "." * len(dots) else NO


def member_follows(text: str, i: i64, end: i64, out: i64, bare: bool, in_array: bool) -> i64:
    """Tell whether the text behind a comma goes on with the next member of an object, or with its end."""
    at = blank_run(text, i, end)
    if at == end:
        return out
    c = narrow(ord(text[at]))
    if quote_kind(c) != NO_QUOTE:
        return quoted_key_follows(text, at, end, out)
    if c == 0x7D or c == 0x2C:  # } ,
        return YES
    if c == 0x7B:  # {
        return YES if in_array else NO
    answer = is_comment(text, at, end, out)
    if answer == NO:
        answer = dots_at(text, at, end, out)
    if answer == NO and bare:
        answer = bare_key_follows(text, at, end, out)
    return answer


def item_follows(text: str, i: i64, end: i64, out: i64, bare: bool, inner: bool) -> i64:
    """Tell whether the text behind a comma goes on with the next item of an array, or with its end."""
    at = blank_run(text, i, end)
    if at == end:
        return out
    c = narrow(ord(text[at]))
    if quote_kind(c) != NO_QUOTE:
        return quoted_item_follows(text, at, end, out) if inner else YES
    if c == 0x7B or c == 0x5B or c == 0x5D or c == 0x2C:  # { [ ] ,
        return YES
    answer = is_comment(text, at, end, out)
    if answer == NO:
        answer = dots_at(text, at, end, out)
    if answer != NO:
        return answer
    stop = atom_run(text, at, end)
    if stop == at:
        return NO
    after = blank_run(text, stop, end)
    if after == end:
        return out
    c = narrow(ord(text[after]))
    is_known = atom_kind(text[at:stop]) != OTHER
    # Behind a string without inner quotes, the item may be followed by another fault: no comma, or the wrong bracket.
    is_faulty = is_known and not inner and (c == 0x7D or has_line_break(text, stop, after))  # }
    if c != 0x2C and c != 0x5D and not is_faulty:  # , ]
        answer = is_comment(text, after, end, out)
        if answer != YES:
            return answer
    return YES if bare or is_known else NO


def quoted_item_follows(text: str, i: i64, end: i64, out: i64) -> i64:
    """Tell whether a whole string is at `i`: the next quote of its kind is followed by a comma or a bracket."""
    style = quote_kind(ord(text[i]))
    at = i + 1
    while at < end:
        c: i64 = ord(text[at])
        if c == 0x5C:  # \
            at += 2
            continue
        if closes(style, c):
            after = blank_run(text, at + 1, end)
            if after >= end:
                return out
            c = narrow(ord(text[after]))
            return YES if c == 0x2C or c == 0x5D else NO  # , ]
        at += 1
    return out


def string_ends(
    text: str,
    i: i64,
    end: i64,
    out: i64,
    in_object: bool,
    in_array_outside: bool,
    inner: bool,
    brackets: i64,
    bare: bool,
    is_last: bool,
) -> i64:
    """Tell whether the quote before `i` ends a string in a container.

    `inner`: a quote in this string was taken for text before. `brackets`: how many brackets the string opened and did
    not close. With both, it carries code or JSON, so commas and brackets belong to it.
    """
    at = blank_run(text, i, end)
    if at == end:
        return out
    c = narrow(ord(text[at]))
    is_embedded = inner and brackets > 0
    close: i64 = 0x7D if in_object else 0x5D
    if c == 0x7D or c == 0x5D:  # } ]
        if is_embedded or (c != close and brackets > 0):
            return only_closes(text, at, end, out, is_last)
        return YES
    if c == 0x3A:  # :
        return NO if inner else YES
    if c == 0x2C:  # ,
        is_next_line = inner and has_line_break(text, at, blank_run(text, at + 1, end))
        bare = bare or not inner or is_next_line
        answer: i64
        if in_object:
            answer = member_follows(text, at + 1, end, out, bare, in_array_outside)
            if answer == NO and not inner:
                answer = faulty_key_follows(text, at + 1, end, out)
        else:
            answer = item_follows(text, at + 1, end, out, bare, inner)
        return NO if answer == YES and is_embedded and not is_next_line else answer
    broke = has_line_break(text, i, at)
    answer = is_comment_behind(text, i, at, end, out)
    if answer != NO:
        return answer
    if quote_kind(c) != NO_QUOTE:
        if in_object:
            return NO if is_embedded and not broke else word_key_follows(text, at, end, out)
        if at + 1 == end:
            return out
        if at > i and not inner and closes(quote_kind(c), ord(text[at + 1])):
            return empty_item_follows(text, at + 2, end, out)
        return YES if at > i and (is_word(text[at + 1]) or (broke and not inner)) else NO
    if not in_object and not inner and at > i and is_word(text[at]):
        return word_ends_array_line(text, at, end, out)
    if c == 0x2B and not inner:  # +
        after = blank_run(text, at + 1, end)
        if after == end:
            return out if out == UNDECIDED else NO
        return JOINS if quote_kind(ord(text[after])) != NO_QUOTE else NO
    if broke and not inner and in_object:
        return bare_key_follows(text, at, end, out)
    if not in_object and not inner and at > i:
        return YES if c == 0x7B or c == 0x5B else NO  # { [
    return NO


def word_ends_array_line(text: str, i: i64, end: i64, out: i64) -> i64:
    """Tell whether one word is at `i`, followed by the end of the line or of the array; or a number and a comma."""
    at = atom_run(text, i, end)
    after = space_run(text, at, end)
    if has_line_break(text, at, after):
        return YES
    if after == end:
        return UNDECIDED if out == UNDECIDED else NO
    if text[after] == ",":
        return YES if atom_kind(text[i:at]) == JSON_ATOM else NO
    return YES if text[after] == "]" else NO


def empty_item_follows(text: str, i: i64, end: i64, out: i64) -> i64:
    """Tell whether the two quotes before `i` are an item of an array: a comma follows, or the bracket."""
    at = blank_run(text, i, end)
    if at == end:
        return out
    c = narrow(ord(text[at]))
    return YES if c == 0x2C or c == 0x5D else NO  # , ]


def faulty_key_follows(text: str, i: i64, end: i64, out: i64) -> i64:
    """Tell whether a key of a few words is at `i` that lacks its last quote or its colon, but not its value."""
    start = blank_run(text, i, end)
    if start == end:
        return out
    style = quote_kind(ord(text[start]))
    if style == NO_QUOTE:
        return NO
    at = key_run(text, start + 1, min(end, start + 1 + LONGEST_KEY))
    if at == end:
        return out
    if at == start + 1:
        return NO
    if ord(text[at]) == 0x3A:  # :
        return key_was_not_closed(text, at + 1, end, out, style)
    if not closes(style, ord(text[at])):
        return NO
    after = blank_run(text, at + 1, end)
    if after == end:
        return out
    c: i64 = ord(text[after])
    return YES if quote_kind(c) == style or c == 0x7B or c == 0x5B else NO  # { [


def word_key_follows(text: str, i: i64, end: i64, out: i64) -> i64:
    """Tell whether a key of one or a few words, its quotes and its colon are at `i`, without a comma before."""
    style = quote_kind(ord(text[i]))
    at = key_run(text, i + 1, min(end, i + 1 + LONGEST_KEY))
    if at == end:
        return out if out != YES else NO
    if at == i + 1 or not closes(style, ord(text[at])):
        return NO
    after = blank_run(text, at + 1, end)
    if after == end:
        return out
    return YES if is_colon(narrow(ord(text[after]))) else NO


def only_closes(text: str, i: i64, end: i64, out: i64, is_last: bool) -> i64:
    """Tell whether nothing but closing brackets and white space comes any more."""
    at = i
    while at < end:
        c = narrow(ord(text[at]))
        if c != 0x7D and c != 0x5D and not is_blank(c):  # } ]
            return NO
        at += 1
    return YES if is_last else out if out == UNDECIDED else NO


def quote_is_missing(text: str, i: i64, end: i64, out: i64, style: i64, in_object: bool, next_line: bool) -> i64:
    """Tell whether the string should have ended before the comma at `i`: a key and its colon follow, or an item.

    `next_line`: the item must be on a new line, which no string of JSON contains.

    The key begins with a letter or digit right behind its quote. In JSON a quote in this place ends the string, and no
    letter can follow.
    """
    at = blank_run(text, i + 1, end)
    far = NO if out == YES else out
    if at == end:
        return far
    if not closes(style, ord(text[at])):
        return NO
    first = at + 1
    if first == end:
        return far
    if not is_word(text[first]):
        return NO
    if not in_object:
        if not next_line:
            return YES
        return quoted_item_follows(text, at, end, far) if has_line_break(text, i, at) else NO
    stop = min(end, first + LONGEST_KEY)
    k = key_run(text, first, stop)
    if k == end:
        return far
    if k == stop or not closes(style, ord(text[k])):
        return NO
    after = blank_run(text, k + 1, end)
    if after == end:
        return far
    return YES if is_colon(narrow(ord(text[after]))) else NO


def key_ends(text: str, i: i64, end: i64, out: i64, style: i64) -> i64:
    """Tell whether the quote before `i` ends a key: a colon follows, or nothing that belongs to a key."""
    at = blank_run(text, i, end)
    if at == end:
        return out
    if is_colon(narrow(ord(text[at]))):
        return YES
    answer = is_comment_behind(text, i, at, end, out)
    if answer != NO:
        return answer
    # Another quote on this line that a colon follows ends the key, if only plain text lies between.
    while at < end:
        c = narrow(ord(text[at]))
        if c == 0x0A or c == 0x2C or c == 0x7B or c == 0x7D or c == 0x5B or c == 0x5D or c == 0x3A:  # , { } [ ] :
            return YES
        if closes(style, c):
            after = blank_run(text, at + 1, end)
            if after == end:
                return out
            if is_colon(narrow(ord(text[after]))):
                return NO
        at += 1
    return out


def key_was_not_closed(text: str, i: i64, end: i64, out: i64, style: i64) -> i64:
    """Tell whether the colon before `i` follows a key without its last quote: a value begins, and no key ends."""
    at = blank_run(text, i, end)
    if at == end:
        return out
    c: i64 = ord(text[at])
    if c == 0x74 or c == 0x6E or c == 0x66:  # t n f
        word = text[at : min(at + 4, end)]
        if word not in ("true", "null", "fals"):
            is_cut = len(word) < 4 and ("true".startswith(word) or "null".startswith(word) or "fals".startswith(word))
            return out if is_cut else NO
    elif not (closes(style, c) or c == 0x7B or c == 0x5B or c == 0x2D or 0x30 <= c <= 0x39):  # { [ - 0 to 9
        return NO
    while at < end:
        c = ord(text[at])
        if c == 0x5C:  # \
            return NO
        if closes(style, c):
            after = blank_run(text, at + 1, end)
            if after == end:
                return out
            if is_colon(narrow(ord(text[after]))):
                return NO
            answer = is_comment_behind(text, at + 1, after, end, out)
            return NO if answer == YES else UNDECIDED if answer == UNDECIDED else YES
        at += 1
    return out


def member_key_at(text: str, i: i64, end: i64, out: i64, only_words: bool) -> i64:
    """Tell whether a whole key and its colon are at `i`: its first quote of the same kind is followed by a colon.

    `only_words`: the key is one word, so that the beginning of other text decides at its first blank.
    """
    style = quote_kind(ord(text[i]))
    at = i + 1
    while at < end:
        c: i64 = ord(text[at])
        if c == 0x0A:  # LF
            return NO
        if c == 0x5C:  # \
            at += 2
            continue
        if closes(style, c):
            after = blank_run(text, at + 1, end)
            if after == end:
                return out
            return YES if narrow(ord(text[after])) == 0x3A else NO
        if only_words and not is_word(text[at]) and text[at] not in "-./":
            return NO
        at += 1
    return out


def array_was_not_closed(text: str, i: i64, end: i64, out: i64) -> i64:
    """Tell whether a key follows the comma before `i`, where an array should have an item."""
    at = blank_run(text, i, end)
    if at == end:
        return out
    return member_key_at(text, at, end, out, False) if quote_kind(ord(text[at])) != NO_QUOTE else NO


def fits(frame: Frame | None, text: str, i: i64, end: i64, out: i64, is_last: bool) -> i64:
    """Tell whether the text at `i` can go on in this container: its brackets close, and what follows belongs there."""
    at = i
    while True:
        at = blank_run(text, at, end)
        if at == end:
            return (YES if frame is None else NO) if is_last else out
        c = narrow(ord(text[at]))
        if frame is None:
            return NO
        if c == 0x7D or c == 0x5D:  # } ]
            if frame.is_object != (c == 0x7D):
                return NO
            frame = frame.parent
            at += 1
            continue
        if c != 0x2C:  # ,
            return NO
        at = blank_run(text, at + 1, end)
        if at == end:
            return YES if is_last else out
        c = narrow(ord(text[at]))
        if frame.is_object:
            return member_follows(text, at, end, out, True, False)
        if quote_kind(c) != NO_QUOTE:
            answer = member_key_at(text, at, end, out, False)
            return NO if answer == YES else UNDECIDED if answer == UNDECIDED else YES
        return item_follows(text, at, end, out, False, False)

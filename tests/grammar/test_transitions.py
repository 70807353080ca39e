"""The transition table: every mode, every class of character, and what comes of it. A pair that is missing fails.

A row is reached by a text; it says for each character which mode it leads to, or which error it is.
"""

from __future__ import annotations

from typing import Any

import pytest

from unspool import Code, Options
from unspool._grammar import reader as modes
from unspool._grammar.reader import Dialect, Reader
from unspool._grammar.sink import EventList

CLASSES = ' \n{}[],:;"\\/-+.019eEtfnuadgG\x01\x7fé'  # one or two of each class; 1 and 9 end a range, so does a

WRONG = Code.UNEXPECTED_CHARACTER
NUMBER = Code.INVALID_NUMBER
ESCAPE = Code.INVALID_ESCAPE
TRAILING = Code.TRAILING_TEXT
CONTROL = Code.CONTROL_CHARACTER
VALUES = {
    "{": "KEY_OR_CLOSE",
    "[": "VALUE_OR_CLOSE",
    '"': "STRING",
    "-": "MINUS",
    "0": "ZERO",
    "19": "INTEGER",
    "tfn": "LITERAL",
}

Row = tuple[str, dict[str, Any], dict[str, str | Code]]  # the text that leads there, options, what comes of each


def then(*groups: dict[str, Any], otherwise: str | Code) -> dict[str, Any]:
    """One row: the groups of characters, and one outcome for all that are in none of them."""
    row: dict[str, Any] = {char: outcome for group in groups for chars, outcome in group.items() for char in chars}
    return {char: row.get(char, otherwise) for char in CLASSES}


def number(digits: str, more: dict[str, str], *, after: str) -> dict[str, Any]:
    """A number: digits stay in `digits`, `more` leads on, and what else comes belongs to what is after it."""
    closing: dict[str, Any] = {" \n": after, ",": "VALUE", "]": "END"} if after == "AFTER_ITEM" else {" \n": "END"}
    return then(
        {"019": digits} if digits else {}, more, closing, otherwise=WRONG if after == "AFTER_ITEM" else TRAILING
    )


TABLE: dict[str, list[Row]] = {
    "VALUE": [
        ("", {}, then(VALUES, {" \n": "VALUE"}, otherwise=WRONG)),
        ('{"a":', {}, then(VALUES, {" \n": "VALUE"}, otherwise=WRONG)),
        ("[1,", {}, then(VALUES, {" \n": "VALUE"}, otherwise=WRONG)),
    ],
    "VALUE_OR_CLOSE": [
        ("[", {}, then(VALUES, {" \n": "VALUE_OR_CLOSE", "]": "END"}, otherwise=WRONG)),
        ("[1,", {"trailing_commas": True}, then(VALUES, {" \n": "VALUE_OR_CLOSE", "]": "END"}, otherwise=WRONG)),
    ],
    "KEY": [('{"a":1,', {}, then({" \n": "KEY", '"': "KEY_STRING"}, otherwise=WRONG))],
    "KEY_OR_CLOSE": [
        ("{", {}, then({" \n": "KEY_OR_CLOSE", '"': "KEY_STRING", "}": "END"}, otherwise=WRONG)),
        (
            '{"a":1,',
            {"trailing_commas": True},
            then({" \n": "KEY_OR_CLOSE", '"': "KEY_STRING", "}": "END"}, otherwise=WRONG),
        ),
    ],
    "COLON": [('{"a"', {}, then({" \n": "COLON", ":": "VALUE"}, otherwise=WRONG))],
    "AFTER_ITEM": [("[1 ", {}, then({" \n": "AFTER_ITEM", ",": "VALUE", "]": "END"}, otherwise=WRONG))],
    "AFTER_MEMBER": [('{"a":""', {}, then({" \n": "AFTER_MEMBER", ",": "KEY", "}": "END"}, otherwise=WRONG))],
    "BETWEEN": [
        ("", {"multiple": True}, then(VALUES, {" \n": "BETWEEN"}, otherwise=WRONG)),
        ("{}", {"multiple": True}, then(VALUES, {" \n": "BETWEEN"}, otherwise=WRONG)),
    ],
    "END": [("{}", {}, then({" \n": "END"}, otherwise=TRAILING))],
    "STRING": [
        ('"', {}, then({'"': "END", "\n\x01": CONTROL}, otherwise="STRING")),
        ('"\\', {}, then({'"\\/fntu': "STRING"}, otherwise=ESCAPE)),
        ('"\\u00', {}, then({"019eEfad": "STRING"}, otherwise=ESCAPE)),
        ('"\\ud83d', {}, then({'"': "END", "\n\x01": CONTROL}, otherwise="STRING")),
        ('"\\ud83d', {"surrogates": "error"}, then({"\\": "STRING"}, otherwise=Code.LONE_SURROGATE)),
    ],
    "KEY_STRING": [
        ('{"', {}, then({'"': "COLON", "\n\x01": CONTROL}, otherwise="KEY_STRING")),
        ('{"\\', {}, then({'"\\/fntu': "KEY_STRING"}, otherwise=ESCAPE)),
    ],
    "LITERAL": [
        ("t", {}, then(otherwise=Code.INVALID_LITERAL)),
        ("tr", {}, then({"u": "LITERAL"}, otherwise=Code.INVALID_LITERAL)),
        ("[tru", {}, then({"e": "AFTER_ITEM"}, otherwise=Code.INVALID_LITERAL)),
    ],
    "MINUS": [("-", {}, then({"0": "ZERO", "19": "INTEGER"}, otherwise=NUMBER))],
    "ZERO": [
        ("0", {}, number("", {".": "POINT", "eE": "EXPONENT_MARK"}, after="END")),
        ("[-0", {}, number("", {".": "POINT", "eE": "EXPONENT_MARK"}, after="AFTER_ITEM")),
    ],
    "INTEGER": [
        ("1", {}, number("INTEGER", {".": "POINT", "eE": "EXPONENT_MARK"}, after="END")),
        ("[19", {}, number("INTEGER", {".": "POINT", "eE": "EXPONENT_MARK"}, after="AFTER_ITEM")),
    ],
    "POINT": [("[0.", {}, then({"019": "FRACTION"}, otherwise=NUMBER))],
    "FRACTION": [
        ("0.5", {}, number("FRACTION", {"eE": "EXPONENT_MARK"}, after="END")),
        ("[0.5", {}, number("FRACTION", {"eE": "EXPONENT_MARK"}, after="AFTER_ITEM")),
    ],
    "EXPONENT_MARK": [("[1e", {}, then({"-+": "EXPONENT_SIGN", "019": "EXPONENT"}, otherwise=NUMBER))],
    "EXPONENT_SIGN": [("[1e-", {}, then({"019": "EXPONENT"}, otherwise=NUMBER))],
    "EXPONENT": [
        ("1e5", {}, number("EXPONENT", {}, after="END")),
        ("[1E+5", {}, number("EXPONENT", {}, after="AFTER_ITEM")),
    ],
    "SKIP": [
        ("[x", {"on_error": "skip"}, then({",": "VALUE", "]": "END", '"': "SKIP_STRING"}, otherwise="SKIP")),
        ('{"a"x', {"on_error": "skip"}, then({",": "KEY", "}": "END", '"': "SKIP_STRING"}, otherwise="SKIP")),
        ("[x[", {"on_error": "skip"}, then({'"': "SKIP_STRING"}, otherwise="SKIP")),
    ],
    "SKIP_STRING": [('[x"', {"on_error": "skip"}, then({'"': "SKIP", "\\": "SKIP_ESCAPE"}, otherwise="SKIP_STRING"))],
    "SKIP_ESCAPE": [('[x"\\', {"on_error": "skip"}, then(otherwise="SKIP_STRING"))],
    "SKIP_LINE": [("x", {"on_error": "skip", "multiple": True}, then({"\n": "BETWEEN"}, otherwise="SKIP_LINE"))],
    "IGNORE": [("{}", {"trailing": "ignore"}, then(otherwise="IGNORE"))],
    "FAILED": [("x", {}, then(otherwise="FAILED"))],
}

NAMES = modes.NAMES
ROWS = [(mode, *row) for mode, rows in TABLE.items() for row in rows]


def test_every_mode_has_a_row() -> None:
    """No mode is without a row, and no row without a mode."""
    assert set(TABLE) == set(NAMES.values())
    assert set(modes.EXPECTED) == set(NAMES)


@pytest.mark.parametrize(("mode", "text", "options", "row"), ROWS)
def test_transitions(mode: str, text: str, options: dict[str, Any], row: dict[str, str | Code]) -> None:
    """From this mode each character leads where its row says, and an error leaves nothing but FAILED behind."""
    assert set(row) == set(CLASSES)
    for character, outcome in row.items():
        reader, sink = Reader(Dialect(Options(**options))), EventList()
        reader.feed(text, sink)
        assert NAMES[reader.mode] == mode
        errors_before = len(sink.errors)
        reader.feed(character, sink)
        errors = sink.errors[errors_before:]
        if isinstance(outcome, Code):
            assert [error.code for error in errors] == [outcome], repr(character)
            assert errors[0].offset == len(text)
            assert NAMES[reader.mode] == "FAILED"
        else:
            assert errors == [], repr(character)
            assert NAMES[reader.mode] == outcome, repr(character)

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

Outcome = str | Code | tuple[Code, str]  # the mode that comes, the error, or both where errors are skipped
Row = tuple[str, dict[str, Any], dict[str, Outcome]]  # the text that leads there, options, what comes of each


def then(*groups: dict[str, Any], otherwise: Outcome) -> dict[str, Any]:
    """One row: the groups of characters, and one outcome for all that are in none of them."""
    row: dict[str, Any] = {char: outcome for group in groups for chars, outcome in group.items() for char in chars}
    return {char: row.get(char, otherwise) for char in CLASSES}


def atom(code: Code, more: dict[str, str], *, after: str) -> dict[str, Any]:
    """An atom: `more` leads on, a few characters end it and belong to what is after it, and the others break it."""
    in_array: dict[str, Any] = {" \n": after, ",": "VALUE", "]": "END", "}": WRONG}
    return then(more, in_array if after == "AFTER_ITEM" else {" \n": "END", ",]}": TRAILING}, otherwise=code)


def number(digits: str, more: dict[str, str], *, after: str) -> dict[str, Any]:
    """A number: digits stay in `digits`, and `more` leads on."""
    return atom(NUMBER, {**({"019": digits} if digits else {}), **more}, after=after)


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
    "LINE_END": [("{}", {"multiple": "lines"}, then({" ": "LINE_END", "\n": "LINE_END"}, otherwise=TRAILING))],
    "AFTER_WRONG": [
        (
            '{"a":[1}',
            {"on_error": "skip"},
            then(
                {" \n": "AFTER_WRONG", ",": "KEY", "}": "END", '"': (WRONG, "SKIP_STRING")}, otherwise=(WRONG, "SKIP")
            ),
        ),
        (
            '[{"a":[1}',
            {"on_error": "skip"},
            then(
                {" \n": "AFTER_WRONG", ",": "KEY_OR_VALUE", "}": "AFTER_ITEM", "]": "END", '"': (WRONG, "SKIP_STRING")},
                otherwise=(WRONG, "SKIP"),
            ),
        ),
    ],
    "KEY_OR_VALUE": [
        (
            '[{"a":[1},',
            {"on_error": "skip"},
            then(
                VALUES,
                {" \n": "KEY_OR_VALUE", '"': "KEY_OR_STRING", ",": (WRONG, "KEY"), "}": (WRONG, "AFTER_ITEM")},
                {"]": (WRONG, "AFTER_WRONG")},
                otherwise=(WRONG, "SKIP"),
            ),
        ),
        (
            '[{"a":[1},',
            {"on_error": "skip", "trailing_commas": True},
            then(
                VALUES,
                {
                    " \n": "KEY_OR_VALUE",
                    '"': "KEY_OR_STRING",
                    ",": (WRONG, "KEY_OR_CLOSE"),
                    "}": "AFTER_ITEM",
                    "]": "END",
                },
                otherwise=(WRONG, "SKIP"),
            ),
        ),
    ],
    "KEY_OR_STRING": [
        (
            '[{"a":[1},"',
            {"on_error": "skip"},
            then({'"': "AFTER_EITHER", "\n\x01": (CONTROL, "SKIP_STRING")}, otherwise="KEY_OR_STRING"),
        ),
        (
            '[{"a":[1},"\\',
            {"on_error": "skip"},
            then({'"\\/fntu': "KEY_OR_STRING"}, otherwise=(ESCAPE, "SKIP_STRING")),
        ),
    ],
    "AFTER_EITHER": [
        (
            '[{"a":[1},"b"',
            {"on_error": "skip"},
            then(
                {" \n": "AFTER_EITHER", ":": "VALUE", ",": "VALUE", "]": "END"},
                {'"': (WRONG, "SKIP_STRING")},
                otherwise=(WRONG, "SKIP"),
            ),
        ),
    ],
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
        ("[tru", {}, then({"e": "LITERAL_END"}, otherwise=Code.INVALID_LITERAL)),
    ],
    "LITERAL_END": [
        ("true", {}, atom(Code.INVALID_LITERAL, {}, after="END")),
        ("[null", {}, atom(Code.INVALID_LITERAL, {}, after="AFTER_ITEM")),
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
def test_transitions(mode: str, text: str, options: dict[str, Any], row: dict[str, Outcome]) -> None:
    """From this mode each character leads where its row says; an error stops the reading or is skipped."""
    assert set(row) == set(CLASSES)
    for character, outcome in row.items():
        reader, sink = Reader(Dialect(Options(**options))), EventList()
        reader.feed(text, sink)
        assert NAMES[reader.mode] == mode
        errors_before = len(sink.errors)
        reader.feed(character, sink)
        errors = sink.errors[errors_before:]
        if not isinstance(outcome, str) or isinstance(outcome, Code):
            code, after = (outcome, "FAILED") if isinstance(outcome, Code) else outcome
            assert [error.code for error in errors] == [code], repr(character)
            assert errors[0].offset == len(text)
            assert NAMES[reader.mode] == after, repr(character)
        else:
            assert errors == [], repr(character)
            assert NAMES[reader.mode] == outcome, repr(character)

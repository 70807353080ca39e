"""errors.py: what an error carries, and what its message says and does not say."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import unspool
from tests.support import corpus
from tests.support.strategies import broken_documents
from unspool import (
    Code,
    FragmentParser,
    IncompleteJSONError,
    JSONSyntaxError,
    LimitError,
    Options,
    OptionsError,
    Path,
    PatternError,
    Position,
    StateError,
    UnspoolError,
)
from unspool._errors import MAX_PATH_SHOWN, SENTENCES
from unspool._grammar import reader as modes
from unspool._grammar import scan
from unspool._grammar.reader import EXPECTED, EXPECTED_INSTEAD, LIMIT_CODES

PLACE = Position(7, 2, 3)


def errors_of(text: str, **options: Any) -> tuple[JSONSyntaxError, ...]:
    parser = FragmentParser(Options(**options))
    parser.feed(text)
    parser.close()
    return parser.errors


def error_of(text: str, **options: Any) -> JSONSyntaxError:
    (error,) = errors_of(text, **options)
    return error


def test_the_tree() -> None:
    """The classes derive from one another as the docstring of the module draws them, each from a fitting builtin."""
    drawn: dict[str, str] = {}
    line: list[str] = []
    for branch, name in re.findall(
        r"^    ((?:\|-- |`-- |\|   |    )*)(\w+)(?:  +.*)?$", str(unspool._errors.__doc__), re.MULTILINE
    ):
        line[len(branch) // 4 :] = [name]
        drawn[name] = line[-2] if len(line) > 1 else "Exception"
    classes = {name: cls for name, cls in vars(unspool._errors).items() if isinstance(cls, type)}
    errors = {name: cls for name, cls in classes.items() if issubclass(cls, Exception)}
    assert {name: cls.__bases__[0].__name__ for name, cls in errors.items()} == drawn
    assert all(issubclass(cls, (ValueError, RuntimeError)) for cls in errors.values() if cls is not UnspoolError)
    assert issubclass(IncompleteJSONError, JSONSyntaxError)
    assert issubclass(LimitError, JSONSyntaxError)


def test_every_code_has_a_sentence() -> None:
    """There is one sentence for each code, all different, in lower case and without a full stop."""
    assert list(SENTENCES) == list(Code)
    assert len(set(SENTENCES.values())) == len(Code)
    assert all(sentence[0].islower() and not sentence.endswith(".") for sentence in SENTENCES.values())


def test_every_code_is_its_name() -> None:
    """A code equals its own name in lower case, so it can be matched, logged and sent as text."""
    assert [code.value for code in Code] == [code.name.lower() for code in Code]
    assert {"max_depth": 1}[Code.MAX_DEPTH] == 1
    assert str(Code.MAX_DEPTH) == "max_depth"


def test_every_mode_has_an_expected_text() -> None:
    """Each mode of the reader says in words what it expects; NUMBER has read nothing yet and is never left so."""
    assert set(EXPECTED) == set(modes.MODES.values())
    assert scan.NUMBER not in EXPECTED
    assert len(set(modes.MODES.values())) == len(modes.MODES)
    assert all(getattr(modes, name) == mode for name, mode in modes.MODES.items())
    assert all(EXPECTED.values())
    assert all(EXPECTED_INSTEAD.values())


CASES = [
    ("[1, x]", Code.UNEXPECTED_CHARACTER, Position(4, 1, 5), "$[1]", "a value"),
    ("[x", Code.UNEXPECTED_CHARACTER, Position(1, 1, 2), "$[0]", "a value or ']'"),
    ("{x", Code.UNEXPECTED_CHARACTER, Position(1, 1, 2), "$", "a key in double quotes or '}'"),
    ('{"a":1,x', Code.UNEXPECTED_CHARACTER, Position(7, 1, 8), "$", "a key in double quotes"),
    ('{"a" x', Code.UNEXPECTED_CHARACTER, Position(5, 1, 6), "$", "':'"),
    ("[1 2]", Code.UNEXPECTED_CHARACTER, Position(3, 1, 4), "$", "',' or ']'"),
    ('{"a":[]\n x', Code.UNEXPECTED_CHARACTER, Position(9, 2, 2), "$", "',' or '}'"),
    ("{} x", Code.TRAILING_TEXT, Position(3, 1, 4), "$", "the end of the text"),
    ('{"a":tru ', Code.INVALID_LITERAL, Position(8, 1, 9), "$.a", "the rest of true, false or null"),
    ("1.x", Code.INVALID_NUMBER, Position(2, 1, 3), "$", "a digit"),
    ("[-x", Code.INVALID_NUMBER, Position(2, 1, 3), "$[0]", "a digit"),
    ("[1ex", Code.INVALID_NUMBER, Position(3, 1, 4), "$[0]", "a digit or a sign"),
    ("[1e+x", Code.INVALID_NUMBER, Position(4, 1, 5), "$[0]", "a digit"),
    (
        "[1e999]",
        Code.NUMBER_OVERFLOW,
        Position(5, 1, 6),
        "$[0]",
        "a number within the range of a float or, with Options(floats='decimal'), of a Decimal",
    ),
    ('["\\q', Code.INVALID_ESCAPE, Position(3, 1, 4), "$[0]", EXPECTED_INSTEAD[Code.INVALID_ESCAPE]),
    ('["\n', Code.CONTROL_CHARACTER, Position(2, 1, 3), "$[0]", EXPECTED_INSTEAD[Code.CONTROL_CHARACTER]),
    ("", Code.INCOMPLETE, Position(0, 1, 1), "$", "a value"),
    ('{"a": ["b', Code.INCOMPLETE, Position(9, 1, 10), "$.a[0]", "the rest of the string"),
    ('{"a', Code.INCOMPLETE, Position(3, 1, 4), "$", "the rest of the key"),
    ("[1.5", Code.INCOMPLETE, Position(4, 1, 5), "$[0]", "the rest or the end of the number"),
    ("[0", Code.INCOMPLETE, Position(2, 1, 3), "$[0]", "the end of the number, '.' or 'e'"),
    ("\n\n-", Code.INCOMPLETE, Position(3, 3, 2), "$", "a digit"),
    ("[nul", Code.INCOMPLETE, Position(4, 1, 5), "$[0]", "the rest of true, false or null"),
    ("[" * 129, Code.MAX_DEPTH, Position(128, 1, 129), "$" + "[0]" * 128, ""),
    ("1" * 1001, Code.MAX_NUMBER, Position(1000, 1, 1001), "$", ""),
]


@pytest.mark.parametrize(("text", "code", "position", "path", "expected"), CASES, ids=lambda case: ascii(case)[:20])
def test_an_error_carries_data(text: str, code: Code, position: Position, path: str, expected: str) -> None:
    """An error says what, where, in which value, and what was expected instead."""
    error = error_of(text)
    assert (error.code, error.position, str(error.path), error.expected) == (code, position, path, expected)
    assert (error.offset, error.line, error.column) == position
    incomplete, limit = isinstance(error, IncompleteJSONError), isinstance(error, LimitError)
    assert (incomplete, limit) == (code is Code.INCOMPLETE, code in LIMIT_CODES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, x]", "unexpected character: line 1, column 5 (offset 4), in $[1]; expected a value"),
        ('{"a":\n"b', "the text ended too early: line 2, column 3 (offset 8), in $.a; expected the rest of the string"),
        ("1" * 1001, "number longer than max_number=1000: line 1, column 1001 (offset 1000), in $"),
    ],
    ids=lambda case: ascii(case)[:20],
)
def test_message(text: str, message: str) -> None:
    """The message is one line: what, where, in which value, and what was expected if that is known."""
    assert str(error_of(text)) == message


def test_long_paths_are_shortened() -> None:
    """A path too long for a message is cut in it, and whole in the error."""
    for length in (MAX_PATH_SHOWN - 2, MAX_PATH_SHOWN - 1, 30 * MAX_PATH_SHOWN):
        key = "k" * length  # "$." makes the path two longer
        error = error_of('{"' + key + '": x')
        assert error.path == (key,)
        shown = str(error).split(", in ")[1].split(";")[0]
        assert shown == ("$." + key if length == MAX_PATH_SHOWN - 2 else "$." + "k" * 115 + "...")
        assert len(shown) == MAX_PATH_SHOWN


SECRET = "hunter2"


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        f'["{SECRET}" {SECRET}',
        f'["{SECRET}\n',
        f'["{SECRET}\\q',
        f'{{"a": "{SECRET}" "{SECRET}"',
        f'{{"a": 1, {SECRET}: 2}}',
        f'{{"{SECRET}',
        f'{{"{SECRET}\n',
        f'{{"{SECRET}" 1',
        f"[tru{SECRET}",
        f"[1.{SECRET}",
        f"[1e5]{SECRET}",
    ],
)
def test_the_payload_is_never_quoted(text: str) -> None:
    """Values, and text that is wrong, are in no message and no repr; only finished keys are, in the path."""
    (error,) = errors_of(text)
    assert SECRET not in str(error)
    assert SECRET not in repr(error)


@given(broken_documents(small=True))
def test_messages_are_one_line_that_can_be_printed(text: str) -> None:
    """Whatever is wrong, the message is one short line that can be encoded, made of a sentence, a place and a path."""
    for error in errors_of(text, on_error="skip"):
        message = str(error)
        message.encode()
        assert "\n" not in message
        assert len(message) < 350
        assert message.startswith(f"{SENTENCES[error.code]}: line {error.line}, column {error.column} ")
        assert error.expected in message


errors = st.builds(
    lambda cls, code, place, steps, expected: cls(code, Position(*place), Path.of(*steps), expected),
    st.sampled_from([JSONSyntaxError, IncompleteJSONError, LimitError]),
    st.sampled_from(Code),
    st.tuples(st.integers(0, 2), st.integers(1, 2), st.integers(1, 2)),
    st.lists(st.sampled_from(["a", 0]), max_size=2),
    st.sampled_from(["", "a value"]),
)


@given(errors, errors)
def test_equality(left: JSONSyntaxError, right: JSONSyntaxError) -> None:
    """Errors are equal when they are of one class and say the same; equal ones hash alike."""
    alike = type(left) is type(right) and left.args == right.args
    assert (left == right) is alike
    assert not alike or hash(left) == hash(right)
    assert left != left.args


@given(errors)
def test_copies(error: JSONSyntaxError) -> None:
    """An error survives pickling and copying with all that it carries."""
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert twin == error
        assert str(twin) == str(error)
        assert (twin.position, twin.path, twin.expected) == (error.position, error.path, error.expected)


@pytest.mark.parametrize(
    "error", [PatternError("expected a name", 2), OptionsError("max_depth must be"), StateError("closed")], ids=repr
)
def test_copies_of_the_others(error: UnspoolError) -> None:
    """The other errors survive pickling too."""
    twin = pickle.loads(pickle.dumps(error))
    assert (type(twin), str(twin), vars(twin)) == (type(error), str(error), vars(error))


@pytest.mark.parametrize("name", [name for name in vars(unspool._errors) if name.endswith("Error")])
def test_tracebacks_show_the_public_name(name: str) -> None:
    """Every error belongs to `unspool` itself: tracebacks name it so, and pickles find it there."""
    error = getattr(unspool, name)
    assert (error.__module__, error.__qualname__) == ("unspool", name)
    assert pickle.loads(pickle.dumps(error)) is getattr(unspool._errors, name)


def test_errors_can_be_raised_and_caught_as_values() -> None:
    """A syntax error is a ValueError, and an error raised twice is still the same error."""
    error = error_of("x")
    for _ in range(2):
        with pytest.raises(ValueError, match="unexpected character") as caught:
            raise error
        assert caught.value is error


@pytest.mark.parametrize("code", Code)
def test_every_code_can_be_reached(code: Code) -> None:
    """There is a text for each code: none is there in vain."""
    by_code: dict[Code, tuple[str | bytes, dict[str, Any]]] = {
        Code.INCOMPLETE: ("[", {}),
        Code.INVALID_UTF8: (b'"\xff', {}),
        Code.MAX_ERRORS: ("[x]", {"on_error": "skip", "max_errors": 0}),
        Code.MAX_REPAIRS: ("['x']", {"repair": "spelling", "max_repairs": 0}),
        **{code: (text, {}) for text, _, code in corpus.BROKEN},
        **{code: (text, options) for options, text, _, code in corpus.DIALECT_BROKEN},
    }
    text, options = by_code[code]
    parser = FragmentParser(Options(**options))
    parser.feed(text)
    parser.close()
    assert [error.code for error in parser.errors] == [code]

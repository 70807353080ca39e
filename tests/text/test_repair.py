"""The repair stage: each rule with an example, what is refused, and how it works with the other options."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support import strategies
from tests.support.broken import reading
from unspool import (
    MISSING,
    Code,
    FragmentParser,
    IncompleteJSONError,
    JSONSyntaxError,
    LimitError,
    Options,
    OptionsError,
    ParserState,
    Repair,
    RepairCode,
    StateError,
    ValueParser,
    create_state,
    finalize,
    parse_chunk,
)
from unspool._repairs import REPAIR_SENTENCES
from unspool._text.ends import FARTHEST
from unspool._text.spelling import ODD_SPACES, is_odd_space


def chosen(options: dict[str, Any]) -> Options:
    """The options of a test, with guesses unless it says otherwise."""
    given: dict[str, Any] = {"repair": "guess", **options}
    return Options(**given)


def read(text: str, **options: Any) -> tuple[Any, list[tuple[str, int, int]]]:
    """The value and the log, the same for the whole text and one character after another."""
    given = chosen(options)
    results: list[Any] = []
    for fragments in ([text], strategies.one_by_one(text)):
        parser = ValueParser(given)
        for fragment in fragments:
            parser.feed(fragment)
        results.append((parser.close(), log(parser)))
    assert results[0] == results[1]
    found: tuple[Any, list[tuple[str, int, int]]] = results[0]
    return found


def log(parser: ValueParser | FragmentParser | ParserState) -> list[tuple[str, int, int]]:
    return [(repair.code.value, repair.position.offset, repair.length) for repair in parser.repairs]


def error(text: str, **options: Any) -> JSONSyntaxError:
    """The error, the same for the whole text and one character after another."""
    given = chosen(options)
    errors: list[Any] = []
    for fragments in ([text], strategies.one_by_one(text)):
        parser = FragmentParser(given)
        for fragment in fragments:
            parser.feed(fragment)
        parser.close()
        errors.append(parser.error)
    assert errors[0] is not None
    assert errors[0] == errors[1]
    found: JSONSyntaxError = errors[0]
    return found


PUNCTUATED = [
    ("odd_punctuation", 4, 1),
    ("odd_punctuation", 14, 1),
    ("odd_punctuation", 21, 1),
    ("trailing_comma", 21, 1),
]
SPELLINGS: list[tuple[str, Any, list[tuple[str, int, int]]]] = [
    ('{"a": 1} // done', {"a": 1}, [("comment", 9, 7)]),
    ('{"price": /* EUR */ 7}', {"price": 7}, [("comment", 10, 9)]),
    ("[1, # one\n 2]", [1, 2], [("comment", 4, 5)]),
    ("[1/**/,2//\n]", [1, 2], [("comment", 2, 4), ("comment", 8, 2)]),
    ('{"a": "b", "c" /* "d": */: "e" // f\n}', {"a": "b", "c": "e"}, [("comment", 15, 10), ("comment", 31, 4)]),
    ('{"a": "b", "c:[d]" # e\n: "f" # g\n}', {"a": "b", "c:[d]": "f"}, [("comment", 19, 3), ("comment", 29, 3)]),
    ('{"a": # why not\n 1}', {"a": 1}, [("comment", 6, 9)]),
    ('{"a": [1, 2,],}', {"a": [1, 2]}, [("trailing_comma", 11, 1), ("trailing_comma", 13, 1)]),
    ('{"a": 1,, "b": 2}', {"a": 1, "b": 2}, [("extra_comma", 8, 1)]),
    ('{, "a": 1}', {"a": 1}, [("extra_comma", 1, 1)]),
    ('{"a": 1},;', {"a": 1}, [("extra_comma", 8, 1), ("extra_comma", 9, 1)]),
    ("{'a': 'b'}", {"a": "b"}, [("single_quotes", 1, 1), ("single_quotes", 6, 1)]),
    ("['say \"so\"']", ['say "so"'], [("single_quotes", 1, 1)]),
    (
        '{\u201ca\u201d: \u201eb", \u2018c\u2019: `d`}',
        {"a": "b", "c": "d"},
        [("odd_quotes", at, 1) for at in (1, 6, 11, 16)],
    ),
    ('["""a "b" c"""]', ['a "b" c'], [("triple_quotes", 1, 3)]),
    ("['''it's''']", ["it's"], [("triple_quotes", 1, 3)]),
    ('["""so """"]', ['so "'], [("triple_quotes", 1, 3)]),
    ('{a: 1, b-2: 2, "c": 3}', {"a": 1, "b-2": 2, "c": 3}, [("unquoted_key", 1, 1), ("unquoted_key", 7, 3)]),
    ("{first name: 1}", {"first name": 1}, [("unquoted_key", 1, 10)]),
    ("{1: 2}", {"1": 2}, [("unquoted_key", 1, 1)]),
    ("[True, FALSE, None]", [True, False, None], [("literal_spelling", at, n) for at, n in ((1, 4), (7, 5), (14, 4))]),
    ('{"a": undefined, "b": nil}', {"a": None, "b": None}, [("literal_spelling", 6, 9), ("literal_spelling", 22, 3)]),
    (
        "[+1, .5, 5., -.5]",
        [1, 0.5, 5.0, -0.5],
        [("number_spelling", at, n) for at, n in ((1, 2), (5, 2), (9, 2), (13, 3))],
    ),
    ("[1_000, 0x1F, 5.e1]", [1000, 31, 50.0], [("number_spelling", at, n) for at, n in ((1, 5), (8, 4), (14, 4))]),
    ('["a\nb\tc"]', ["a\nb\tc"], [("control_character", 3, 3)]),
    (r'["\d+\.\w*"]', [r"\d+\.\w*"], [("invalid_escape", at, 1) for at in (2, 5, 7)]),
    (
        r'["it\'s \x41 \`"]',
        ["it's A `"],
        [("invalid_escape", 4, 1), ("invalid_escape", 8, 4), ("invalid_escape", 13, 1)],
    ),
    (r'["\users \u12 \xg"]', [r"\users \u12 \xg"], [("invalid_escape", at, 1) for at in (2, 9, 14)]),
    ('\ufeff{\u00a0"a":\u3000\u200b1}', {"a": 1}, [("odd_space", 0, 1), ("odd_space", 2, 1), ("odd_space", 7, 2)]),
    (
        '\uff5b"a"\uff1a1\uff0c"b"\uff1a\uff3b2\uff3d\uff5d',
        {"a": 1, "b": [2]},
        [("odd_punctuation", at, 1) for at in (0, 4, 6, 10, 11, 13, 14)],
    ),
    ('["a"\uff1b{"b": "c"\uff1b"d": 1\u3001}]', ["a", {"b": "c", "d": 1}], PUNCTUATED),
    ('["a", {"b": "c", "d\ne": []}]', ["a", {"b": "c", "d\ne": []}], [("control_character", 19, 1)]),
    ('{"a" = 1, "b" => 2}', {"a": 1, "b": 2}, [("colon_spelling", 5, 1), ("colon_spelling", 14, 2)]),
]

GUESSES: list[tuple[str, Any, list[tuple[str, int, int]]]] = [
    ('{"a": "x "y" z", "b": 1}', {"a": 'x "y" z', "b": 1}, [("unescaped_quote", 9, 1), ("unescaped_quote", 11, 1)]),
    ('{"a": "1/2" wide", "b": 1}', {"a": '1/2" wide', "b": 1}, [("unescaped_quote", 10, 1)]),
    ('{"the "big" key": 1}', {'the "big" key': 1}, [("unescaped_quote", 6, 1), ("unescaped_quote", 10, 1)]),
    ('{"a": "b, "c": 1}', {"a": "b", "c": 1}, [("missing_quote", 8, 0)]),
    ('{"a": "one”, "b": 2}', {"a": "one", "b": 2}, [("missing_quote", 10, 1)]),
    ('["one”\n]', ["one"], [("missing_quote", 5, 1)]),
    ('{"a": ["one”], "b": 2}', {"a": ["one"], "b": 2}, [("missing_quote", 11, 1)]),
    ('{"key: ["A"]}', {"key": ["A"]}, [("missing_quote", 5, 0)]),
    ('{"key:"v"}', {"key": "v"}, [("missing_quote", 5, 0)]),
    ('{"a": abcdef", "b": 1}', {"a": "abcdef", "b": 1}, [("missing_quote", 6, 0)]),
    ('{"a": 12345"}', {"a": "12345"}, [("missing_quote", 6, 0)]),
    ('{a": 1}', {"a": 1}, [("missing_quote", 1, 0)]),
    ('{"a": The first, the second, "b": 1}', {"a": "The first, the second", "b": 1}, [("unquoted_string", 6, 21)]),
    ("[red, deep blue]", ["red", "deep blue"], [("unquoted_string", 1, 3), ("unquoted_string", 6, 9)]),
    ('{"zip": 01234}', {"zip": "01234"}, [("unquoted_string", 8, 5)]),
    ('{"id": ObjectId("1")}', {"id": 'ObjectId("1")'}, [("unquoted_string", 7, 13)]),
    ('{"color": #fff}', {"color": "#fff"}, [("unquoted_string", 10, 4)]),
    ('{"a": 1 "b": 2}', {"a": 1, "b": 2}, [("missing_comma", 8, 0)]),
    ('{"a": 1"b": true"c d": 2}', {"a": 1, "b": True, "c d": 2}, [("missing_comma", 7, 0), ("missing_comma", 16, 0)]),
    ("[., -., .e5]", [".", "-.", ".e5"], [("unquoted_string", at, size) for at, size in ((1, 1), (4, 2), (8, 3))]),
    ('["a" "b" {} []]', ["a", "b", {}, []], [("missing_comma", at, 0) for at in (5, 9, 12)]),
    ("[1\n2]", [1, 2], [("missing_comma", 3, 0)]),
    ('{"a" "b"}', {"a": "b"}, [("missing_colon", 5, 0)]),
    ('{"c" 2}', {"c": 2}, [("missing_colon", 5, 0)]),
    ('{"a":, "b":}', {"a": None, "b": None}, [("missing_value", 5, 0), ("missing_value", 11, 0)]),
    ("[1,,2]", [1, None, 2], [("missing_value", 3, 0)]),
    ('{"a": {"b": ["c"', {"a": {"b": ["c"]}}, [("missing_close", 16, 0)]),
    ('{"a": true', {"a": True}, [("missing_close", 10, 0)]),
    ('{"a": nul', {"a": None}, [("truncated", 9, 0), ("missing_close", 9, 0)]),
    ('[{"b": 2]', [{"b": 2}], [("missing_close", 8, 0)]),
    ('[{"i":1, {"i":2}]', [{"i": 1}, {"i": 2}], [("missing_close", 9, 0)]),
    ('{"a": [{}, "key": 1}', {"a": [{}], "key": 1}, [("missing_close", 11, 0)]),
    ('{"a": [, "key": 1}', {"a": [], "key": 1}, [("missing_close", 7, 0)]),
    ('{"a": ["x"}, "key": 1}', {"a": ["x"], "key": 1}, [("wrong_close", 10, 1)]),
    ('{"a": 1}}]', {"a": 1}, [("extra_close", 8, 1), ("extra_close", 9, 1)]),
    ('{"a": [{"b": 1}}], "c": 2}', {"a": [{"b": 1}], "c": 2}, [("extra_close", 15, 1)]),
    ("[1, ..., 9, …]", [1, 9], [("ellipsis", 4, 3), ("ellipsis", 12, 1), ("trailing_comma", 10, 1)]),
    ('{"a": 1, ...}', {"a": 1}, [("ellipsis", 9, 3), ("trailing_comma", 7, 1)]),
    ("[NaN, -Infinity]", [None, None], [("not_a_number", 1, 3), ("not_a_number", 6, 9)]),
    ('{"a": "b" + "c"}', {"a": "bc"}, [("concatenation", 8, 5)]),
]

REFUSED: list[tuple[str, Code, int]] = [
    ("{'a', 'b'}", Code.UNEXPECTED_CHARACTER, 4),
    ('["key": 1]', Code.UNEXPECTED_CHARACTER, 6),
    ('{"a":{"b":1}},"c":2}', Code.TRAILING_TEXT, 14),
    ("I am sorry, I cannot do that.", Code.UNEXPECTED_CHARACTER, 0),
    ("", Code.INCOMPLETE, 0),
    ('{"n": 1,234}', Code.UNEXPECTED_CHARACTER, 8),
    ("[1 2]", Code.UNEXPECTED_CHARACTER, 3),
    ('{"a": 1 2}', Code.UNEXPECTED_CHARACTER, 8),
    ('{"a": "b}', Code.INCOMPLETE, 9),
    ('["b, 2]', Code.INCOMPLETE, 7),
    ('{"a"}', Code.UNEXPECTED_CHARACTER, 4),
    ("{:2}", Code.UNEXPECTED_CHARACTER, 1),
    ('{"a" ]', Code.UNEXPECTED_CHARACTER, 5),
    (r"{\"a\": 1}", Code.UNEXPECTED_CHARACTER, 1),
    ('{"a": 1} {"a": 2}', Code.TRAILING_TEXT, 9),
    ('```json\n{"a": 1}\n```', Code.UNEXPECTED_CHARACTER, 0),
    ('{"a": (1, 2)}', Code.UNEXPECTED_CHARACTER, 6),
    ("“quoted prose”", Code.UNEXPECTED_CHARACTER, 0),
]


@pytest.mark.parametrize(("text", "value", "repairs"), SPELLINGS, ids=[row[0] for row in SPELLINGS])
def test_spellings(text: str, value: Any, repairs: list[tuple[str, int, int]]) -> None:
    """Each spelling is read, logged, and no guess; both levels say the same."""
    assert read(text, repair="spelling") == (value, repairs)
    assert read(text) == (value, repairs)
    assert not any(repair.is_guess for repair in parsed(text).repairs)


@pytest.mark.parametrize(("text", "value", "repairs"), GUESSES, ids=[row[0] for row in GUESSES])
def test_guesses(text: str, value: Any, repairs: list[tuple[str, int, int]]) -> None:
    """Each guess is made, and logged as one; without guesses the text is an error."""
    assert read(text) == (value, repairs)
    assert any(repair.is_guess for repair in parsed(text).repairs)
    assert error(text, repair="spelling").code not in (Code.MAX_REPAIRS, Code.MAX_CHARS)


@pytest.mark.parametrize(("text", "code", "offset"), REFUSED, ids=[row[0] or "nothing" for row in REFUSED])
def test_what_is_refused(text: str, code: Code, offset: int) -> None:
    """What cannot be repaired without loss is today's error, at the offset of the text as it came."""
    found = error(text)
    assert (found.code, found.offset) == (code, offset)


def parsed(text: str, **options: Any) -> ParserState:
    return finalize(parse_chunk(create_state(chosen(options)), text))


def test_every_code_is_reached() -> None:
    """Every code is the result of some text here, and has a sentence."""
    texts = [row[0] for row in SPELLINGS + GUESSES]
    codes = {repair.code for text in texts for repair in parsed(text).repairs}
    codes |= {repair.code for repair in parsed(r'["\frac"]', latex=True).repairs}
    assert codes == set(RepairCode) == set(REPAIR_SENTENCES)


def test_nothing_is_read_behind_a_root_that_ended() -> None:
    """With `trailing="ignore"`, the character that ends a number is the last one that counts, in one fragment too."""
    options: dict[str, Any] = {"repair": "spelling", "trailing": "ignore"}
    assert reading(["1\n   }"], **options).seen == reading(list("1\n   }"), **options).seen


HARD_QUOTES = [
    ('{"a": "use {"k": "v", "w": 1} here", "b": 1}', {"a": 'use {"k": "v", "w": 1} here', "b": 1}),
    ('{"cmd": "find . -name "*.py""}', {"cmd": 'find . -name "*.py"'}),
    ('{"a": "x "y", z"}', {"a": 'x "y", z'}),
    ('{"a": "f("x")\\n",\n "b": "g("y")"}', {"a": 'f("x")\n', "b": 'g("y")'}),
    ("{'note': 'the player's choice', 'n': 1}", {"note": "the player's choice", "n": 1}),
    ('{"a": "„x" y", "b": 2}', {"a": '„x" y', "b": 2}),
    ('["say "yes" now", "no"]', ['say "yes" now', "no"]),
    # No key is found behind the comma as far as the stage looks ahead, and the text is no JSON any more.
    ('{"a": "x "y", "z" ' + "w" * 300 + '", "b": 1}', {"a": 'x "y", "z" ' + "w" * 300, "b": 1}),
]


def test_a_hash_that_touches_a_quote_is_no_comment() -> None:
    """It may be text behind an inner quote, so text is not dropped for it, on any level."""
    text = '{"a": "He won "#1 prize" today"\n, "b": 2}'
    assert error(text, repair="spelling").offset == 15
    assert read(text)[0] == {"a": 'He won "#1 prize" today', "b": 2}
    for text in ('["a"#b\n]', "['a'#b\n]", '["""a"""#b\n]', '{"a"#b\n: 1}', '"a"#b'):
        for level in ("spelling", "guess"):
            found = error(text, repair=level)
            state = create_state(chosen({"repair": level}))
            for character in text:
                state = ParserState.load(parse_chunk(state, character).dump())
            assert finalize(state).error == found
    assert read('["a",#b\n 1#c\n]', repair="spelling") == (["a", 1], [("comment", 5, 2), ("comment", 10, 2)])


@pytest.mark.parametrize(("text", "value"), HARD_QUOTES, ids=[row[0] for row in HARD_QUOTES])
def test_where_a_string_ends(text: str, value: Any) -> None:
    """Quotes inside strings are kept as text, and every one of them is in the log."""
    assert read(text)[0] == value
    assert "unescaped_quote" in {code for code, _, _ in read(text)[1]}


JSON_THAT_LOOKS_BROKEN = [
    '{"x": "a, “term”: b"}',
    '["a, ", "b"]',
    '{"a": "b, ", "c": 1}',
    '{"a: [b]": 1}',
    '{"a": "// no comment", "b": "# neither"}',
    '{"a": ["b", "\\\\u00e9\\": \\"c"]}',
    '["```", "\'", "\'\'\'", "..."]',
    '{"a": "\\", \\"b\\": 1", "c": ""}',
    '{"": {"": [""]}}',
    '["a" ,"b" ]',
    "[true , null\n, 1 ]",
]


@pytest.mark.parametrize("text", JSON_THAT_LOOKS_BROKEN)
def test_json_that_looks_broken(text: str) -> None:
    """JSON stays JSON."""
    assert read(text) == (json.loads(text), [])
    assert read(text, repair="spelling") == (json.loads(text), [])


@pytest.mark.parametrize("text", ['"""a"', '"" "a"', '"""""a"""'])
def test_strings_one_after_another(text: str) -> None:
    """With `multiple`, an empty string before another one is JSON, and no triple quote."""
    for level in ("none", "spelling", "guess"):
        for fragments in ([text], list(text)):
            found = reading(fragments, repair=level, multiple=True)
            assert found.events == reading([text], multiple=True).events
            assert (found.error, found.repairs) == (None, ())


def test_text_is_shown_before_the_end_of_the_string_is_known() -> None:
    """Only the end of a string waits for what follows: its text is shown at once."""
    parser = ValueParser(Options(repair="guess"))
    parser.feed('{"a": "he said "yes')
    assert parser.value == {"a": 'he said "yes'}
    parser.feed('"')
    assert parser.value == {"a": 'he said "yes'}
    parser.feed(" and")
    assert parser.value == {"a": 'he said "yes" and'}
    parser.feed('", "b')
    assert parser.value == {"a": 'he said "yes" and'}
    assert log(parser) == [("unescaped_quote", 15, 1), ("unescaped_quote", 19, 1)]


TRUNCATED: list[tuple[str, Any]] = [
    ('{"a": "x, y', {"a": "x, y"}),
    ('{"a": "x\\', {"a": "x"}),
    ('{"a": "x\\u00', {"a": "x"}),
    ('{"a": [1, 2', {"a": [1, 2]}),
    ('{"a": [1, 2.', {"a": [1, 2]}),
    ('{"a": [1, -', {"a": [1]}),
    ('{"a": 1, "b', {"a": 1}),
    ('{"a": 1, "b":', {"a": 1}),
    ('{"a": 1,', {"a": 1}),
    ('{"a": [', {"a": []}),
    ('{"a": t', {"a": True}),
    ('"abc', "abc"),
    ("fa", False),
]


@pytest.mark.parametrize(("text", "value"), TRUNCATED, ids=[row[0] for row in TRUNCATED])
def test_truncated_text_is_closed_if_asked_for(text: str, value: Any) -> None:
    """What ended too early is closed and logged with `truncated="close"`; otherwise it is incomplete."""
    for level in ("guess", "spelling", "none"):
        found, repairs = read(text, repair=level, truncated="close")
        assert found == value
        assert repairs[-1] == ("truncated", len(text), 0)
        assert isinstance(error(text, repair=level), IncompleteJSONError)


def test_nothing_is_made_of_nothing() -> None:
    """A text without a value has none, also if truncated text is closed."""
    for text in ("", "  ", "\n// a comment"):
        assert error(text, truncated="close").code is Code.INCOMPLETE


def test_long_tokens() -> None:
    """A number or a word that is longer than the stage looks ahead is read on, and repair goes on behind it."""
    for token in ("9" * 400, "9" * 400 + ".5e-300"):
        value, repairs = read("[" + token + ", 'a']")
        assert value == [json.loads(token), "a"]
        assert [code for code, _, _ in repairs] == ["single_quotes"]
    assert read("[" + "x" * 400 + "]")[0] == ["x" * 400]


@pytest.mark.parametrize("size", [3, 5, 252, 255, 256, 257, 258, 259, 511, 512, 900])
@pytest.mark.parametrize("quote", ['"', "'"])
def test_long_runs_of_quotes(quote: str, size: int) -> None:
    """The last three quotes of a run end a string between triple quotes, however long the run is."""
    text = "[" + 3 * quote + "a" + size * quote + ", 1]"
    assert read(text) == (["a" + (size - 3) * quote, 1], [("triple_quotes", 1, 3)])
    whole = reading([text], repair="guess")
    for at in range(1, len(text), 7):
        assert reading([text[:at], text[at:]], repair="guess").seen == whole.seen
    assert reading(list(text), repair="guess").longest_held <= FARTHEST


def test_an_entry_reaches_as_far_as_the_text_came() -> None:
    """The entry of a comment has its sign from the beginning, and a limit inside a token leaves what was there."""
    for text, length in (("[1 #", 1), ("[1 //", 2), ("[1 /*", 2), ("[1 /* x", 4)):
        state = parse_chunk(create_state(chosen({})), text)
        assert log(state) == [("comment", 3, length)]
    assert log(parsed('{"a": "b\n"}', max_string=1)) == [("control_character", 8, 1)]


def test_whole_text_is_not_truncated() -> None:
    """Closing changes nothing where nothing is open."""
    for text in ("1", "[1]", '"a"', "true "):
        assert read(text, truncated="close") == (json.loads(text), [])


def test_latex() -> None:
    r"""With `latex`, \f and \b before a letter are backslashes. Without it, they are what JSON says."""
    text = r'["\frac{1}{2} \beta \b \f1"]'
    assert read(text)[0] == json.loads(text)
    value, repairs = read(text, latex=True)
    assert value == ["\\frac{1}{2} \\beta \b \f1"]
    assert repairs == [("latex", 2, 1), ("latex", 14, 1)]


def test_options_that_exclude_each_other() -> None:
    """Skipping errors and repairing them is refused, and so is `latex` alone."""
    with pytest.raises(OptionsError, match="choose one of the two"):
        Options(on_error="skip", repair="spelling")
    with pytest.raises(OptionsError, match="choose one of the two"):
        Options(on_error="skip", truncated="close")
    with pytest.raises(OptionsError, match="latex=True needs"):
        Options(latex=True)


def test_a_repair_has_a_place() -> None:
    """A repair knows line, column and path, and its text quotes nothing of the document."""
    repairs = parsed('{"days": [\n  {"title": "Arrival", hours: 3}]}').repairs
    assert [repair.position for repair in repairs] == [(34, 2, 24)]
    assert [str(repair.path) for repair in repairs] == ["$.days[0]"]
    assert str(repairs[0]) == ("a key without quotes was read as a key: line 2, column 24 (offset 34), in $.days[0]")
    assert repairs[0] == Repair(RepairCode.UNQUOTED_KEY, repairs[0].position, 5, repairs[0].path)


def test_trailing_commas_are_no_repair_where_they_are_allowed() -> None:
    """With `trailing_commas=True` the comma belongs to the dialect."""
    assert read("[1,]", trailing_commas=True) == ([1], [])


def test_several_values() -> None:
    """With `multiple`, each value is repaired, and commas between values are left out."""
    parser = ValueParser(Options(repair="guess", multiple=True))
    parser.feed("{'a': 1}, {b: 2}\n[True]")
    assert parser.finished == ({"a": 1}, {"b": 2}, [True])
    assert [code for code, _, _ in log(parser)] == ["single_quotes", "extra_comma", "unquoted_key", "literal_spelling"]
    assert parser.close() == [True]


def test_text_behind_the_value_is_ignored_if_asked_for() -> None:
    """With `trailing="ignore"` nothing behind the value is read, and nothing of it is logged."""
    assert read("{'a': 1} {'b'", trailing="ignore") == ({"a": 1}, [("single_quotes", 1, 1)])
    assert read("12 // x", trailing="ignore") == (12, [])


def test_bytes() -> None:
    """Bytes may be cut inside a quote or a space that JSON does not have."""
    text = "\uff5b\u201ca\u201d\uff1a \u201cé\u201d\u00a0\uff5d"
    data = text.encode()
    for fragments in ([data], strategies.one_by_one(data)):
        parser = ValueParser(Options(repair="guess"))
        for fragment in fragments:
            parser.feed(fragment)
        assert parser.close() == {"a": "é"}
        assert [code for code, _, _ in log(parser)] == [
            *("odd_punctuation", "odd_quotes", "odd_punctuation", "odd_quotes", "odd_space", "odd_punctuation")
        ]


def test_bytes_that_are_no_characters() -> None:
    """Invalid UTF-8 is an error, and no repair."""
    for data in (b'["a\xff"]', b'[\xff"a"]', b'["a" \xff]', b'["a\xc3'):
        for fragments in ([data], strategies.one_by_one(data)):
            parser = FragmentParser(Options(repair="guess"))
            for fragment in fragments:
                parser.feed(fragment)
            parser.close()
            assert parser.error is not None
            assert parser.repairs == ()
    parser = FragmentParser(Options(repair="guess", truncated="close"))
    parser.feed(b'["a\xc3')
    parser.close()
    assert [code for code, _, _ in log(parser)] == ["truncated"]


LIMITS: list[tuple[str, dict[str, Any], Code, int]] = [
    ("['abcd']", {"max_string": 3}, Code.MAX_STRING, 5),
    ('["a"b"c"]', {"max_string": 3}, Code.MAX_STRING, 5),
    ("[abcd]", {"max_string": 3}, Code.MAX_STRING, 4),
    ("{abcd: 1}", {"max_key": 3}, Code.MAX_KEY, 4),
    ("[1_0_0_0]", {"max_number": 3}, Code.MAX_NUMBER, 4),
    ("[1, 'a', 2]", {"max_chars": 6}, Code.MAX_CHARS, 6),
    ('{"a": "b", "c": 1}', {"max_chars": 11}, Code.MAX_CHARS, 11),
    ("[True, True, True]", {"max_repairs": 2}, Code.MAX_REPAIRS, 13),
    ("['a']", {"max_repairs": 0}, Code.MAX_REPAIRS, 1),
    ("[" * 5, {"max_depth": 4}, Code.MAX_DEPTH, 4),
]


@pytest.mark.parametrize(("text", "limits", "code", "offset"), LIMITS, ids=[row[0] for row in LIMITS])
def test_limits_hold_at_one_offset(text: str, limits: dict[str, Any], code: Code, offset: int) -> None:
    """A limit is met at the same offset, however the text is cut."""
    found = error(text, **limits)
    assert (found.code, found.offset) == (code, offset)
    assert isinstance(found, LimitError)


def test_max_repairs_can_be_taken_away() -> None:
    """None is no limit, and the default is 1000."""
    text = "[" + "True," * 1001 + "True]"
    assert error(text).code is Code.MAX_REPAIRS
    assert len(read(text, max_repairs=None)[0]) == 1002


def test_strict_is_the_default() -> None:
    """Without the option nothing is repaired, and there is no log."""
    parser = FragmentParser()
    parser.feed("{'a'")
    assert parser.error is not None
    assert parser.repairs == ()
    assert create_state().repairs == ()
    assert ValueParser().repairs == ()


def test_states_share_their_log() -> None:
    """Two futures of one state have logs of their own, and older states keep theirs."""
    state = parse_chunk(create_state(Options(repair="guess")), "[True, ")
    left = parse_chunk(state, "False, None]")
    right = parse_chunk(state, "'a']")
    assert [repair.code.value for repair in state.repairs] == ["literal_spelling"]
    assert [repair.code.value for repair in left.repairs] == ["literal_spelling"] * 3
    assert [repair.code.value for repair in right.repairs] == ["literal_spelling", "single_quotes"]
    assert left.value == [True, False, None]
    assert right.value == [True, "a"]


def test_a_log_is_never_copied_for_a_fragment() -> None:
    """However long the log is, a fragment adds to the same list."""
    state = create_state(Options(repair="guess", max_repairs=None))
    state = parse_chunk(state, "[" + "True," * 100)
    repairer = state._intake.repairer
    assert repairer is not None
    shared = repairer._log
    for _ in range(50):
        state = parse_chunk(state, "True,")
        assert state._intake.repairer is not None
        assert state._intake.repairer._log is shared
    assert len(state.repairs) == 150


def test_a_dump_goes_through_json_anywhere() -> None:
    """A state that was dumped and loaded after any character goes on as if nothing had happened."""
    text = '{\'a\': "x "y" z", b: [1,, 0x1F], // note\n "c: ["d", True}'
    whole = parsed(text)
    for at in range(len(text) + 1):
        state = parse_chunk(create_state(Options(repair="guess")), text[:at])
        loaded = ParserState.load(json.loads(json.dumps(state.dump())))
        assert loaded.dump() == state.dump()
        assert loaded.repairs == state.repairs
        end = finalize(parse_chunk(loaded, text[at:]))
        assert end.dump() == whole.dump()
        assert end.repairs == whole.repairs


FAULTS_BEHIND_A_STRING = [
    ('{"a": "x", "b: ["y", 1]}', {"a": "x", "b": ["y", 1]}),
    ('{"a": "x",\n "b: "y",\n "c": 1}', {"a": "x", "b": "y", "c": 1}),
    ('{"a": "x", "b: -5}', {"a": "x", "b": -5}),
    ('{"a": "x", "b" "y"}', {"a": "x", "b": "y"}),
    ('{"a": "x", "b" {"c": 1}}', {"a": "x", "b": {"c": 1}}),
    ('{"a": "x" "gr\\u00f6": 1}', {"a": "x", "gr\u00f6": 1}),
    ('{"a": "x, "gr\\u00f6": 1}', {"a": "x", "gr\u00f6": 1}),
    ('["x", 1}', ["x", 1]),
    ('["x",\n true\n null]', ["x", True, None]),
    ('["x" 1, "y"]', ["x", 1, "y"]),
    ('["x" "", "y"]', ["x", "", "y"]),
    ('["x"\n "@y"]', ["x", "@y"]),
    ('{"a": ["x", "b.c": 1}', {"a": ["x"], "b.c": 1}),
    ('{"a: null}', {"a": None}),
    ('{"a: [1]}', {"a": [1]}),
]


@pytest.mark.parametrize(("text", "value"), FAULTS_BEHIND_A_STRING, ids=[row[0] for row in FAULTS_BEHIND_A_STRING])
def test_a_string_ends_before_a_faulty_member(text: str, value: Any) -> None:
    """A fault in the next member or item does not make the string before it swallow that member."""
    assert read(text)[0] == value
    assert all(repair.is_guess for repair in parsed(text).repairs)


@pytest.mark.parametrize("text", ["NaN/", ".5/", "5./", "nil#", '"\\x'])
def test_a_dump_of_a_token_that_grew(text: str) -> None:
    """A token whose JSON spelling is longer than the text so far can be dumped and loaded."""
    for state in (parse_chunk(create_state(Options(repair="guess")), text), parsed(text)):
        assert ParserState.load(json.loads(json.dumps(state.dump()))).dump() == state.dump()


def test_the_limit_of_the_text_behind_the_value() -> None:
    """With `extract`, text behind the value is skipped up to `max_chars`, however the text is cut."""
    text = '{"a": 1} and more text'
    options = Options(repair="guess", max_chars=12)
    whole = parse_chunk(create_state(options, extract=True), text)
    assert [(skipped.offset, skipped.length, skipped.why) for skipped in whole.skipped] == [(9, 3, "prose")]
    state = create_state(options, extract=True)
    for character in text:
        state = parse_chunk(state, character)
    assert state.dump() == whole.dump()


def test_wrong_dumps_are_refused() -> None:
    """A dump that was changed raises `StateError`, or gives a state that goes on."""
    data = parse_chunk(create_state(Options(repair="guess")), "{'a': 'b").dump()
    wrong: list[Any] = [
        {**data, "repair": None},
        {**data, "repair": {}},
        {**data, "repair": {**data["repair"], "style": 99}},
        {**data, "repair": {**data["repair"], "style": 0}},
        {**data, "repair": {**data["repair"], "held": 1}},
        {**data, "repair": {**data["repair"], "log": [["nonsense", 0, 1, 1, 0, []]]}},
        {**data, "repair": {**data["repair"], "log": [["comment", 90, 1, 1, 9, []]]}},
        {**data, "options": {**data["options"], "repair": "none"}},
    ]
    for each in wrong:
        with pytest.raises(StateError):
            ParserState.load(each)


WRAPPED: list[tuple[str, Any, list[str], str]] = [
    ('Sure: {"a": 1} Anything else?', {"a": 1}, [], "prose prose"),
    (
        '```json\n{\'a\': "he said "x"",\n b: [1, 2}\n```\nbye {"c": 1}',
        {"a": 'he said "x"', "b": [1, 2]},
        ["single_quotes", "unescaped_quote", "unescaped_quote", "unquoted_key", "missing_close"],
        "fence fence prose",
    ),
    ('Here:\n{a: 1, "b": "x {"}\nDone.', {"a": 1, "b": "x {"}, ["unquoted_key"], "prose prose"),
    (
        '```json\n{"code": "x\n```\ny", "b": 1}\n```\n',
        {"code": "x\n```\ny", "b": 1},
        ["control_character"],
        "fence fence",
    ),
    (
        '```json\n{"g": "Best,\nJohnny"\n```',
        {"g": "Best,\nJohnny"},
        ["control_character", "missing_close"],
        "fence fence",
    ),
    ("```\n{'k': True}\n```", {"k": True}, ["single_quotes", "literal_spelling"], "fence fence"),
    ("As [1] shows, {name} is {\"a\": 'b'}.", {"a": "b"}, ["single_quotes"], "prose prose"),
    ('{"a": "b", "c": [1, 2', {"a": "b", "c": [1, 2]}, ["truncated"], ""),
    ('{  // as asked\n "a": {"b": 1}}', {"a": {"b": 1}}, ["comment"], ""),
    ('Here:\n[ /* all */ {"b": 1}]', [{"b": 1}], ["comment"], "prose"),
    ('{ # a note\n "a": {"b": 1}}', {"a": {"b": 1}}, ["comment"], ""),
    ('[\u00a0{\u00a0"a": {"b": 1}}]', [{"a": {"b": 1}}], ["odd_space", "odd_space"], ""),
    ('{# a template #} {"b": 1}', {"b": 1}, [], "prose"),
    ('{/x} and {#x} {"b": 1}', {"b": 1}, [], "prose"),
]


@pytest.mark.parametrize(("text", "value", "codes", "why"), WRAPPED, ids=[row[0] for row in WRAPPED])
def test_broken_json_inside_other_text(text: str, value: Any, codes: list[str], why: str) -> None:
    """The reader tells where a broken value ends; quotes and fences inside its strings do not count."""
    for fragments in ([text], strategies.one_by_one(text)):
        state = create_state(Options(repair="guess", truncated="close"), extract=True)
        for fragment in fragments:
            state = parse_chunk(state, fragment)
            assert ParserState.load(state.dump()).dump() == state.dump()
        state = finalize(state)
        assert state.error is None
        assert state.value == value
        assert [repair.code.value for repair in state.repairs] == codes
        assert " ".join(region.why for region in state.skipped) == why


def test_odd_spaces_are_listed() -> None:
    """The list has the characters for which the function is true."""
    assert sorted(ODD_SPACES) == [chr(c) for c in range(0x10000) if is_odd_space(c)]


def test_several_broken_values_inside_other_text() -> None:
    """With `multiple`, each value is found and repaired."""
    parser = ValueParser(Options(repair="guess", multiple=True), extract=True)
    parser.feed("First:\n{'a': 1}\nSecond:\n{b: 2} and {\"c\": [3,]}\n")
    assert parser.finished == ({"a": 1}, {"b": 2}, {"c": [3]})


def test_dumps_of_the_first_version_are_loaded() -> None:
    """A dump from before there were repairs has no field for them, and is loaded."""
    data = parse_chunk(create_state(), '{"a": [1').dump()
    del data["repair"]
    data["version"] = 1
    assert finalize(parse_chunk(ParserState.load(data), "]}")).value == {"a": [1]}
    assert create_state().value is MISSING

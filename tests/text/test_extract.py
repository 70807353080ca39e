"""text/extract.py: what is JSON in a wrapped text and what is not, however the text is cut.

A case is the list of its parts, each with the reason why it is skipped, or "" where it is for the reader.
"""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.strategies import cut_at, documents, every_single_cut, one_by_one
from unspool._errors import StateError
from unspool._text.extract import MAX_FENCE, MAX_HELD, Extractor, Piece

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Parts = list[tuple[str, str]]
TAKEN = ""

PLAIN: dict[str, Parts] = {
    "nothing": [],
    "an object": [("", '{"a": 1}')],
    "an object and a line end": [("", '{"a": 1}\n')],
    "white space around": [("", ' \t\r\n\n [{"a": "b"}] \n\n')],
    "numbers": [("", "[1, 2, 3]")],
    "a number alone": [("", "[5]")],
    "nothing in it": [("", "[]\n")],
    "nothing in it, apart": [("", "{\n }")],
    "brackets in strings": [("", r'{"}]\"": "]\\", "a": ["\\\"}", {}]}')],
    "brackets that do not fit": [("", "[1, {]]"), ("prose", "]")],
    "open at the end": [("", '{"a": [1, "')],
    "a bracket at the end": [("prose", "{")],
    "prose alone": [("prose", "There is none.\n")],
    "a scalar": [("prose", "42 true null")],
    "a string": [("prose", '"a [b] {c}"')],
}
MARKS: dict[str, Parts] = {
    "a mark": [("bom", "\ufeff"), ("", '{"a": 1}')],
    "a mark and space": [("bom", "\ufeff"), ("", ' \n{"a": 1}')],
    "a mark and a fence": [("bom", "\ufeff"), ("fence", "```\n"), ("", "1\n"), ("fence", "```")],
    "a mark and prose": [("bom", "\ufeff"), ("prose", "Sure: "), ("", '{"a": 1}')],
    "a mark alone": [("bom", "\ufeff")],
    "two marks": [("bom", "\ufeff"), ("prose", "\ufeff"), ("", '{"a": 1}')],
    "a mark elsewhere": [("", " "), ("prose", "\ufeff"), ("", '{"a": "\ufeff"}'), ("prose", "\ufeff")],
}
PROSE: dict[str, Parts] = {
    "before and after": [("prose", "Sure! "), ("", '{"a": 1} '), ("prose", "Anything else?")],
    "before, on a line of its own": [("prose", "Here you are:\n\n"), ("", '{"a": 1}\n\n'), ("prose", "Bye.\n")],
    "quotes in prose": [("prose", "It's \"so: "), ("", '["a"] '), ("prose", 'or "')],
    "code in a line": [("prose", "Use `"), ("", '{"a": 1}'), ("prose", "`.")],
    "another script": [("prose", "结果"), ("", '["一"]'), ("prose", "。")],
    "a space apart": [("prose", "x "), ("", '{ \r\n\t"a": 1}')],
    "nothing in it, on a later line": [("prose", "x\n   "), ("", "[]\n")],
    "a string, apart": [("prose", "x "), ("", '[ \n"a"]')],
    "arrays, apart": [("prose", "x "), ("", "[\t[ 1, 2]]")],
    "an array of arrays": [("prose", "x "), ("", "[[1, 2], [3]]")],
    "an array of short arrays": [("prose", "x "), ("", "[[1], [2]]")],
    "an array of objects": [("prose", "x "), ("", '[{"a": 1}]')],
    "an array of empty ones": [("prose", "x "), ("", "[{}, {}]")],
    "three arrays deep": [("prose", "x "), ("", "[[[7]]]")],
    "literals": [("prose", "x "), ("", "[true , false]")],
    "fractions": [("prose", "x "), ("", "[-0.5e-3, 1E+2]")],
    "an interval": [("prose", "in "), ("", "[0, 1]"), ("prose", ".")],
    "a second value": [("", '{"a": 1} '), ("prose", 'and {"b": 2} ["c"]')],
    "a value after a value": [("", '{"a": 1}'), ("prose", '{"b": 2}')],
    "a template": [("prose", "{"), ("", '{"a": 1}'), ("prose", "}")],
    "a bracket, then a value": [("prose", "[see "), ("", '{"a": 1}'), ("prose", "]")],
    "a bracket above a value": [("prose", "[\n"), ("prose", "x\n"), ("", '{"a": 1}')],
    "a bracket above a fence": [("prose", "[\n"), ("fence", "```\n"), ("", '"a"\n'), ("fence", "```")],
    "broken once begun": [("prose", "x "), ("", '{"a" 1, nope}'), ("prose", ".")],
}
NOT_JSON = [
    "{name}",
    "{ name }",
    "{{name}}",
    "{name: 1}",
    "{'a': 1}",
    "{1, 2}",
    "{1}",
    "{% if %}",
    "{,}",
    "{ []",
    "see {}",
    "f(){}",
    "[text](url)",
    "[this](url)",
    "[null island](url)",
    "[nullable]",
    "![alt](url)",
    "[1](url)",
    "[true](url)",
    "[](url)",
    "{}(x)",
    "see [1]",
    "see [1].",
    "[1] Smith, 2020",
    "[1]: http://example.org",
    "see [[1]](url)",
    "[[Page]]",
    "[[1] x]",
    "[[{name}]]",
    "[{name}, 1]",
    "[1-3]",
    "[1-3, 5]",
    "[1.]",
    "[1., 2]",
    "[.5, 2]",
    "[+5, 2]",
    "[-, 2]",
    "[e5, 2]",
    "[2024-01-01, 12:00]",
    "[12:30]",
    "[1.2.3, 4]",
    "[0x1F, 4]",
    "[1 2]",
    "[,]",
    "[a, b]",
    "[True, False]",
    "[...]",
    "[\u0661, \u0662]",
    "- [ ] to do",
    "- [x] done",
    "x[0]",
    "x[0, 1]",
    'row["name"]',
    'f(x)["name"]',
    'x[0]["name"]',
    "\\[ x \\]",
    "[" + " " * MAX_HELD + "]",
    "[" + "1" * MAX_HELD + "]",
]
FENCES: dict[str, Parts] = {
    "the main case": [
        *[("prose", "Sure:\n"), ("fence", "```json\n"), ("", '{"a": 1}\n'), ("fence", "```\n")],
        ("prose", "Bye."),
    ],
    "without prose": [("fence", "```json\n"), ("", '{"a": 1}\n'), ("fence", "```")],
    "without a label": [("fence", "```\n"), ("", '{"a": 1}\n'), ("fence", "```")],
    "with tildes": [("fence", "~~~ json5 title=`x`\n"), ("", '{"a": 1}\n'), ("fence", "~~~\n")],
    "with any label": [("fence", '```js {1,3} title="x"\n'), ("", '{"a": 1}\n'), ("fence", "```")],
    "in capitals": [("fence", "```  JSON\n"), ("", "{a: 1}\n"), ("fence", "```")],
    "longer": [("fence", "`````\n"), ("", '{"a":\n````\n'), ("", "1}\n"), ("fence", "``````\n")],
    "the other one": [("fence", "~~~\n"), ("", '{"a":\n```\n1}\n'), ("fence", "~~~")],
    "indented": [("fence", "   ```json\n"), ("", '   {"a":\n    1}\n'), ("fence", "  ``` \t\n")],
    "indented too far": [("", "    "), ("prose", "```json\n    "), ("", '{"a": 1}\n    '), ("prose", "```")],
    "indented too far inside": [("fence", "```json\n"), ("", '{"a":\n    ```}'), ("", "\n"), ("fence", "```")],
    "in a line": [("prose", "Here: ```json\n"), ("", '{"a": 1}\n'), ("fence", "```")],
    "with CRLF": [("fence", "```json\r\n"), ("", '{"a":\r\n1}\r\n'), ("fence", "```\r\n"), ("prose", "x\r\n")],
    "with empty lines": [("fence", "```\n"), ("", '\n \n{"a": 1}\n\n'), ("fence", "```\n"), ("", "\n"), ("prose", "x")],
    "never closed": [("fence", "```json\n"), ("", '{"a": 1}\n'), ("prose", "x\n")],
    "closed behind the value": [("fence", "```json\n"), ("", '{"a": 1}'), ("prose", "```\nx")],
    "not closed by two": [("fence", "```\n"), ("", '{"a":\n``\n1}\n'), ("fence", "```")],
    "on one line": [("fence", "```json"), ("", '{"a": 1}'), ("prose", "```\nx")],
    "on one line, without a label": [("fence", "```"), ("", '["a"]'), ("prose", "``` x")],
    "code on one line": [("fence", "```x"), ("prose", "``` y "), ("", '{"a": 1}')],
    "code on one line, with brackets": [("fence", "```x[0] {y}"), ("prose", "``` y "), ("", '{"a": 1}')],
    "a fence at the end": [("prose", "x\n"), ("fence", "``````json")],
    "half a fence at the end": [("prose", "x\n  ``")],
    "spaces at the end": [("prose", "x\n  ")],
    "fences in strings": [("fence", "```json\n"), ("", '{"a": "```\\n```json\\n~~~"}\n'), ("fence", "```")],
    "a shorter fence inside": [
        *[("fence", "````md\n"), ("prose", "# x\n```json\n1\n```\n"), ("fence", "````\n")],
    ],
    "a number": [("fence", "```\n"), ("", "-1.5e3 \n"), ("fence", "```")],
    "a number at the end": [("fence", "```\n"), ("", "42")],
    "a literal": [("fence", "```\n"), ("", "null\r\n"), ("fence", "```")],
    "a string": [("fence", "```\n"), ("", '"a{\\"["\n'), ("fence", "```")],
    "a footnote": [("fence", "```\n"), ("", "[1] "), ("prose", "Smith\n"), ("fence", "```")],
    "nothing in it": [("fence", "```\n"), ("", "[ ]\n"), ("fence", "```")],
    "words under the label": [("fence", "```jsonc\n"), ("", "nope\n{\n"), ("fence", "```")],
    "words under another": [("fence", "```js\n"), ("prose", 'x = {"a": 1}\n\n'), ("fence", "```\n"), ("", '{"b": 2}')],
    "not quite the label": [("fence", "```js[on\n"), ("prose", "nope\n"), ("fence", "```")],
    "brackets in the info": [("fence", "```js []\n"), ("", "1\n"), ("fence", "```")],
    "brackets under the label": [("fence", "```json\n"), ("", "]\n[\n"), ("fence", "```\n"), ("prose", " x")],
    "words at the end": [("fence", "```js\n"), ("prose", "tru")],
    "an empty block": [("fence", "```json\n```\n"), ("prose", "x "), ("", '{"a": 1}')],
    "a block after a block": [
        *[("fence", "```py\n"), ("prose", "x\n"), ("fence", "```\n~~~json\n"), ("", "{}\n"), ("fence", "~~~")],
    ],
    "a block in a block": [
        *[("fence", "```md\n"), ("prose", "# x\n"), ("fence", "```json\n"), ("", "{}\n")],
        *[("fence", "```\n"), ("prose", "x\n"), ("fence", "```")],
    ],
    "cut off": [("fence", "```json\n"), ("", '{"a": [1,\n'), ("fence", "```\n"), ("prose", '\n{"b": 2}')],
    "cut off in a string": [("fence", "```json\n"), ("", '{"a": "b\n'), ("fence", "```\n"), ("prose", '\n{"b": 2}')],
    "cut off in an escape": [("fence", "```json\n"), ("", '{"a": "b\\\n'), ("fence", "```\n"), ("prose", "x")],
    "a number, then more": [("fence", "```\n"), ("", "1\n"), ("fence", "```\n"), ("prose", 'x {"a": 1}')],
    "a list of steps": [("fence", "```\n"), ("prose", "1. First\n"), ("fence", "```\n"), ("", '["a"]')],
    "a table of a tool": [("fence", "```toml\n"), ("prose", "[tool.x]\n"), ("fence", "```\n"), ("", '["a"]')],
    "a recipe": [("fence", "```\n"), ("prose", "2 eggs\n"), ("fence", "```\n"), ("", '["a"]')],
    "a keyword": [("fence", "```py\n"), ("prose", "from x import y\n"), ("fence", "```\n"), ("", '["a"]')],
}
SEVERAL: dict[str, Parts] = {
    "lines": [("", '{"a": 1}\n{"b": 2}\r\n\n["c"]\n')],
    "with nothing between": [("", '{"a": 1}["b"]{"c": 3}')],
    "short ones on lines": [("", "[1]\n[]\n"), ("", "[2]\n{}")],
    "short ones behind others": [("", '{"a": 1} '), ("prose", "[]\n"), ("", "[2] \n")],
    "on one line": [
        ("fence", "```"),
        ("", '{"a": 1}'),
        ("prose", "```\n"),
        ("fence", "```\n"),
        ("", "2\n"),
        ("fence", "```"),
    ],
    "in prose": [("prose", "First "), ("", '{"a": 1} '), ("prose", "then "), ("", '["b"]'), ("prose", ".")],
    "with commas": [("", '{"a": 1}'), ("prose", ", "), ("", '{"b": 2}')],
    "in blocks": [
        *[("fence", "```json\n"), ("", '{"a": 1}\n'), ("fence", "```\n"), ("", "\n"), ("prose", "and\n")],
        *[("fence", "~~~\n"), ("", "2\n"), ("fence", "~~~\n"), ("", '["c"]')],
    ],
    "in one block": [
        *[("fence", "```json\n"), ("", '{"a": 1}\n{"b": 2}\n'), ("prose", "x "), ("", '["c"]\n'), ("fence", "```\n")],
    ],
    "scalars in one block": [("fence", "```json\n"), ("", '1\n{"a": "b"}\n"c" [2]\n'), ("fence", "```\n"), ("", "[4]")],
    "closed behind the value": [
        *[("fence", "```json\n"), ("", '{"a": 1}'), ("prose", "```\nx\n"), ("fence", "```json\n"), ("", "2\n")],
        ("fence", "```"),
    ],
    "opened in a line": [
        *[("prose", "x ```json\n"), ("", '{"a": 1}\n'), ("fence", "```\n"), ("prose", "y\n"), ("fence", "```json\n")],
        *[("", "2\n"), ("fence", "```")],
    ],
    "cut off": [("fence", "```\n"), ("", '["a\n'), ("fence", "```\n~~~json\n"), ("prose", " 1\n"), ("fence", "~~~\n")],
}

SINGLE = {
    **{f"plain: {name}": parts for name, parts in PLAIN.items()},
    **{f"marks: {name}": parts for name, parts in MARKS.items()},
    **{f"prose: {name}": parts for name, parts in PROSE.items()},
    **{f"fences: {name}": parts for name, parts in FENCES.items()},
    **{f"not JSON: {text:.20}": [("prose", text)] for text in NOT_JSON},
    **{f"not JSON in prose: {text:.20}": [("prose", f"x {text} y\n"), ("", '{"a": 1}')] for text in NOT_JSON},
}
CASES = [
    *(pytest.param(parts, False, id=name) for name, parts in SINGLE.items()),
    *(pytest.param(parts, True, id=f"several: {name}") for name, parts in SEVERAL.items()),
]


def merged(parts: Iterable[tuple[str, str]]) -> Parts:
    """Neighbours of one kind as one."""
    result: Parts = []
    for why, text in parts:
        if result and result[-1][0] == why:
            result[-1] = (why, result[-1][1] + text)
        elif text:
            result.append((why, text))
    return result


def cut_up(extractor: Extractor, fragments: Iterable[str]) -> list[Piece]:
    return [piece for fragment in fragments for piece in extractor.feed(fragment)] + extractor.close()


def parts_of(fragments: Iterable[str], multiple: bool = False) -> Parts:
    """The parts of a text, after a look at whether pieces and report tell the same."""
    extractor = Extractor(multiple)
    pieces = cut_up(extractor, fragments)
    offset = 0
    for piece in pieces:
        assert piece.text
        assert piece.offset == offset
        assert piece.is_skipped is (piece.why != TAKEN)
        offset += len(piece.text)
    text = "".join(piece.text for piece in pieces)
    parts = merged((piece.why, piece.text) for piece in pieces)
    told = [(why, text[start : start + length]) for start, length, why in extractor.skipped]
    assert told == [part for part in parts if part[0] != TAKEN]
    return parts


def taken(text: str, multiple: bool = False) -> str:
    return "".join(part for why, part in parts_of([text], multiple) if why == TAKEN)


def text_of(parts: Parts) -> str:
    return "".join(text for _, text in parts)


@pytest.mark.parametrize(("parts", "multiple"), CASES)
def test_cases(parts: Parts, multiple: bool) -> None:
    """Each case is cut into its parts, and reported so, whole and cut anywhere."""
    text = text_of(parts)
    expected = merged(parts)
    assert parts_of([text], multiple) == expected
    assert parts_of(one_by_one(text), multiple) == expected
    for fragments in every_single_cut(text):
        assert parts_of(fragments, multiple) == expected


@pytest.mark.parametrize(("parts", "multiple"), CASES)
def test_states(parts: Parts, multiple: bool) -> None:
    """From each character on a dumped and loaded state, and a fork, go on as the original; dumps ignore the cutting."""
    text = text_of(parts)
    extractor = Extractor(multiple)
    before: list[Piece] = []
    for place in range(len(text) + 1):
        data = extractor.dump()
        whole = Extractor(multiple)
        whole.feed(text[:place])
        assert whole.dump() == data
        loaded = Extractor.load(json.loads(json.dumps(data)))
        assert loaded.dump() == data
        for other in (loaded, extractor.fork()):
            pieces = [*before, *cut_up(other, [text[place:]])]
            assert merged((piece.why, piece.text) for piece in pieces) == merged(parts)
            assert text_of([(why, text[at : at + size]) for at, size, why in other.skipped]) == text_of(
                [part for part in parts if part[0] != TAKEN]
            )
        before += extractor.feed(text[place : place + 1])


def test_forks_go_their_own_ways() -> None:
    """What one future adds to the report is not seen by another one, nor by the past."""
    past = Extractor(multiple=True)
    past.feed('x {"a": 1} y ')
    told = past.skipped
    first, second = past.fork(), past.fork()
    cut_up(first, ["```json\n[1]\n```\n"])
    cut_up(second, ['{"b": 2} z'])
    assert past.skipped == told == [(0, 2, "prose"), (11, 2, "prose")]
    assert [(offset, why) for offset, _, why in first.skipped] == [(0, "prose"), (11, "prose"), (25, "fence")]
    assert second.skipped == [(0, 2, "prose"), (11, 2, "prose"), (22, 1, "prose")]


def test_the_report_is_a_copy() -> None:
    """Whoever changes the list that was handed out changes nothing else."""
    extractor = Extractor()
    extractor.feed('x {"a": 1} y')
    extractor.skipped.clear()
    assert [region.why for region in extractor.skipped] == ["prose", "prose"]


def test_closing_twice() -> None:
    """What was held back comes once."""
    extractor = Extractor()
    assert [piece.text for piece in extractor.feed("x [1, ")] == ["x ", "[1, "]
    extractor = Extractor()
    assert [piece.text for piece in extractor.feed("x [1")] == ["x "]
    assert [piece.text for piece in extractor.close()] == ["[1"]
    assert extractor.close() == []
    assert extractor.feed("") == []


def test_repr() -> None:
    """A piece shows what it is."""
    (piece,) = Extractor().feed("x")
    assert repr(piece) == "Piece('x', 0, 'prose')"


def test_far_ahead() -> None:
    """A bracket waits for as many characters as are promised, and no longer."""
    for count in range(MAX_HELD - 3, MAX_HELD + 3):
        text = "x {" + " " * count + '"a": 1}'
        expected = text[2:] if count + 2 <= MAX_HELD else ""
        assert taken(text) == expected
        assert "".join(part for why, part in parts_of(one_by_one(text)) if why == TAKEN) == expected


def test_long_fences() -> None:
    """Fences are told apart by their length up to a limit, and beyond it are alike."""
    for size in (3, 4, MAX_FENCE - 1, MAX_FENCE):
        shorter = "`" * (size - 1)
        assert taken(f'{"`" * size}\n["a",\n{shorter}\n"b"]\n{"`" * size}\n') == f'["a",\n{shorter}\n"b"]\n'
    long, longer = "`" * MAX_FENCE, "`" * MAX_FENCE * 3
    assert taken(f'{longer}\n["a",\n{long}\n["b"]') == '["a",\n'


# Properties.

WORDS = st.text(st.sampled_from("ab1 ,.:;'\"é一😀\t()-/<>*_#"), max_size=30)
NASTY = st.lists(
    st.sampled_from(
        [
            *'[]{}"\\`~ \n\ta1,-:.',
            *("```", "```json\n", "~~~\n", "\r\n", "\ufeff", '{"a": ', '["', "\\n", "true", "[1", "    ", "json", "``"),
            " " * 40,
        ]
    ),
    max_size=30,
).map("".join)


@given(NASTY | st.text(), st.booleans(), st.lists(st.integers(0, 100), max_size=6))
def test_any_text(text: str, multiple: bool, places: list[int]) -> None:
    """Whatever the text is, it is cut without a loss, and cutting it elsewhere is not observable."""
    whole = parts_of([text], multiple)
    assert text_of(whole) == text
    assert parts_of(one_by_one(text), multiple) == whole
    fragments = cut_at(text, [min(place, len(text)) for place in places])
    assert parts_of(fragments, multiple) == whole
    one, other = Extractor(multiple), Extractor(multiple)
    one.feed(text)
    for fragment in fragments:
        other.feed(fragment)
    data = one.dump()
    assert data == other.dump() == Extractor.load(json.loads(json.dumps(data))).dump()
    assert len(str(data["held"])) < MAX_HELD


@given(NASTY, NASTY)
def test_a_single_value_is_where_several_begin(text: str, more: str) -> None:
    """Asking for several values changes nothing before the end of the first one."""
    one, several = Extractor(), Extractor(multiple=True)
    for character in text + more:
        if one.dump()["is_done"]:
            break
        assert [(piece.why, piece.text) for piece in one.feed(character)] == [
            (piece.why, piece.text) for piece in several.feed(character)
        ]


@given(WORDS, documents(), WORDS, st.sampled_from(["\n", "\r\n"]))
def test_values_in_prose(before: str, document: str, after: str, line_end: str) -> None:
    """A container that stands apart in prose is taken as it is, and nothing else is."""
    assume(document.strip()[0] in "[{" and len(document.strip("[ \t\r\n").partition(",")[0]) < MAX_HELD)
    text = f"Look:{before}{line_end}{document}{line_end}.{after}"
    assert taken(text).strip() == document.strip()
    assert json.loads(taken(text)) == json.loads(document)


@given(WORDS, documents(), WORDS)
def test_values_in_a_line(before: str, document: str, after: str) -> None:
    """An object with a key, and an array with a string, are taken wherever they stand."""
    for wrapped in ('{"value": ' + document + "}", '["value", ' + document + "]"):
        assert taken(f"{before}: {wrapped}.{after}").strip() == wrapped
        assert taken(f"{before}: {wrapped}.{after}: {wrapped}", multiple=True).split() == (wrapped * 2).split()


@st.composite
def fences(draw: st.DrawFn) -> tuple[str, str]:
    """The two lines around a block."""
    marker = draw(st.sampled_from("`~"))
    size = draw(st.integers(3, MAX_FENCE + 5))
    info = draw(st.sampled_from(["json", "JSON", " json5", 'jsonc title="x"', "json {1,3}", "  jsonl\tx", "json [x]"]))
    opening, closing = (" " * draw(st.integers(0, 3)) for _ in range(2))
    longer = draw(st.integers(0, 3))
    space = draw(st.sampled_from(["", " ", "\t"]))
    line_end = draw(st.sampled_from(["\n", "\r\n"]))
    return opening + marker * size + info + space + line_end, closing + marker * (size + longer) + space + line_end


@given(WORDS, fences(), documents(), WORDS)
def test_values_in_blocks(before: str, fence: tuple[str, str], document: str, after: str) -> None:
    """Any value in a block that is labelled as JSON is taken, and the block ends where its fence says so."""
    opening, closing = fence
    text = f"{before}:\n{opening}{document}\n{closing}:{after}\n"
    parts = parts_of([text])
    assert "".join(part for why, part in parts if why == TAKEN).strip() == document.strip()
    assert [part for why, part in parts if why == "fence"] == [opening, closing]
    assert taken(text * 3, multiple=True).split() == (document + "\n").split() * 3


@given(fences(), documents())
def test_cut_values_in_blocks(fence: tuple[str, str], document: str) -> None:
    """A block that ends before its value does is taken up to there; nothing behind it is."""
    opening, closing = fence
    document = "[" + document.strip().replace("\n", " ")
    text = f'{opening}{document}\n{closing}{{"a": 1}}\n{opening}{{"b": 2}}\n{closing}'
    assert taken(text) == taken(text, multiple=True) == document + "\n"


SHAPES = ["a ", "a\n", "[ ", "[1 ", "{", "{ ", '{"a": 1} x ', "`", "```\n", "`" * 63 + "\n", "[\n" + " " * 120 + "x\n"]


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
@pytest.mark.parametrize("start", ["", "x ", "```\n", '["', "`" * 70 + "\n"], ids=repr)
def test_long_texts(start: str, shape: str) -> None:
    """A long text of any shape is cut in a time that is no matter, and little is held back."""
    text = start + shape * (100_000 // len(shape))
    extractor = Extractor(multiple=True)
    size = sum(len(piece.text) for piece in extractor.feed(text) + extractor.close())
    assert size == len(text)
    extractor = Extractor(multiple=True)
    for fragment in one_by_one(text[:1000]):
        extractor.feed(fragment)
        assert len(str(extractor.dump()["held"])) < MAX_HELD


# States that come from elsewhere.

JUNK: list[Any] = [
    *(None, True, False, -1, 0, 1, 2, 5, 100, 2**63, 1.5, "", "x", "`", "x" * 200),
    *([], {}, [[]], [0, 1, "prose"]),
]
REPORTS: list[Any] = [
    [[0, 1]],
    [[0, 1, "prose", 2]],
    [[0, 1, "other"]],
    [[0, 1, ""]],
    [[0, True, "prose"]],
    [[-1, 1, "prose"]],
    [[0, 0, "prose"]],
    [[0, 2**70, "prose"]],
    [[2**70, 1, "prose"]],
    [[3, 1, "prose"], [2, 1, "prose"]],
    [[2, 1, "prose"], [2, 1, "fence"]],
    [[2, 1, "prose"], [3, 1, "prose"]],
    [None],
    None,
    {},
]


def dumps() -> Iterator[dict[str, Any]]:
    for text in ("", "\ufeffx [", '{"a": "\\', "```json\n  ``", "~~~ js", 'x\n```\n["a"]\n```\n '):
        extractor = Extractor(multiple=len(text) % 2 == 0)
        extractor.feed(text)
        yield extractor.dump()


@pytest.mark.parametrize("junk", [None, [], "x", 1, {}, {"mode": 1}], ids=repr)
def test_no_dump_at_all(junk: object) -> None:
    """What is no dump is refused."""
    with pytest.raises(StateError, match="invalid extractor field"):
        Extractor.load(junk)


@pytest.mark.parametrize("report", REPORTS, ids=repr)
def test_wrong_reports(report: object) -> None:
    """Regions must be in order, apart, inside of the text, and for a known reason."""
    extractor = Extractor()
    extractor.feed("xxxxxx")
    with pytest.raises(StateError, match="skipped"):
        Extractor.load({**extractor.dump(), "skipped": report})


def test_wrong_dumps() -> None:
    """A field that is missing or wrong is refused, or makes a state that works; nothing else happens."""
    refused = 0
    for data in dumps():
        for name in data:
            missing = copy.deepcopy(data)
            del missing[name]
            with pytest.raises(StateError, match=name):
                Extractor.load(missing)
            for junk in JUNK:
                try:
                    extractor = Extractor.load({**data, name: junk})
                except StateError:
                    refused += 1
                    continue
                assert cut_up(extractor, one_by_one('x\n```json\n{"a": ["\\n"]}\n```\n x [1] ~~~\n'))
                assert extractor.fork().dump() == Extractor.load(extractor.dump()).dump()
    assert refused > 500

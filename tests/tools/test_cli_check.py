"""`unspool check`: whether an input is whole and valid; if not, where, in what, and what was expected instead."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import strategies
from tests.support.inputs import CHAT, INPUTS, recorded, sse
from tests.support.running import Terminal, run
from unspool import FragmentParser, JSONSyntaxError, Options
from unspool.tools.cli.arrivals import Input
from unspool.tools.cli.commands.check import Inspection, OneText
from unspool.tools.cli.findings import Surroundings
from unspool.tools.cli.terminal import excerpt
from unspool.tools.viewer.escaping import cells, visible
from unspool.tools.viewer.inputs import InputKind
from unspool.tools.viewer.tracks import Item, TrackPiece

if TYPE_CHECKING:
    from pathlib import Path

    from unspool.tools.cli.findings import Finding


def report(data: bytes, *args: object, status: int = 1) -> dict[str, Any]:
    """The report for machines."""
    outcome = run("check", "--json", *args, data=data)
    assert (outcome.status, outcome.stderr) == (status, "")
    (line,) = outcome.stdout.splitlines()
    found: dict[str, Any] = json.loads(line)
    assert found["ok"] is (status == 0) is not bool(found["problems"])
    return found


def told(data: bytes, *args: object, **env: str) -> str:
    """The report for people. Standard error has at most a hint."""
    outcome = run("check", *args, data=data, **env)
    assert outcome.status == 1
    assert outcome.stderr == "" or outcome.stderr.startswith("hint: ")
    return outcome.stdout.decode()


def inspected(fragments: list[str] | list[bytes]) -> list[Finding]:
    """What is wrong with one text."""
    problems: list[Finding] = []
    reader = OneText(problems, None, False)
    for fragment in fragments:
        reader.take(Item((TrackPiece("json", fragment),)))
    reader.close()
    return problems


# ---- one text ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", INPUTS)
def test_what_is_whole(name: str) -> None:
    """Each of the inputs is: exit status 0, one line that says so, nothing with -q."""
    outcome = run("check", data=INPUTS[name].data)
    assert outcome.status == 0
    assert outcome.stdout.startswith(b"standard input: ok: ")
    assert run("check", "-q", data=INPUTS[name].data) == (0, b"", "")


def test_what_is_said() -> None:
    """The place, what is wrong there, the path, what was expected, and a caret under the very character."""
    assert told(b'{"title": "Trip",\n\t"days": [{"hours" 6}]\n}') == (
        "standard input: line 2, column 20 (offset 37)\n"
        "  unexpected character, in $.days[0]; expected ':'\n"
        '  2 | \\t"days": [{"hours" 6}]\n'
        "    |                     ^\n"
    )
    assert told('{"Überschrift": "漢字", "x": 01}'.encode()) == (
        "standard input: line 1, column 29 (offset 28, byte 33)\n"
        "  invalid number, in $.x; expected the end of the number, '.' or 'e'\n"
        '  1 | {"Überschrift": "漢字", "x": 01}\n'
        "    |                               ^\n"
    )
    assert told(b'{"a": [1, {"b": "so far') == (
        "standard input: line 1, column 24 (offset 23)\n"
        "  the text ended too early, in $.a[1].b; expected the rest of the string\n"
        '  1 | {"a": [1, {"b": "so far\n'
        "    |                        ^\n"
    )


def test_for_machines() -> None:
    """The same as one line of JSON, whose names are fixed."""
    assert report(b'{"a": [1, 2}') == {
        "ok": False,
        "file": "-",
        "input": "json",
        "format": None,
        "documents": 1,
        "characters": 12,
        "problems": [
            {
                "code": "unexpected_character",
                "message": "unexpected character",
                "path": "$.a",
                "expected": "',' or ']'",
                "offset": 11,
                "line": 1,
                "column": 12,
                "byte": 11,
                "document": None,
                "track": None,
            }
        ],
    }
    assert run("check", "-q", data=b'{"a": [1, 2}') == (1, b"", "")


@given(strategies.cut(strategies.broken_documents(small=True)))
def test_the_place_is_that_of_the_reader(case: tuple[str, list[str]]) -> None:
    """For every error and every cut, the place is exact, and the caret is under that character."""
    text, fragments = case
    parser = FragmentParser(Options(max_chars=None))
    parser.feed(text)
    parser.close()
    error = parser.error
    for pieces in (fragments, [fragment.encode("utf-8", "surrogatepass") for fragment in fragments]):
        problems = inspected(pieces)
        assert len(problems) == (error is not None)
        if error is None:
            continue
        (problem,) = problems
        place = problem.place
        assert place is not None
        assert (place.offset, place.line, place.column) == error.position
        assert (problem.code, problem.path, problem.expected) == (error.code, str(error.path), error.expected)
        line = text[: error.offset].rpartition("\n")[2]
        assert place.before == line[-1000:]
        assert place.after[:1] in (text[error.offset : error.offset + 1], "")


@given(strategies.broken_bytes().flatmap(lambda data: st.tuples(st.just(data), strategies.byte_cuttings(data))))
def test_bytes_that_are_not_utf_8(case: tuple[bytes, list[bytes]]) -> None:
    """They have their place too: in characters, and in bytes."""
    data, pieces = case
    parser = FragmentParser()
    parser.feed(data)
    parser.close()
    problems = inspected(pieces)
    if parser.error is None:
        assert problems == []
        return
    (problem,) = problems
    assert problem.place is not None
    assert (problem.code, problem.place.offset) == (parser.error.code, parser.error.offset)
    before = data.decode("utf-8", "replace")[: problem.place.offset]
    if "\ufffd" not in before:
        assert problem.place.byte == len(before.encode())
    (problem,) = inspected([data])
    assert problem.place is not None
    assert "\ufffd" in before or problem.place.byte == len(before.encode())


def test_the_byte_that_is_wrong() -> None:
    """In the middle of a string, outside of one, and where a character is cut off at the end."""
    (problem,) = report(b'{"caf\xc3\xa9": "a\xffb"}')["problems"]
    assert (problem["code"], problem["offset"], problem["byte"]) == ("invalid_utf8", 11, 12)
    (problem,) = report(b'{"a": \xff}')["problems"]
    assert (problem["code"], problem["offset"], problem["byte"]) == ("unexpected_character", 6, 6)
    (problem,) = report(b'{"a": "caf\xc3')["problems"]
    assert (problem["code"], problem["offset"], problem["byte"]) == ("incomplete", 10, 10)


def test_the_caret_is_behind_the_last_character() -> None:
    """For people, a text that ends too early ends behind its last character, not on an empty last line."""
    for end in ("", "\n", "\n\n", "\r\n", " \n\t"):
        shown = told(('{"é": [1, "x"' + end).encode())
        assert shown.splitlines()[-4:] == [
            "standard input: line 1, column 14 (offset 13, byte 14)",
            "  the text ended too early, in $.é; expected ',' or ']'",
            '  1 | {"é": [1, "x"',
            "    |              ^",
        ]
    (problem,) = report(b'{"a": [1\n')["problems"]
    assert (problem["offset"], problem["line"]) == (9, 2), "programs get the place of the parser"


def test_the_caret_does_not_depend_on_the_cuts() -> None:
    """The end of the text is the same for all cuts, also behind much white space."""
    text = '{"a": [\n  "x"' + "\n" * 1200
    for size in (1, 7, 500, 5000):
        (finding,) = inspected([text[at : at + size] for at in range(0, len(text), size)])
        assert finding.place is not None
        assert finding.caret is None or (finding.caret.line, finding.caret.column) == (2, 6)
    (finding,) = inspected([text[:40], text[40:60]])
    assert finding.caret is not None
    assert (finding.caret.before, finding.caret.after) == ('  "x"', "")


def test_snapshots_are_called_snapshots() -> None:
    """With --input snapshots the report says so."""
    data = b'{"a": "x"}\n{"a": "xy"}\n'
    outcome = run("check", "--input", "snapshots", data=data)
    assert outcome.stdout == b"standard input: ok: snapshots, 2 documents, 23 characters\n"
    assert report(data, "--input", "snapshots", status=0)["input"] == "snapshots"


def test_other_text_around_the_document() -> None:
    """With --extract, text behind the value is skipped, also if it begins on a new line."""
    for command in ("check", "values", "watch"):
        outcome = run(command, "--extract", data=b'{"a": 1}\nHope this helps!\n')
        assert (outcome.status, outcome.stderr) == (0, "")


def test_json_in_other_text() -> None:
    """With --extract the place is still that in the whole text."""
    text = 'Here:\n```json\n{"a": 1,}\n```\n'
    assert run("check", "--extract", data=text.replace(",", "").encode()).status == 0
    (problem,) = report(text.encode(), "--extract")["problems"]
    assert (problem["line"], problem["column"], problem["offset"]) == (3, 9, text.index("}"))


# ---- the line and its caret --------------------------------------------------------------------------

SHOWN = st.text(st.sampled_from('ab"{}: \t\r\x1b\x00\u202e\u200bé漢🗻\ud83d\u0301'), max_size=60)


@given(SHOWN, SHOWN, st.integers(1, 60), st.booleans())
@settings(max_examples=200)
def test_the_caret_is_under_the_character(before: str, after: str, width: int, ascii_only: bool) -> None:
    """Clipped on both sides where it must be, escaped, and never wider than there is room for."""
    text, caret = excerpt(before, after, width, ascii_only=ascii_only)
    assert cells(text) <= width
    assert 0 <= caret < width
    assert visible(text, ascii_only=ascii_only) == text
    under = visible(after[:1], ascii_only=ascii_only)
    at = next(index for index in range(len(text) + 1) if cells(text[:index]) == caret)
    if cells(under) <= width and not before.endswith("\u0301") and under != "\u0301":
        assert text[at:].startswith(under)
    whole = visible(before + after[:1] + after[1:].removesuffix("\r"), ascii_only=ascii_only)
    if cells(whole) < width:
        assert text == whole


@pytest.mark.parametrize(
    ("before", "after", "width", "shown"),
    [
        ("", "", 10, ("", 0)),
        ("{", "]", 10, ("{]", 1)),
        ("\t{", "]", 10, ("\\t{]", 3)),
        ("x" * 50, "!", 10, ("…xxxxxxxx!", 9)),
        ("x" * 50, "!" + "y" * 50, 10, ("…xxxxx!yy…", 6)),
        ("", "!" + "y" * 50, 10, ("!yyyyyyyy…", 0)),
        ("漢" * 50, "!", 10, ("…漢漢漢漢!", 9)),
        ("a", "\n", 10, ("a\\n", 1)),
        ("a" * 9, "", 10, ("a" * 9, 9)),
        ("a" * 10, "", 10, ("…aaaaaaaa", 9)),
        ("", "\U000e0041", 4, ("\\U0…", 0)),
    ],
)
def test_lines_that_are_clipped(before: str, after: str, width: int, shown: tuple[str, int]) -> None:
    """Long, wide, with tabs, at the end of the line."""
    assert excerpt(before, after, width) == shown


def test_a_long_line() -> None:
    """Of a megabyte in one line, what is around the place is shown."""
    data = b"[" + b'{"a": "bcd"},' * 20_000 + b"oops" + b',{"a": "bcd"}' * 10_000
    lines = told(data).splitlines()
    assert len(lines) == 4
    assert max(map(len, lines)) <= 100
    assert lines[2][lines[3].index("^")] == "o"


def test_ascii_only() -> None:
    """Nothing but ASCII, if that is asked for; nothing but what is to be seen, always."""
    text = 'Ü"\x1b[31m\u202e漢'.replace("Ü", '{"Überschrift": "').encode() + b" oops"
    for env in ({"UNSPOOL_ASCII": "1"}, {"LC_ALL": "C"}):
        shown = told(text, **env)
        assert shown.isascii()
        assert "\\xdc" in shown
        assert "\x1b" not in shown
    shown = told(text)
    assert "Überschrift" in shown
    assert visible(shown.replace("\n", "")) == shown.replace("\n", "")


def test_only_what_is_near_is_kept() -> None:
    """The text may be of any length: the surroundings of a place are not."""
    around = Surroundings()
    for _ in range(100):
        around.feed(b"x" * 997 + "é".encode())
    around.feed("y")
    assert (around.length, around.byte(around.length)) == (99_801, 99_901)
    before, after = around.around(around.length - 1)
    assert (before[-2:], after) == ("xé", "y")
    assert len(before) <= 1000


# ---- many texts --------------------------------------------------------------------------------------


def test_each_line_is_read() -> None:
    """In NDJSON each document is checked on its own, and each problem is reported with its place."""
    data = b'{"a": 1}\n\n{"b": \n{"c": 3} x\r\n{"caf\xc3\xa9": tru}\n{"e": 5}'
    found = report(data, "--input", "ndjson")
    assert (found["documents"], found["characters"]) == (5, len(data.decode()))
    places = [(one["document"], one["code"], one["line"], one["column"]) for one in found["problems"]]
    assert places == [(1, "incomplete", 3, 7), (2, "trailing_text", 4, 10), (3, "invalid_literal", 5, 13)]
    for problem in found["problems"]:
        lines = data.decode()[: problem["offset"]].split("\n")
        assert (len(lines), len(lines[-1]) + 1) == (problem["line"], problem["column"])
    assert "standard input: document 4: line 5, column 13" in told(data, "--input", "ndjson"), "people count from 1"


def test_ndjson_in_any_cutting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the bytes are cut does not matter."""
    data = '{"é": 1}\n{"ü": oops}\n\n{"漢": [}\n{"a": 1}\n{"b"'.encode()
    expected: list[object] | None = None
    for place in range(len(data) + 1):
        pieces = iter([data[:place], data[place:]])
        monkeypatch.setattr("unspool.tools.cli.arrivals.arrivals", lambda *_, pieces=pieces: pieces)
        inspection = Inspection(Input(kind=InputKind.NDJSON), None, None, False)
        inspection.run()
        places = [one.place for one in inspection.problems if one.place is not None]
        found: list[object] = [(one.code, one.path, one.document) for one in inspection.problems]
        found += [replace(place, after=place.after[:1]) for place in places]  # how much has come is another matter
        expected = found if expected is None else expected
        assert found == expected
    assert expected is not None
    assert len(expected) == 6


def test_many_problems() -> None:
    """Of very many, the first are shown to people, and how many more there are; machines get all."""
    data = b'{"a": 1}\n' + b"[oops]\n" * 30
    assert told(data, "--input", "ndjson").endswith("and 10 more\n")
    assert len(report(data, "--input", "ndjson")["problems"]) == 30


def test_snapshots_have_to_go_on() -> None:
    """Lines that look like snapshots may be NDJSON; with --input snapshots each must extend the previous one."""
    data = INPUTS["snapshots"].data + b'{"title": "Other"}\n'
    assert report(data, status=0)["input"] == "ndjson"
    problems = report(data, "--input", "snapshots")["problems"]
    assert [(problem["document"], problem["code"], problem["path"]) for problem in problems] == [
        (4, "rewritten", "$.title"),
        (4, "vanished", "$.days"),
    ]


# ---- messages ----------------------------------------------------------------------------------------


def chunked(chunks: list[dict[str, Any]]) -> bytes:
    return b"".join([json.dumps(chunk).encode() + b"\n" for chunk in chunks])


def finished(reason: str) -> dict[str, Any]:
    return {**CHAT[0], "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def test_a_call_that_was_cut_off() -> None:
    """Which call it is, why, and where its arguments end."""
    assert told(chunked([*CHAT[:5], finished("length")])) == (
        "standard input: call 0 (trip): line 1, column 22 (offset 21)\n"
        "  the message was cut off: length, in $; expected the rest of the key\n"
        '  1 | {"city": "Porto", "da\n'
        "    |                      ^\n"
    )


def test_a_call_that_is_broken() -> None:
    """The place is that in the arguments; the others are whole."""
    broken = chunked(CHAT).replace(b": 3}", b": oops}")
    (problem,) = report(broken)["problems"]
    assert (problem["track"], problem["code"], problem["path"]) == ("call 0 (trip)", "syntax", "$.days")
    assert (problem["line"], problem["column"]) == (1, 27)


def test_messages_that_do_not_end_well() -> None:
    """A stream that stops, a provider error, a length limit, an invalid chunk, half of an answer."""
    half = json.loads(json.dumps(CHAT[0]).replace("Let me ", "{'title': 'Tr").replace("'", '\\"'))
    for data, code, message in [
        (chunked(CHAT[:2]), "unfinished", "the stream ended"),
        (chunked([*CHAT[:2], {"error": {"message": "overloaded"}}]), "provider", "the provider reported an error"),
        (chunked([*CHAT[:2], finished("length")]), "truncated", "the message was cut off: length"),
        (chunked(CHAT) + b"oops\n", "chunk", "a chunk that is not JSON: chunk 9"),
        (chunked([half, finished("stop")]), "incomplete", "the text ended too early"),
    ]:
        (problem,) = report(data, "--format", "openai-chat")["problems"]
        assert problem["code"] == code
        assert problem["message"].startswith(message)


def test_prose_may_begin_with_a_bracket() -> None:
    """Prose that starts with a bracket is not checked as JSON."""
    prose = json.loads(json.dumps(CHAT[0]).replace("Let me ", "[Note] Nothing to do."))
    assert report(chunked([prose, finished("stop")]), status=0)["format"] == "openai-chat"


def test_an_answer_that_is_broken() -> None:
    """If it begins like JSON it is meant to be JSON, with brackets as with braces."""
    broken = json.loads(json.dumps(CHAT[0]).replace("Let me ", "[1, 2; 3]"))
    (problem,) = report(chunked([broken, finished("stop")]))["problems"]
    assert (problem["track"], problem["code"], problem["offset"]) == ("content", "invalid_number", 5)


def test_samples_have_their_names() -> None:
    """They are called as they were asked for, wherever they are."""
    assert run("check", "sample:trip").stdout.startswith(b"sample:trip: ok: openai-chat, ")
    assert json.loads(run("check", "sample:trip", "--json").stdout)["file"] == "sample:trip"


def test_events_and_recordings() -> None:
    """In any wrapping, the place is that in the text; a broken wrapping is reported as such."""
    for data in (sse(['{"a": [1', ', oops"']), recorded(b'{"a": [1, oops')):
        (problem,) = report(data)["problems"]
        assert (problem["code"], problem["offset"]) == ("unexpected_character", 10)
    recording = recorded(b'{"a": [1, 2]}') + b"oops\n"
    (problem,) = report(recording)["problems"]
    assert (problem["code"], problem["message"]) == ("unreadable", "line 3 of the recording: not JSON")


# ---- schemas -----------------------------------------------------------------------------------------


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    item = {"type": "object", "properties": {"hours": {"type": "number"}}, "required": ["hours"]}
    file = tmp_path / "schema.json"
    file.write_text(json.dumps({"type": "object", "properties": {"days": {"type": "array", "items": item}}}))
    return file


@pytest.mark.parametrize(
    ("text", "path", "at"),
    [
        ('{"days": [{"hours": "six"}]}', "$.days[0].hours", '"six'),
        ('{"days": [{"hours": 6}, {}]}', "$.days[1]", "}]}"),
        ('{"days": {}}', "$.days", "{}}"),
        ("[]", "$", "[]"),
        ('{"days": [7]}', "$.days[0]", "]}"),
        ('{"days": [{"hours": "six"}, oops', "$.days[0].hours", '"six'),
    ],
)
def test_the_place_of_a_violation(text: str, path: str, at: str, schema: Path) -> None:
    """It is the first character after which nothing can be valid any more."""
    found = report(text.encode(), "--schema", schema)
    (problem,) = found["problems"]
    assert problem["message"] == "does not fit the schema"
    assert problem["path"].startswith(path)
    assert problem["offset"] == text.index(at)
    assert problem["expected"]


def test_broken_before_it_is_invalid(schema: Path) -> None:
    """The earlier problem is reported."""
    (problem,) = report(b'{"days": [oops, {"hours": "six"}]}', "--schema", schema)["problems"]
    assert problem["code"] == "unexpected_character"
    (problem,) = report(b'{"days": [{"hours": 6}', "--schema", schema)["problems"]
    assert problem["code"] == "incomplete"


def test_each_document_has_to_fit(schema: Path) -> None:
    """In NDJSON the schema is that of each document."""
    data = b'{"days": []}\n{"days": 1}\n{"days": [{"hours": 1}]}\n{"days": [{}]}\n'
    found = report(data, "--input", "ndjson", "--schema", schema)
    assert [(problem["document"], problem["line"]) for problem in found["problems"]] == [(1, 2), (3, 4)]


def test_tools_have_schemas(tmp_path: Path) -> None:
    """The arguments of a call have to fit, and so has a structured answer."""
    file = tmp_path / "tool.json"
    file.write_text(json.dumps({"type": "object", "properties": {"days": {"type": "string"}}}))
    (problem,) = report(INPUTS["chat"].data, "--tool", f"trip={file}")["problems"]
    assert (problem["track"], problem["code"], problem["path"]) == ("call 0 (trip)", "invalid", "$.days")
    (problem,) = report(INPUTS["chat, structured"].data, "--schema", file)["problems"]
    assert (problem["code"], problem["path"]) == ("invalid", "$.days")
    assert run("check", "--tool", f"trip={file}", data=b"{}").status == 2


# ---- the terminal ------------------------------------------------------------------------------------


def test_in_a_terminal(tmp_path: Path) -> None:
    """The line is clipped to the terminal's width, and the caret is under its character; no colour with NO_COLOR."""
    file = tmp_path / "broken.json"
    file.write_text('{"title": "Trip to Fuji", "days": =oops, "and": "so on"}')
    terminal = Terminal("check", file, columns=20, NO_COLOR="1")
    assert terminal.close() == 1
    lines = re.sub(r"\x1b\[[01]?m", "", terminal.output.decode()).replace("\r\n", "\n").splitlines()
    assert max(map(len, lines[-2:])) <= 20
    assert lines[-2][lines[-1].index("^")] == "="
    assert "\x1b" not in "".join(lines), "bold at most, and no colour"


def test_a_long_path_is_cut_visibly() -> None:
    """People see how it begins, and that this is not all; machines get all of it."""
    data = b"[" * 200
    assert "[0][...\n" in told(data)
    (problem,) = report(data)["problems"]
    assert problem["path"].startswith("$" + "[0]" * 128)


def test_errors_are_not_quoted_for_machines() -> None:
    """A report for programs has the place, but no text, which may be secret."""
    assert "secret" not in json.dumps(report(b'{"a": "secret" "b"}')["problems"])
    assert issubclass(JSONSyntaxError, ValueError)

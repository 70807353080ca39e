"""`events`, `values`, `patch`, `chunk`, `message`: JSON lines for pipes, in the form that docs/cli.md promises.

Their output is kept in tests/tools/golden. `python -m tests.tools.test_cli_steps` writes those files again.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
import typer
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support import strategies
from tests.support.inputs import CALLED, CHAT, INPUTS, SNAPSHOTS, TRIP, recorded, sse, timeline_of
from tests.support.oracle import same
from tests.support.running import Outcome, hear_line, run, say, started
from tests.support.shared import PROJECT
from unspool import Options, SnapshotChunker, ValueParser
from unspool.patch import apply
from unspool.tools.cli import arrivals
from unspool.tools.cli.arrivals import Input, timed_items
from unspool.tools.cli.commands.chunk import SplitError, Splitter, chunk
from unspool.tools.cli.commands.message import message
from unspool.tools.cli.commands.steps import events, patch, values
from unspool.tools.cli.lines import EventLines, Lanes, PatchLines, ValueLines
from unspool.tools.viewer.inputs import InputKind
from unspool.tools.viewer.tracks import TrackPiece

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

GOLDEN = Path(__file__).parent / "golden"
COMMANDS: dict[str, Callable[..., None]] = {
    "events": events,
    "values": values,
    "patch": patch,
    "chunk": chunk,
    "message": message,
}
WAIT = 20.0

CASES: dict[str, tuple[str, list[str]]] = {
    "events-json": ("json", ["events", "--cut", "40"]),
    "events-ndjson": ("ndjson", ["events", "--cut", "20"]),
    "events-chat": ("sse of chat", ["events"]),
    "events-select": ("recording of json", ["events", "--times", "--select", "$.days[1].tags"]),
    "values-json": ("json", ["values", "--cut", "20"]),
    "values-ndjson": ("ndjson", ["values", "--cut", "30"]),
    "values-chat": ("chat", ["values"]),
    "values-track": ("anthropic", ["values", "--track", "call 0"]),
    "values-select": ("json, indented", ["values", "--cut", "9", "--select", "$.days[*].tags[*]"]),
    "values-select-ndjson": ("ndjson", ["values", "--select", "$.id"]),
    "values-every": ("sse of text", ["values", "--every"]),
    "values-times": ("recording of json", ["values", "--times"]),
    "patch-json": ("json", ["patch", "--cut", "20"]),
    "patch-no-append": ("json", ["patch", "--cut", "20", "--no-append"]),
    "patch-structured": ("chat, structured", ["patch"]),
    "patch-snapshots": ("snapshots", ["patch"]),
    "chunk-snapshots": ("snapshots", ["chunk"]),
    "chunk-raw": ("snapshots", ["chunk", "--raw"]),
    "chunk-times": ("recording of snapshots", ["chunk", "--times"]),
    "message-chat": ("chat", ["message"]),
    "message-structured": ("chat, structured", ["message"]),
    "message-events": ("recording of chat", ["message", "--events", "--times"]),
    "message-events-anthropic": ("anthropic", ["message", "--events"]),
}


def produced(name: str, file: Path) -> Outcome:
    """What the command of a case writes."""
    kind, args = CASES[name]
    file.write_bytes(INPUTS[kind].data)
    return run(args[0], file, *args[1:])


def lines_of(outcome: Outcome) -> list[Any]:
    return [json.loads(line) for line in outcome.stdout.splitlines()]


def fed(pieces: Iterable[bytes], command: Callable[..., None], **options: Any) -> Outcome:
    """Call the function of a command, with these pieces coming in, one after another."""
    stdout, stderr, status = io.StringIO(), io.StringIO(), 0
    with (
        mock.patch.object(arrivals, "arrivals", return_value=iter(pieces)),
        mock.patch.multiple(sys, stdout=stdout, stderr=stderr),
    ):
        try:
            command(**options)
        except typer.Exit as left:
            status = left.exit_code
    return Outcome(status, stdout.getvalue().encode(), stderr.getvalue())


# ---- what is written ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_golden_output(name: str, tmp_path: Path) -> None:
    """Each line is what it was when it was looked at. Programs depend on it."""
    outcome = produced(name, tmp_path / "input")
    assert (outcome.status, outcome.stderr) == (0, "")
    assert outcome.stdout.decode("ascii") == (GOLDEN / f"{name}.jsonl").read_text()


def test_no_golden_file_is_left_over() -> None:
    """Each belongs to a case."""
    assert sorted(path.stem for path in GOLDEN.glob("*.jsonl")) == sorted(CASES)


def test_over_real_pipes() -> None:
    """A process between two pipes says the same as on a file: the first line while the input is still open."""
    kind, args = CASES["events-chat"]
    data, expected = INPUTS[kind].data, (GOLDEN / "events-chat.jsonl").read_text()
    with started(*args) as process:
        say(process, data[:-150])
        first = hear_line(process.stdout)
        assert process.poll() is None
        rest, stderr = process.communicate(data[-150:], WAIT)
        assert (process.returncode, stderr) == (0, b"")
        assert first + rest.decode() == expected


@pytest.mark.parametrize("name", ["events-chat", "values-chat", "patch-structured", "chunk-snapshots", "message-chat"])
def test_lines_come_at_once(name: str) -> None:
    """Every command writes the lines for the bytes so far before it reads more of them."""
    kind, (command, *_) = CASES[name]
    data, expected = INPUTS[kind].data, (GOLDEN / f"{name}.jsonl").read_text()

    def arriving() -> Iterator[bytes]:
        yield data[:-60]
        assert isinstance(sys.stdout, io.StringIO)
        assert sys.stdout.getvalue().startswith(expected.splitlines(keepends=True)[0])
        yield data[-60:]

    assert fed(arriving(), COMMANDS[command]) == (0, expected.encode(), "")


def test_text_without_an_end_comes_at_once() -> None:
    """Text in one line is there before the line ends, though it only looks like JSON."""
    with started("values") as process:
        say(process, b'{"a": "b')
        assert json.loads(hear_line(process.stdout)) == {"a": "b"}
        say(process, b"c")
        assert json.loads(hear_line(process.stdout)) == {"a": "bc"}


def test_a_writer_without_pause_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text that comes in one line, piece by piece, is read as it comes, not when it has ended."""
    asked: list[bytes] = []

    def arriving(*_: object) -> Iterator[bytes]:
        for piece in (b'{"a": [', b"1,", b"2,", b"3,", b"4]}"):
            asked.append(piece)
            yield piece

    times = iter([0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
    monkeypatch.setattr(arrivals, "monotonic", lambda: next(times))
    monkeypatch.setattr(arrivals, "arrivals", arriving)
    source = Input()
    came = [(time, item.pieces[0].fragment, len(asked)) for time, item in timed_items(source, source.opening())]
    assert came == [(0.0, b'{"a": [', 4), (0.1, b"1,", 4), (0.2, b"2,", 4), (0.3, b"3,", 4), (0.4, b"4]}", 5)]


def test_a_named_pipe_is_read_as_it_comes(tmp_path: Path) -> None:
    """It is not waited for until a block is full, and its times are real ones, as those of standard input."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    heard = threading.Event()

    def write() -> None:
        with pipe.open("wb", buffering=0) as writer:
            writer.write(b'{"a"')
            assert heard.wait(WAIT)
            writer.write(b": 1}")

    writing = threading.Thread(target=write)
    writing.start()
    source = Input(pipe)
    coming = arrivals.arrivals(source)
    assert next(coming) == b'{"a"'
    heard.set()
    assert b"".join(filter(None, coming)) == b": 1}"
    writing.join()
    assert (source.is_live, source.size) == (True, None)


# ---- the page ----------------------------------------------------------------------------------------

SESSION = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:echo '(?P<said>[^']*)' \| )?unspool (?P<args>.*?)(?: \| head -(?P<head>\d+))?")


def examples() -> list[tuple[str, str]]:
    """The commands that docs/cli.md shows, each with what it says they write."""
    page = (PROJECT / "docs" / "cli.md").read_text()
    shown = [part for session in SESSION.findall(page) for part in session.split("$ ")[1:]]
    return [(command, output) for command, _, output in (part.partition("\n") for part in shown)]


@pytest.mark.parametrize(("command", "output"), examples())
def test_examples_of_the_page(command: str, output: str) -> None:
    """What docs/cli.md shows is what happens, complaints and all."""
    parts = COMMAND.fullmatch(command)
    assert parts is not None
    said = "" if parts["said"] is None else parts["said"] + "\n"
    outcome = run(*shlex.split(parts["args"]), data=said.encode())
    lines = outcome.stdout.decode().splitlines(keepends=True)
    assert "".join(lines[: int(parts["head"] or len(lines))]) + outcome.stderr == output


def test_the_page_names_everything() -> None:
    """Each command, each option and each kind of input is on the page."""
    page = (PROJECT / "docs" / "cli.md").read_text()
    missing = [kind.value for kind in InputKind if f"`{kind.value}`" not in page]
    for command in [*COMMANDS, "check", "repair"]:
        options = set(re.findall(r"--[a-z-]+", run(command, "--help").stdout.decode())) - {"--help"}
        missing += [option for option in options if option not in page]
        missing += [] if f"## {command}\n" in page else [command]
    assert missing == []


# ---- laws --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["json", "json, indented", "chat", "sse of text", "snapshots"])
def test_every_cut_of_the_input_gives_the_same_end(name: str) -> None:
    """Wherever standard input is cut in two, the last value is the same."""
    data = INPUTS[name].data
    whole = lines_of(fed([data], values))[-1]
    for place in range(0, len(data) + 1, 1 if len(data) < 500 else 7):
        outcome = fed([data[:place], data[place:]], values)
        assert outcome.status == 0
        assert lines_of(outcome)[-1] == whole


@given(strategies.cut(strategies.documents(small=True)))
@settings(max_examples=30)
def test_the_last_line_is_the_document(case: tuple[str, list[str]]) -> None:
    """For any document in any fragments: the last value is the document, and each line is a new value."""
    text, fragments = case
    outcome = fed([fragment.encode() for fragment in fragments], values, kind=InputKind.JSON)
    assert (outcome.status, outcome.stderr) == (0, "")
    lines = outcome.stdout.splitlines()
    assert same(json.loads(lines[-1]), final_value(text))
    # A key that comes twice takes its first value back: the one that follows may look the same.
    assert has_duplicate_keys(text) or all(one != other for one, other in pairwise(lines))


def has_duplicate_keys(text: str) -> bool:
    found: list[bool] = []
    json.loads(text, object_pairs_hook=lambda pairs: found.append(len(dict(pairs)) < len(pairs)))
    return any(found)


@pytest.mark.parametrize("append", [True, False])
@given(case=strategies.cut(strategies.documents(small=True)))
@settings(max_examples=30)
@example(case=('"\ud7ff\ue000"', ['"\ud7ff', '\ue000"']))
def test_patches_make_the_document(append: bool, case: tuple[str, list[str]]) -> None:
    """The lines of `patch`, applied one after another, give the final value; none of them is empty."""
    text, fragments = case
    outcome = fed([fragment.encode() for fragment in fragments], patch, kind=InputKind.JSON, append=append)
    assert (outcome.status, outcome.stderr) == (0, "")
    document: Any = None
    for operations in lines_of(outcome):
        assert operations
        assert append or all(operation["op"] != "append" for operation in operations)
        document = apply(document, operations)
    assert same(document, final_value(text))


def final_value(text: str) -> object:
    parser = ValueParser()
    parser.feed(text)
    return parser.close()


@given(st.lists(strategies.values(small=True), min_size=1, max_size=4), st.data())
@settings(max_examples=30)
def test_chunk_takes_snapshots_in_any_layout(snapshots: list[Any], data: st.DataObject) -> None:
    """One per line, indented, or without a separator, cut anywhere: each complete value is found as it is written."""
    texts = [json.dumps(value, indent=data.draw(st.sampled_from([None, 1]))) for value in snapshots]
    splitter = Splitter()
    found: list[str] = []
    for piece in data.draw(strategies.byte_cuttings("\n".join(texts).encode())):
        found += splitter.feed(piece)
    assert found + splitter.close() == texts


def test_chunk_is_the_inverse() -> None:
    """The pieces, joined, are the last snapshot; `--raw` writes nothing else."""
    assert json.loads("".join(lines_of(run("chunk", data=INPUTS["snapshots"].data)))) == SNAPSHOTS[-1]
    assert json.loads(run("chunk", "--raw", data=INPUTS["snapshots"].data).stdout) == SNAPSHOTS[-1]


def test_chunk_lets_empty_values_wait() -> None:
    """`--empty wait` reads half-filled models; without it they are conflicts."""
    data = b'{"a":"","n":0}\n{"a":"x","n":0}\n{"a":"xy","n":1}\n{"a":"xy","n":12}'
    assert lines_of(run("chunk", "--empty", "wait", data=data)) == ['{"a":"x', 'y"', ',"n":12}']
    assert run("chunk", data=data).status != 0


def test_chunk_tells_what_grows_together() -> None:
    """A note on standard error, once; it is no error."""
    data = b'{"a":"","b":"","c":""}' + b"".join([b'{"a":"%s","b":"%s","c":""}' % (b"x" * n, b"y" * n) for n in (1, 2)])
    outcome = run("chunk", data=data)
    assert outcome.status == 0
    assert outcome.stderr.count("note: $.a and 1 more grow together, in snapshot 2: ") == 1


def test_chunk_writes_raw_text_wherever_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    """Characters that the encoding lacks or a terminal must not get are escaped as in JSON."""
    value = {"é": "\x7f\u202e🗻"}
    data = json.dumps(value, ensure_ascii=False).encode()
    assert run("chunk", "--raw", data=data).stdout == b'{"\xc3\xa9":"\x7f\xe2\x80\xae\xf0\x9f\x97\xbb"}\n'
    for encoding, is_terminal, shown in [
        ("ascii", False, b'{"\\u00e9":"\\u007f\\u202e\\ud83d\\uddfb"}\n'),
        ("utf-8", True, b'{"\xc3\xa9":"\\u007f\\u202e\xf0\x9f\x97\xbb"}\n'),
    ]:
        written = io.BytesIO()
        stdout = io.TextIOWrapper(written, encoding=encoding)
        monkeypatch.setattr(stdout, "isatty", lambda is_terminal=is_terminal: is_terminal)
        monkeypatch.setattr(arrivals, "arrivals", lambda *_: iter([data]))
        with mock.patch.object(sys, "stdout", stdout):
            chunk(raw=True)
        assert written.getvalue() == shown
        assert json.loads(written.getvalue()) == value


def test_no_control_character_is_in_a_line() -> None:
    """Control characters are escaped; reading the line back gives the same value."""
    value = {"\x7f": "\x7f\x1b\x00\u2028\U000e0041"}
    outcome = run("values", data=json.dumps(value).encode())
    assert outcome.stdout.rstrip(b"\n").decode("ascii").isprintable()
    assert lines_of(outcome)[-1] == value


# ---- inputs of every kind ----------------------------------------------------------------------------

REFUSED = {
    ("chunk", "sse of chat"): "unspool message",
    ("chunk", "chat"): "unspool message",
    ("chunk", "chat, structured"): "unspool message",
    ("chunk", "anthropic"): "unspool message",
    ("chunk", "recording of chat"): "unspool message",
    **{
        ("message", name): "not recognised as a provider stream"
        for name in INPUTS
        if "chat" not in name and name != "anthropic"
    },
}
BROKEN = {("chunk", "ndjson"): "has changed", ("chunk", "sse of text"): "snapshot 1"}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", INPUTS)
def test_every_kind_with_every_command(command: str, name: str) -> None:
    """Each kind of input makes sense to a command, or the command says why it does not, with the status of misuse."""
    outcome = fed([INPUTS[name].data], COMMANDS[command])
    refused, broken = REFUSED.get((command, name)), BROKEN.get((command, name))
    assert outcome.status == (2 if refused else 1 if broken else 0)
    assert (refused or broken or "") in outcome.stderr
    assert outcome.stderr.count("\n") == (1 if refused or broken else 0)
    lines_of(outcome)


@pytest.mark.parametrize("name", ["chat", "sse of chat", "recording of chat"])
def test_the_texts_of_a_message(name: str) -> None:
    """A line says which text it is of; where one is chosen, or there is only one, it says nothing but the value."""
    lines = lines_of(run("values", data=INPUTS[name].data))
    assert lines[-1] == {"track": "call 0", "value": CALLED}
    assert lines_of(run("values", "--track", "call 0", data=INPUTS[name].data))[-1] == CALLED


def test_prose_is_no_json() -> None:
    """A message without JSON has no values, nor has a missing text. Both are reported."""
    prose = b"".join([json.dumps(chunk).encode() + b"\n" for chunk in [*CHAT[:2], {**CHAT[6]}]])
    outcome = run("values", data=prose)
    assert (outcome.status, outcome.stdout) == (1, b"")
    assert "there is no JSON in it" in outcome.stderr
    assert "no JSON named call 7" in run("events", "--track", "call 7", data=INPUTS["chat"].data).stderr
    assert run("events", "--track", "content", data=INPUTS["json"].data).status == 2


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (["[Note", "] The file is gone."], None),
        (["[", "1]", " According to the first source"], None),
        (["[tru", "st] me"], None),
        (["[", "tru", "e]"], [True]),
        (["[", "]"], []),
        (["[1", "]\n"], [1]),
        (["[", '{"a', '": 1}]'], [{"a": 1}]),
    ],
)
def test_brackets_may_be_prose(content: list[str], value: object) -> None:
    """Where an answer begins with a bracket, what is in it tells; at the latest the end does, for all commands."""
    chunks = [*[chat(content=text) for text in content], chat("stop")]
    data = b"\n".join([json.dumps(chunk).encode() for chunk in chunks])
    is_json = value is not None
    for command in ("events", "values", "patch"):
        outcome = run(command, data=data)
        assert outcome.status == (0 if is_json else 1)
        assert ("there is no JSON in it" in outcome.stderr) != is_json
    assert run("check", data=data).status == 0
    assert lines_of(run("message", data=data))[-1]["content_value"] == value
    timeline = timeline_of(data)
    assert timeline.tracks["content"].is_json == is_json
    assert timeline.problems() == []
    if is_json:
        assert lines_of(run("values", data=data))[-1] == {"track": "content", "value": value}
        assert timeline.tracks["content"].state.value == value


def test_one_broken_text_leaves_the_others_whole() -> None:
    """In a message, the other calls are read to their end; the error is reported with the name of the text."""
    one = {"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x": oops'}}
    two = {"index": 1, "id": "b", "function": {"name": "g", "arguments": '{"y":'}}
    rest = {"index": 1, "function": {"arguments": " 2}"}}
    chunks = [chat(tool_calls=[one, two]), chat(tool_calls=[rest]), chat("tool_calls")]
    outcome = run("values", data=b"\n".join([json.dumps(chunk).encode() for chunk in chunks]))
    assert outcome.status == 1
    assert outcome.stderr.startswith("unspool: standard input: call 0: unexpected character: line 1, column 7")
    assert lines_of(outcome)[-1] == {"track": "call 1", "value": {"y": 2}}


def chat(reason: str | None = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def test_free_text_of_a_call_is_no_json() -> None:
    """The input of a custom tool is plain text: it is not parsed, and not an error."""
    item = {"type": "custom_tool_call", "id": "i", "call_id": "c", "name": "run", "input": ""}
    sent = [
        {"type": "response.output_item.added", "sequence_number": 0, "output_index": 0, "item": item},
        {
            "type": "response.custom_tool_call_input.delta",
            "sequence_number": 1,
            "item_id": "i",
            "output_index": 0,
            "delta": "ls -l",
        },
    ]
    data = sse([json.dumps(event) for event in sent])
    outcome = run("events", data=data)
    assert (outcome.status, outcome.stdout) == (1, b"")
    assert "there is no JSON in it" in outcome.stderr
    assert not timeline_of(data).tracks["call 0"].is_json


def test_text_that_begins_anew() -> None:
    """If new text replaces the old text, there is an event for it; values and patches simply start again."""

    def lines(make: Callable[[], Any]) -> list[Any]:
        lanes = Lanes(lambda _: make())
        pieces = [TrackPiece("call 0", '{"a": 1'), TrackPiece("call 0", '{"b":', True), TrackPiece("call 0", " 2}")]
        return [line for piece in pieces for line in lanes.take(piece)]

    options = Options()
    assert [line["kind"] for line in lines(lambda: EventLines(options, None))].index("restart") == 1
    assert lines(lambda: ValueLines(options, None))[-1] == {"value": {"b": 2}}
    patches = lines(lambda: PatchLines(options, None))
    document: Any = None
    for line in patches:
        document = apply(document, line["patch"])
    assert document == {"b": 2}


def test_an_answer_that_begins_anew() -> None:
    """After a restart, the text is recognised as JSON or prose again."""
    lanes = Lanes(lambda _: ValueLines(Options(), None))
    pieces = [("Well", False), (" ", True), ("[1", False), (", 2]", False)]
    told = [list(lanes.take(TrackPiece("content", text, restarts))) for text, restarts in pieces]
    assert told == [[], [], [], [{"value": [1, 2]}]]
    lanes.take(TrackPiece("content", "Well", True))
    assert list(lanes.take(TrackPiece("content", "{}"))) == []


def test_json_in_other_text() -> None:
    """With --extract the value is found in a block of Markdown; in a message such a block is found anyway."""
    text = f"Here it is:\n```json\n{json.dumps(TRIP)}\n```\nEnjoy!"
    assert lines_of(run("values", "--extract", "--input", "json", data=text.encode()))[-1] == TRIP
    fenced = [chat(content=f"```json\n{json.dumps(TRIP)}"), chat(content="\n```"), chat("stop")]
    data = b"\n".join([json.dumps(chunk).encode() for chunk in fenced])
    assert lines_of(run("values", data=data))[-1] == {"track": "content", "value": TRIP}
    assert lines_of(run("message", data=data))[-1]["content_value"] == TRIP


# ---- what is wrong -----------------------------------------------------------------------------------


def test_what_came_before_is_delivered() -> None:
    """Broken text: the lines before the fault, the place on standard error, exit status 1; nothing after it is read."""
    outcome = fed([b'{"a": [1, ', b"x", b"], 2"], values, kind=InputKind.JSON)
    assert (outcome.status, lines_of(outcome)) == (1, [{"a": [1]}])
    assert outcome.stderr == (
        "unspool: standard input: unexpected character: line 1, column 11 (offset 10), in $.a[1]; expected a value\n"
    )
    error = lines_of(run("events", data=b'{"a": tru}'))[-1]
    assert error == {
        "kind": "error",
        "path": "$.a",
        "code": "invalid_literal",
        "expected": "the rest of true, false or null",
        "offset": 9,
        "line": 1,
        "column": 10,
    }
    incomplete = run("patch", data=b'{"a": "b')
    assert (incomplete.status, lines_of(incomplete)) == (1, [[{"op": "add", "path": "", "value": {"a": "b"}}]])
    assert "ended too early" in incomplete.stderr


@pytest.mark.parametrize("command", ["events", "values", "patch"])
def test_nothing_at_all(command: str) -> None:
    """An empty input is incomplete, and reported as empty."""
    outcome = run(command)
    assert (outcome.status, outcome.stderr) == (1, "unspool: standard input: the input is empty\n")
    assert [line["code"] for line in lines_of(outcome)] == (["incomplete"] if command == "events" else [])


def test_a_recording_that_breaks() -> None:
    """The lines before the error are written, even if the input was too short to be recognised."""
    for data, said in [
        (recorded(b'{"a": [1, 2') + b"oops\n", "line 3 of the recording: not JSON"),
        (recorded(b'{"a": [1, 2') + b'{"t": 9, "te', "line 3 of the recording: it ends here"),
        (recorded(b'{"a": [\n1, 2', 3) + b"oops\n", "of the recording: not JSON"),
    ]:
        outcome = run("values", data=data)
        assert (outcome.status, lines_of(outcome)[-1]) == (1, {"a": [1]})
        assert said in outcome.stderr


def test_snapshots_that_contradict() -> None:
    """By default the first conflict ends the command, and the text stays open; with `keep` it is only reported."""
    data = b'{"a": 1}\n{"a": 2}\n{"a": 2, "b": 3}\n'
    outcome = run("chunk", data=data)
    assert (outcome.status, lines_of(outcome)) == (1, ['{"a":1'])
    assert "$.a, in snapshot 2" in outcome.stderr
    outcome = run("chunk", "--on-conflict", "keep", data=data)
    assert (outcome.status, lines_of(outcome)) == (1, ['{"a":1', ',"b":3', "}"])
    assert outcome.stderr.count("$.a, in snapshot 2") == 1
    assert run("chunk", "--raw", "--times", data=data).status == 2
    outcome = run("chunk", data=b'{"a": 1}\n{"a": oops}\n')
    assert (outcome.status, lines_of(outcome)) == (1, ['{"a":1'])
    assert outcome.stderr.startswith("unspool: standard input: snapshot 2: unexpected character: line 2, column 7")


def test_patience() -> None:
    """A waiting value is complete only after that many unchanged snapshots."""
    snapshots: list[Any] = [{"a": "x", "b": "y"}, {"a": "x", "b": "yz"}, {"a": "x", "b": "yzz"}]
    data = b"\n".join([json.dumps(snapshot).encode() for snapshot in snapshots])
    for patience in (0, 1):
        chunker = SnapshotChunker(patience=patience)
        expected = [chunker.process(snapshot) for snapshot in snapshots] + [chunker.flush()]
        outcome = run("chunk", "--patience", patience, data=data)
        assert lines_of(outcome) == [fragment for fragment in expected if fragment]


def test_messages_that_do_not_end_well() -> None:
    """Cut off, refused by the provider, or broken: the lines are there, and the exit status is 1, with the reason."""
    for chunks, reason in [
        (CHAT[:5], "did not say why the model had stopped"),
        ([*CHAT[:2], chat("length")], "the message was cut off: length"),
        ([*CHAT[:5], chat("length")], "call 0: the message was cut off"),
        ([*CHAT[:2], {"error": {"message": "overloaded", "code": "x"}}], "the provider reported an error"),
    ]:
        outcome = run("message", "--format", "openai-chat", data=b"\n".join([json.dumps(c).encode() for c in chunks]))
        assert outcome.status == 1
        assert reason in outcome.stderr
        assert lines_of(outcome)[-1]["is_finished"] is True
        assert lines_of(outcome)[-1]["is_complete"] is False


def test_a_chunk_that_is_none() -> None:
    """It is reported, and the others are read."""
    chunks = INPUTS["chat"].data.replace(b"\n", b"\noops\n", 1)
    outcome = run("message", data=chunks)
    assert (outcome.status, outcome.stderr) == (1, "unspool: standard input: a chunk that is not JSON: line 2\n")
    assert lines_of(outcome)[-1]["is_complete"] is True
    many = run("message", data=INPUTS["chat"].data + b"oops\n" * 50)
    assert many.stderr.count("\n") == 21
    assert many.stderr.endswith("and 30 more\n")


@pytest.mark.parametrize(
    "args",
    [
        ["events", "no such file"],
        ["events", "."],
        ["events", "sample:nothing"],
        ["events", "--select", "$[?(@.a)]"],
        ["values", "--format", "nobody"],
        ["values", "--input", "nothing"],
        ["values", "--cut", "0"],
        ["values", "--schema", "no-such-file.json"],
        ["values", "--schema", "no_such_module:Class"],
        ["values", "--schema", "json:NoSuchClass"],
        ["message", "--tool", "trip"],
        ["message", "--tool", "output=json:JSONDecoder"],
    ],
)
def test_misuse(args: list[str]) -> None:
    """Invalid arguments are reported with status 2, and nothing else happens."""
    outcome = run(*args, data=INPUTS["chat"].data)
    assert (outcome.status, outcome.stdout) == (2, b"")
    assert outcome.stderr
    assert "Traceback" not in outcome.stderr


# ---- schemas -----------------------------------------------------------------------------------------

SCHEMA = {"type": "object", "properties": {"days": {"type": "array", "items": {"type": "object"}}}}


@pytest.mark.parametrize("command", ["events", "values", "patch"])
def test_the_first_violation_ends_it(command: str, tmp_path: Path) -> None:
    """With a schema, there are lines while the text can still become valid; then the path, and exit status 1."""
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps(SCHEMA))
    assert run(command, "--schema", schema, data=INPUTS["json"].data).status == 0
    assert run(command, "--schema", schema, data=INPUTS["chat, structured"].data).status == 0
    pieces = [b'{"days": [{}, ', b'"oops', b'"]} and more']
    outcome = fed(pieces, COMMANDS[command], schema=str(schema), kind=InputKind.JSON)
    assert outcome.status == 1
    assert "$.days[1]: expected an object" in outcome.stderr
    assert len(lines_of(outcome)) >= 2


def test_each_document_is_judged(tmp_path: Path) -> None:
    """In NDJSON each line has to fit, wherever the text is cut."""
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps({"type": "object", "required": ["id"]}))
    good, bad = b'{"id": 1}\n{"id": 2}\n{"id": 3}\n', b'{"id": 1}\n{"no": 2}\n{"id": 3}\n'
    for place in range(len(good)):
        asked: dict[str, Any] = {"kind": InputKind.NDJSON, "schema": str(schema)}
        assert fed([good[:place], good[place:]], values, **asked).status == 0
        assert fed([bad[:place], bad[place:]], values, **asked).status == 1


@pytest.mark.parametrize(
    ("code", "needs"),
    [
        ("import pydantic\nclass Trip(pydantic.BaseModel):\n    city: str\n    days: int\n", "pydantic"),
        ("import msgspec\nclass Trip(msgspec.Struct):\n    city: str\n    days: int\n", "msgspec"),
    ],
)
def test_types_in_a_module(code: str, needs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A class of one's own, in a module where one stands."""
    pytest.importorskip(needs)
    name = f"trip_of_{needs}"
    (tmp_path / f"{name}.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert run("values", "--schema", f"{name}:Trip", data=json.dumps(CALLED).encode()).status == 0
    outcome = run("values", "--schema", f"{name}:Trip", data=b'{"city": "Porto", "days": "three"}')
    assert outcome.status == 1
    assert "$.days" in outcome.stderr
    assert run("message", "--tool", f"trip={name}:Trip", data=INPUTS["chat"].data).status == 0
    outcome = run("message", "--tool", f"trip={name}:Trip", data=INPUTS["chat"].data.replace(b": 3}", b": []}"))
    assert outcome.status == 1
    assert "call 0: the value does not fit its type" in outcome.stderr
    assert lines_of(outcome)[-1]["is_finished"] is False, "it ends there and then"


@pytest.mark.parametrize("command", ["values", "events", "patch", "watch", "profile"])
def test_a_line_that_breaks_off_takes_in_nothing(command: str) -> None:
    """In NDJSON a document ends with its line: an open one is broken there, and does not absorb the next."""
    outcome = run(command, "-", data=b'{"a": 1}\n{"b": 2}\n{"c":\n{"d": 4}\n')
    assert outcome.status == 1
    assert "the text ended too early: line 3, column 6 (offset 23), in $.c; expected a value" in outcome.stderr
    assert b'"d"' not in outcome.stdout
    assert b".d" not in outcome.stdout


@pytest.mark.parametrize("command", ["values", "check", "events", "watch"])
def test_a_byte_order_mark_is_passed_over(command: str) -> None:
    """Some editors put one before a text."""
    assert run(command, "-", data=b'\xef\xbb\xbf{"a": 1}').status == 0


def test_a_plain_file_is_one_fragment(tmp_path: Path) -> None:
    """A file has no fragments of its own: there is one value, and one patch, however long it is."""
    file = tmp_path / "long.json"
    file.write_text(json.dumps({"rows": list(range(50_000))}))
    assert run("values", file).stdout.count(b"\n") == 1
    assert run("patch", file).stdout.count(b"\n") == 1


def test_no_snapshot_is_no_document() -> None:
    """An input without content has no lines, and is reported."""
    outcome = run("chunk", "-")
    assert (outcome.status, outcome.stdout, outcome.stderr) == (
        1,
        b"",
        "unspool: standard input: the input is empty\n",
    )


# ---- the process -------------------------------------------------------------------------------------


def test_a_reader_that_has_seen_enough() -> None:
    """A closed pipe ends the command quietly, as SIGPIPE would."""
    with started("events", "--input", "ndjson") as process:
        say(process, b'{"a": 1}\n')
        hear_line(process.stdout)
        assert process.stdout is not None
        process.stdout.close()
        say(process, b'{"a": 1}\n')
        assert process.wait(WAIT) == 141
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_interrupting() -> None:
    """Ctrl-C ends the command quietly; what was written stays written."""
    with started("values", "--input", "json") as process:
        say(process, b'{"a": [1, 2')
        assert json.loads(hear_line(process.stdout)) == {"a": [1]}
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT) == 130
        assert process.stderr is not None
        assert process.stderr.read() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk() -> None:
    """A failed write is reported once, with exit status 1."""
    with Path("/dev/full").open("wb") as full, started("events", stdout=full) as process:
        _, stderr = process.communicate(INPUTS["json"].data, WAIT)
        assert (process.returncode, stderr) == (1, b"unspool: No space left on device\n")


@pytest.mark.parametrize(("closed", "said"), [(1, b"standard output is closed"), (0, b"standard input is closed")])
def test_streams_that_are_closed(closed: int, said: bytes) -> None:
    """A process that is started without standard output, or input, says so."""
    command = [sys.executable, "-m", "unspool", "values"]
    data = None if closed == 0 else INPUTS["json"].data
    process = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}>&-', "sh", *command],
        input=data,
        capture_output=True,
        timeout=WAIT,
        check=False,
    )
    assert (process.returncode, process.stderr) == (1, b"unspool: " + said + b"\n")


def test_the_command_itself() -> None:
    """It says which version it is, and what it can do; all commands explain themselves."""
    assert run("--version").stdout.startswith(b"unspool ")
    for command in COMMANDS:
        assert command.encode() in run("--help").stdout
        assert b"Usage: unspool " + command.encode() in run(command, "--help").stdout


def test_large_inputs() -> None:
    """Half a megabyte in one line, and a recording of bytes that came one by one."""
    data = json.dumps({"rows": [{"id": number, "text": "x" * 50} for number in range(8_000)]}).encode()
    outcome = run("patch", data=data)
    document: Any = None
    for operations in lines_of(outcome):
        document = apply(document, operations)
    assert document == json.loads(data)
    outcome = run("values", "--select", "$.nothing", data=recorded(data[:5_000], 1))
    assert outcome.status == 1, "it ends too early"


def test_text_that_is_no_snapshot() -> None:
    """Whole values before the fault are given first, then the fault, ever after."""
    splitter = Splitter()
    assert splitter.feed(b"1 2 [3]x") == ["1", "2", "[3]"]
    for _ in range(2):
        with pytest.raises(SplitError, match="snapshot 4: unexpected character"):
            splitter.feed(b"4")
    assert Splitter().feed("1 ]2") == ["1"], "and nothing after it"


if __name__ == "__main__":
    import tempfile

    GOLDEN.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            (GOLDEN / f"{case}.jsonl").write_bytes(produced(case, Path(folder) / "input").stdout)

"""Every block of code in the documentation is held to something: run, or compared with what it shows.

Blocks of Python are run by tests/test_public.py, and those that talk to servers by tests/peers/test_provider_pages.py
and tests/peers/test_coming_from.py. The tests here hold the others: commands, JavaScript, JSON, and drawings.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from itertools import groupby
from textwrap import dedent
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from packaging.requirements import Requirement

from bench.__main__ import _parser as parser_of_benchmarks
from bench.race import all_rows
from bench.timing import QUICK
from tests.support.running import COMMAND, run
from tests.support.shared import PROJECT
from unspool.patch import apply

if TYPE_CHECKING:
    from pathlib import Path

GROUP: Any = COMMAND  # which typer does not say it is


class Block(NamedTuple):
    """A piece of code, and where it is."""

    page: str
    line: int
    language: str
    code: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


FENCE = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<language>[^\n]*)\n(?P<code>.*?)^(?P=indent)(?P=fence) *$",
    re.MULTILINE | re.DOTALL,
)


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(PROJECT).as_posix()
    return [
        Block(name, text.count("\n", 0, found.start()) + 1, found["language"].strip(), dedent(found["code"]))
        for found in FENCE.finditer(text)
    ]


PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]
BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def of(*languages: str) -> list[Block]:
    return [block for block in BLOCKS if block.language in languages]


# Languages


EVERYWHERE = {"python", "pycon", "console", "sh"}
ON_SOME_PAGES = {
    "python3": re.compile(r"README\.md|docs/(providers/.*|coming-from)\.md"),
    "js": re.compile(r"docs/(relay|how-to/(patches-over-sse|resumable-chat|several-devices))\.md"),
    "json": re.compile(r"docs/cli\.md"),
    "": re.compile(r"docs/(events|how-it-works|snapshots|studio)\.md"),
}
"""What no test would look at on another page."""


def test_no_block_is_left_out() -> None:
    """Each block is in a language, and on a page, that a test takes up; what has no language is a drawing."""
    assert len(BLOCKS) > 200
    left = [
        f"{block} {block.language or 'without a language'}"
        for block in BLOCKS
        if block.language not in EVERYWHERE
        and (block.language not in ON_SOME_PAGES or not ON_SOME_PAGES[block.language].fullmatch(block.page))
    ]
    assert left == []
    fences = sum(len(re.findall(r"^ *(?:```|~~~)", page.read_text(encoding="utf-8"), re.MULTILINE)) for page in PAGES)
    assert fences == 2 * len(BLOCKS)


@pytest.mark.parametrize("block", of(""), ids=str)
def test_a_drawing_is_no_code(block: Block) -> None:
    """What could be run, or typed, has to say in which language it is."""
    assert not re.search(r"^(?:>>> |\$ ?[a-z]|(?:unspool|make|pip|python|import|from) )", block.code, re.MULTILINE)
    with pytest.raises(ValueError):  # noqa: PT011 - whatever is wrong with it
        json.loads(block.code)


# Commands


class Line(NamedTuple):
    """A line that is typed into a shell: commands, each of which reads what the one before it wrote."""

    text: str
    commands: list[list[str]]
    shown: str
    """What the page says that comes of it; a page may also say nothing about that."""

    def __str__(self) -> str:
        return self.text

    @property
    def is_local(self) -> bool:
        """Whether it ends by itself, and needs nothing but unspool; tests of the servers run those."""
        tools = {command[0].removeprefix(".venv/bin/") for command in self.commands}
        is_served = {"studio", "gateway", "--serve", "relay"} & {*self.text.split()}
        return "unspool" in tools and tools <= {"unspool", "echo", "printf", "head", "curl"} and not is_served


def line_of(typed: str, shown: str = "") -> Line:
    words = shlex.split(typed, comments=True)
    return Line(typed, [list(part) for is_bar, part in groupby(words, lambda word: word == "|") if not is_bar], shown)


def lines_of(block: Block) -> list[Line]:
    if block.language == "sh":
        lines = [line_of(typed) for typed in block.code.splitlines()]
    else:
        parts = re.split(r"^\$ ", block.code, flags=re.MULTILINE)[1:]
        lines = [line_of(typed, shown) for typed, _, shown in (part.partition("\n") for part in parts)]
    return [line for line in lines if line.commands]


LINES = [line for block in of("console", "sh") for line in lines_of(block)]


def written(line: Line) -> str:
    """What comes of it, with what is complained of at the end. The stream that is fetched is one of the samples."""
    data, complaints = b"", ""
    for tool, *words in line.commands:
        if tool == "curl":
            data = run("replay", "sample:trip", "--speed", 0).stdout
        elif tool in ("echo", "printf"):
            data = "".join(words).encode() + (b"\n" if tool == "echo" else b"")
        elif tool == "head":
            data = b"".join(data.splitlines(keepends=True)[: int(words[0].removeprefix("-"))])
        else:
            outcome = run(*words, data=data, COLUMNS="88")
            data, complaints = outcome.stdout, complaints + outcome.stderr
            assert line.shown or outcome.status == 0
    return data.decode() + complaints


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder like the one in which the commands are typed, with the recording that the pages make there."""
    (tmp_path / "examples").symlink_to(PROJECT / "examples")
    monkeypatch.chdir(tmp_path)
    written(line_of("curl | unspool record --output answer.jsonl"))
    return tmp_path


@pytest.mark.parametrize("line", [line for line in LINES if line.is_local], ids=str)
def test_what_is_typed_runs(line: Line, clone: Path) -> None:
    """It writes what the page shows; where that shows nothing it ends well, and the files that it names are there."""
    if "record" in line.text:
        (clone / "answer.jsonl").unlink()
    came = written(line)
    assert came == line.shown if line.shown else came and "unspool: " not in came
    named = [word for command in line.commands for word in command if word.startswith("answer.")]
    assert [name for name in named if not (clone / name).stat().st_size] == []


@pytest.mark.parametrize("line", [line for line in LINES if not line.is_local], ids=str)
def test_what_is_typed_exists(line: Line, clone: Path) -> None:
    """What is not run here is at least there: each command with each of its options, each target, each script."""
    for tool, *words in line.commands:
        if tool == "unspool":
            name, *arguments = words
            command = GROUP.commands[name]
            if name == "relay":
                name, *arguments = arguments
                command = command.commands[name]
            assert command.make_context(name, arguments).params
        elif tool == "make":
            check_make(words)
        elif tool == ".venv/bin/pip":
            known = (PROJECT / "pyproject.toml").read_text(encoding="utf-8")
            assert words[0] == "install"
            assert [word for word in words[1:] if f'"{Requirement(word).name}' not in known] == []
        elif tool == "pip":
            assert words in (["install", "."], ["install", "unspool"])
        elif tool == ".venv/bin/python":
            assert (clone / words[0]).is_file()  # and is run by tests/docs/test_examples.py
        else:
            assert (tool, words[0]) in {("git", "clone"), ("cd", "unspool")}


def check_make(words: list[str]) -> None:
    file = PROJECT / "Makefile"
    if not file.is_file():
        pytest.skip("the Makefile is not here")
    target, *variables = words
    assert re.search(rf"^\.PHONY:.* {target}\b", file.read_text(encoding="utf-8"), re.MULTILINE)
    for variable in variables:
        name, _, value = variable.partition("=")
        assert name == "ARGS"
        if target == "bench-relay":
            relay = pytest.importorskip("bench.relay.__main__")
            options = relay.arguments_parser().parse_args(shlex.split(value))
            assert set(options.parts) <= set(relay.TABLES)
            continue
        assert target == "bench"
        options = parser_of_benchmarks().parse_args(shlex.split(value))
        keys = [row.key for row in all_rows(QUICK)]
        assert [part for part in options.rows if not any(part in key for key in keys)] == []


def test_the_recording_on_the_page() -> None:
    """The JSON of docs/cli.md is what the command above it writes."""
    (shown,) = of("json")
    before = [block for block in BLOCKS if block.page == shown.page and block.line < shown.line]
    (line,) = lines_of(before[-1])
    header, told = map(json.loads, written(line).splitlines())
    assert [header, {**told, "t": 0.0}] == [json.loads(row) for row in shown.code.splitlines()]


# JavaScript


def script_on(page: str) -> Block:
    """The only script on a page."""
    (shown,) = [block for block in of("js") if block.page == page]
    return shown


@pytest.mark.parametrize("block", [block for block in of("js") if "/relay.js" in block.code], ids=str)
def test_scripts_use_what_the_browser_client_has(block: Block, tmp_path: Path) -> None:
    """What they import is there, and they are JavaScript."""
    client = (PROJECT / "src" / "unspool" / "relay" / "static" / "relay.js").read_text(encoding="utf-8")
    (names,) = re.findall(r'import \{ (.*?) \} from "/relay.js"', block.code)
    exported = re.findall(r"^export (?:function|class|const) (\w+)", client, re.MULTILINE)
    assert set(names.split(", ")) <= set(exported)
    node = shutil.which("node")
    if node is not None:
        file = tmp_path / "script.mjs"
        file.write_text(block.code, encoding="utf-8")
        subprocess.run([node, "--check", file], check=True, timeout=30)


def test_the_script_on_the_page_is_that_of_the_example() -> None:
    """The function of docs/how-to/patches-over-sse.md is the one in the page that tests/docs/test_examples.py opens."""
    shown = script_on("docs/how-to/patches-over-sse.md")
    assert shown.code in (PROJECT / "examples" / "fastapi_sse.js").read_text(encoding="utf-8")


def test_the_script_on_the_page_runs() -> None:
    """It makes of the patches what `unspool.patch.apply` makes of them."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not here")
    shown = script_on("docs/how-to/patches-over-sse.md")
    patches: list[dict[str, Any]] = [
        {"op": "add", "path": "", "value": {"title": "Trip", "a/b": {"~": 1}, "days": [1]}},
        {"op": "append", "path": "/title", "value": " to Fuji"},
        {"op": "replace", "path": "/a~1b/~0", "value": [None]},
        {"op": "add", "path": "/days/1", "value": {"hours": 6}},
        {"op": "add", "path": "/days/0", "value": 0},
        {"op": "add", "path": "/days/2/name", "value": "x"},
    ]
    script = f"{shown.code}\nprocess.stdout.write(JSON.stringify({json.dumps(patches)}.reduce(apply, null)))"
    told = subprocess.run([node, "-e", script], capture_output=True, check=True, timeout=30).stdout
    assert json.loads(told) == apply(None, patches)


@pytest.mark.parametrize(
    "page", [*sorted((PROJECT / "docs").rglob("*.md")), PROJECT / "README.md"], ids=lambda p: p.name
)
def test_no_page_sends_users_to_private_modules(page: Path) -> None:
    """Everything that the documentation mentions can be imported from a public package."""
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"\bunspool(?:\.\w+)*\._[a-z]\w*", text) == []

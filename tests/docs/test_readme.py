"""The README: what only it promises. Other tests run its examples, follow its links and look at its pictures."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from tests.docs.test_docs_blocks import BLOCKS
from tests.support.shared import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator

README = (PROJECT / "README.md").read_text(encoding="utf-8")
INDEX = (PROJECT / "docs" / "index.md").read_text(encoding="utf-8")
RESULTS = json.loads((PROJECT / "bench" / "results.json").read_text(encoding="utf-8"))["rows"]
SERVED = re.compile(r"`unspool (replay sample:trip --serve) --port (\d+)`")


@pytest.fixture
def replayed() -> Iterator[str]:
    """The server that the README starts, on a free port."""
    pytest.importorskip("typer")
    found = SERVED.search(README)
    assert found is not None
    command = [sys.executable, "-m", "unspool", *found[1].split(), "--port", "0", "--requests", "1", "--speed", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        guard = threading.Timer(60, process.kill)
        guard.start()
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            yield line.split()[2]
        finally:
            process.kill()
            guard.cancel()


def test_the_example_with_a_real_client(replayed: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The block talks to the server that the sentence below it names, and prints an answer that grows."""
    pytest.importorskip("openai")
    pytest.importorskip("pydantic")
    (block,) = [block for block in BLOCKS if block.page == "README.md" and block.language == "python3"]
    port = SERVED.search(README)[2]  # type: ignore[index]
    address = f"http://127.0.0.1:{port}"
    assert block.code.count(address) == 1
    names: dict[str, object] = {}
    exec(compile(block.code.replace(address, replayed), "README.md", "exec", dont_inherit=True), names)
    names["client"].close()  # type: ignore[attr-defined]
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 400
    assert "title='Five da' pack=None" in lines
    assert lines[-1].startswith("title='Five days on São Miguel, without a hurry' pack=['rain jacket', ")


def test_the_headline_number() -> None:
    """The figures of the README are those of the last benchmarks."""
    found = re.search(r"On a 100 KB answer, each fragment takes ([\d.]+) µs; jiter takes (\d+) µs", README)
    assert found is not None
    (row,) = [row for row in RESULTS if row["key"] == "values/itinerary 100 KB"]
    ours, jiter = (row["readings"][name]["figure"] for name in ("unspool compiled", "jiter"))
    assert (found[1], found[2]) == (f"{ours:.2f}", f"{jiter:.0f}")


def test_the_front_page_and_the_readme_begin_alike() -> None:
    """Both show the same first example, and say the same about what it is."""
    for page in ("README.md", "docs/index.md"):
        first = [block.code for block in BLOCKS if block.page == page]
        assert first[:2] == [block.code for block in BLOCKS if block.page == "README.md"][:2]
    for words in ("Streaming JSON for LLM apps", "A model writes JSON for seconds."):
        assert words in README
        assert words in INDEX


def test_the_readme_is_short() -> None:
    """A reader is through in two minutes, and the first picture is on the first screen."""
    assert len(README.splitlines()) < 130
    assert README.index("<picture>") < 400


# Installation

PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]
SOURCES = [*sorted((PROJECT / "src").rglob("*.py")), *sorted((PROJECT / "examples").rglob("*.py"))]


def extras_named(text: str) -> set[str]:
    return {extra for group in re.findall(r"(?:unspool|\.)\[([\w,]+)\]", text) for extra in group.split(",")}


def test_install_instructions_agree() -> None:
    """The line for the package is the same on every page, and extras are always those of `unspool`, not of a folder."""
    lines = {
        line.strip("$ ") for page in PAGES for line in page.read_text("utf-8").splitlines() if "$ pip install" in line
    }
    assert lines == {"pip install .  # in a clone; from a package index: pip install unspool"}
    wrong: list[str] = []
    for file in (*PAGES, *SOURCES):
        for line in file.read_text(encoding="utf-8").splitlines():
            wrong += [
                f"{file.relative_to(PROJECT)}: {line.strip()}"
                for found in re.findall(r"pip install [^`]*", line)
                if "'.[" in found or '".[' in found
            ]
    assert wrong == []


def test_every_extra_that_is_named_exists() -> None:
    """Extras in pages, messages and examples are those of pyproject.toml, and docs/install.md has all of them."""
    import tomllib

    settings = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = set(settings["project"]["optional-dependencies"])
    for file in (*PAGES, *SOURCES):
        found = [
            extra for line in re.findall(r"pip install [^\n]*", file.read_text("utf-8")) for extra in extras_named(line)
        ]
        assert set(found) <= extras, file
    assert extras_named((PROJECT / "docs" / "install.md").read_text(encoding="utf-8")) == extras

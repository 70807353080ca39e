"""`unspool studio --type`: the type of the user is imported from the current folder, or the command says why not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import unspool
from tests.support.running import run
from tests.support.studio import Client

MODULE = """
import msgspec

class Day(msgspec.Struct):
    subtitle: str

class Trip(msgspec.Struct):
    title: str
    days: list[Day]

SCHEMA = {"type": "object", "properties": {"title": {"enum": ["Trip"]}}}
WRONG = object()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "trips_of_tests.py").write_text(MODULE)
    (tmp_path / "raises_of_tests.py").write_text("1 / 0\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Trip", "expected MODULE:NAME"),
        ("no_such_module:Trip", "No module named"),
        ("trips_of_tests:Missing", "Missing"),
        ("raises_of_tests:Trip", "ZeroDivisionError"),
        ("trips_of_tests:WRONG", "--type trips_of_tests:WRONG: "),
    ],
)
def test_a_type_that_cannot_be_used_is_said_to_be_so(folder: Path, name: str, words: str) -> None:
    """Before the server starts, with the status of a wrong command line."""
    pytest.importorskip("msgspec")
    outcome = run("studio", "--no-browser", "--type", name)
    assert outcome.status == 2
    assert words in outcome.stderr
    assert "Traceback" not in outcome.stderr


def test_a_type_of_the_user_gives_typed_values(folder: Path) -> None:
    """A msgspec struct, in a process of its own, from a module beside it."""
    pytest.importorskip("msgspec")
    command = [
        sys.executable,
        "-m",
        "unspool",
        "studio",
        "--no-browser",
        "--type",
        "trips_of_tests:Trip",
        "sample:trip",
    ]
    where = str(Path(unspool.__file__).resolve().parents[1])  # from another folder, a relative PYTHONPATH leads nowhere
    env = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": where}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            assert found is not None
            client = Client(found[0])
            session = client.ask("GET", "/api/info").json["live"]
            assert client.document(session)["type"] == "Trip"
            typed = client.view(session, "step=60")["typed"]
            assert typed["value"].startswith("PartialTrip(\n  title='Five days on")
        finally:
            process.terminate()
            process.wait(20)

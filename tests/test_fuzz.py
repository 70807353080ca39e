"""tests/fuzz: the fuzzer runs, ends, and can find something."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.fuzz import dumps, messages, parts, reader, repair, snapshots, typed
from tests.support import oracle
from tests.support.shared import PROJECT
from unspool import SnapshotChunker, StateError
from unspool.llm import MessageState

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

TARGETS = [reader, repair, snapshots, typed, messages, parts, dumps]
SEEDS = list(reader.seeds())
RUN = [sys.executable, str(PROJECT / "tests" / "fuzz" / "run.py")]


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.__name__.rpartition(".")[2])
def test_every_case_can_be_checked(target: ModuleType) -> None:
    """Bytes of any length stand for a case, and nothing is wrong with it."""
    seeds = list(target.seeds())
    for data in [b"", b"\x00", b"\xff" * 9, *seeds[:: max(len(seeds) // 20, 1)]]:
        target.check(data)


@pytest.mark.parametrize("seed", SEEDS[::50], ids=lambda data: data.hex()[:40])
def test_cases_round_trip(seed: bytes) -> None:
    """A seed is the case that it was made from."""
    options, text, _ = reader.decode(seed)
    assert reader.encode(text, options, seed[3 : 3 + seed[2]]) == seed


def test_a_difference_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks can fail: with an oracle that is wrong, they do."""
    data = reader.encode("[1]", {})
    reader.check(data)
    monkeypatch.setattr(reader, "read", lambda text: oracle.read(text + "x"))
    with pytest.raises(AssertionError, match="oracle"):
        reader.check(data)


def test_dumps_are_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The changes reach far into the dumps: many are refused, some are loaded, and another exception is found."""
    seeds = list(dumps.seeds())
    results: set[tuple[str, bool]] = set()
    for seed in seeds[::7]:
        name, config, dumped = dumps.decode(seed)
        try:
            SnapshotChunker.load(dumped) if config is None else MessageState.load(dumped, config)
        except StateError:
            results.add((name[:7], False))
        else:
            results.add((name[:7], True))
    assert results == {(name, is_loaded) for name in ("chunker", "message") for is_loaded in (True, False)}

    class Failing:
        """A chunker whose `load` lets another exception out."""

        @staticmethod
        def load(_: object) -> None:
            raise KeyError

    monkeypatch.setattr(dumps, "SnapshotChunker", Failing)
    dumps.original_dumps()
    with pytest.raises(KeyError):
        dumps.check(seeds[0])


def test_it_ends_by_itself() -> None:
    """A run of one second ends, tells how much was executed, and finds nothing."""
    command = [*RUN, "--target", "reader", "--seconds", "1", "--engine", "hypothesis"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    told = re.search(r"fuzz reader \((\w+), (\w+)\): (\d+) executions in 1 s; no findings", run.stdout)
    assert told is not None
    assert int(told[3]) > 0


def test_replay(tmp_path: Path) -> None:
    """What was found can be replayed from its file."""
    file = tmp_path / "case"
    file.write_bytes(reader.encode('{"a": 1}', {}, b"\x40"))
    run = subprocess.run([*RUN, "--replay", str(file)], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "1 replayed" in run.stdout

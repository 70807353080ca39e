"""Fuzz the targets for some time each, or replay what was found.

    python tests/fuzz/run.py --seconds 60
    python tests/fuzz/run.py --target reader --seconds 600
    python tests/fuzz/run.py --target reader --replay /tmp/unspool-fuzz-x1y2/crash-...

With atheris, libFuzzer mutates the corpus, led by the branches that a case reaches: those of the plain sources, if they
are what runs, and always those of the oracle. Where atheris is not to be had, hypothesis mutates it. The exit code is 1
if anything was found.
"""

from __future__ import annotations

import argparse
import importlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

PROJECT = Path(__file__).resolve().parents[2]
if str(PROJECT) not in sys.path:
    sys.path.insert(0, str(PROJECT))

if TYPE_CHECKING:
    from types import ModuleType

LONGEST = 4096
TARGETS = ["reader", "repair", "snapshots", "typed", "messages", "parts", "dumps"]  # a module of this folder each


def main() -> int:
    arguments = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    arguments.add_argument("--seconds", type=float, default=60, help="for each target")
    arguments.add_argument("--target", choices=TARGETS, action="append", help="one of them; all, if none is named")
    arguments.add_argument("--engine", choices=["atheris", "hypothesis"], default=None, help="instead of the best one")
    arguments.add_argument("--replay", type=Path, nargs="+", default=[], help="files that were found")
    arguments.add_argument("--inside", type=Path, help=argparse.SUPPRESS)  # the folder of a run of libFuzzer
    options = arguments.parse_args()
    targets = options.target or TARGETS
    if options.replay:
        return replay(targets[0], options.replay)
    if options.inside is not None:
        run_inside(targets[0], options.inside, options.seconds)
    engine = options.engine or ("hypothesis" if find_atheris() is None else "atheris")
    return max([fuzz(name, engine, options.seconds) for name in targets])


def fuzz(name: str, engine: str, seconds: float) -> int:
    """Fuzz one target; 1 if anything was found."""
    folder = Path(tempfile.mkdtemp(prefix="unspool-fuzz-"))
    run = run_atheris if engine == "atheris" else run_hypothesis
    count, findings = run(name, folder, seconds)
    import unspool

    build = "compiled" if unspool.COMPILED else "pure"
    found = "no findings" if not findings else f"FOUND: {', '.join(map(str, findings))}"
    print(f"fuzz {name} ({engine}, {build}): {count} executions in {seconds:g} s; {found}", flush=True)
    if count == 0:
        print("fuzz: nothing was executed")
    if not findings:
        shutil.rmtree(folder)
    return 1 if findings or count == 0 else 0


def target_named(name: str) -> Any:
    """The module of a target: `seeds`, `decode`, `check`."""
    return importlib.import_module(f"tests.fuzz.{name}")


def find_atheris() -> ModuleType | None:
    try:
        return importlib.import_module("atheris")
    except ImportError:
        return None


def replay(name: str, files: list[Path]) -> int:
    target = target_named(name)
    for file in files:
        print(file, target.decode(file.read_bytes()))
        target.check(file.read_bytes())
    print(f"{len(files)} replayed; nothing is wrong with them (any more)")
    return 0


# atheris: libFuzzer leaves the process when it is done, so it gets one of its own.


def run_atheris(name: str, folder: Path, seconds: float) -> tuple[int, list[Path]]:
    command = [sys.executable, __file__, "--target", name, "--seconds", str(seconds), "--inside", str(folder)]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    findings = sorted((folder / "findings").glob("*"))
    if done.returncode != 0 or findings:
        print(done.stderr[-6000:])
    executed = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
    if done.returncode != 0 and not findings:
        findings = [folder]
    return int(executed[1]) if executed else 0, findings


def run_inside(name: str, folder: Path, seconds: float) -> None:
    atheris: Any = find_atheris()
    from unspool import COMPILED  # whether the sources are worth being instrumented

    if not COMPILED:
        for module in [module for module in sys.modules if module.partition(".")[0] == "unspool"]:
            del sys.modules[module]
    with atheris.instrument_imports(include=["unspool", "tests.support.oracle"]):
        target = target_named(name)
    for part in ("corpus", "findings"):
        (folder / part).mkdir()
    for number, seed in enumerate(target.seeds()):
        (folder / "corpus" / f"seed-{number:04}").write_bytes(seed)
    settings = {
        "max_total_time": max(1, round(seconds)),
        "max_len": LONGEST,
        "timeout": 20,
        "print_final_stats": 1,
        "artifact_prefix": f"{folder}/findings/",
    }
    flags = [f"-{flag}={value}" for flag, value in settings.items()]
    atheris.Setup([sys.argv[0], *flags, str(folder / "corpus")], target.check)
    atheris.Fuzz()


# hypothesis: rounds of examples, until the time is over.


def run_hypothesis(name: str, folder: Path, seconds: float) -> tuple[int, list[Path]]:
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st

    target = target_named(name)
    end = time.monotonic() + seconds
    count = 0
    last = b""
    edits = st.lists(st.tuples(st.integers(0, LONGEST), st.integers(0, 4), st.binary(max_size=4)), max_size=4)

    @settings(max_examples=200, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.builds(mutate, st.sampled_from(list(target.seeds())), edits) | st.binary(max_size=64))
    def one_round(data: bytes) -> None:
        nonlocal count, last
        if time.monotonic() < end:
            count += 1
            last = data
            target.check(data)

    try:
        while time.monotonic() < end:
            one_round()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        finding = folder / "crash-hypothesis"
        finding.write_bytes(last)
        print(f"{type(error).__name__}: {error}", target.decode(last), sep="\n")
        return count, [finding]
    return count, []


def mutate(seed: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    for place, length, insertion in edits:
        at = place % (len(seed) + 1)
        seed = seed[:at] + insertion + seed[at + length :]
    return seed


if __name__ == "__main__":
    sys.exit(main())

"""The rows about events: fragments of four characters, fragments of 64 KiB, the ten shapes, and the import."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from .documents import KIB_64, SHAPES, cut, file_in_a_tool_call, itinerary, leaves, table
from .doubling import doubling
from .peers import EVENT_READERS, EventReader, unspool_events
from .rows import (
    DOUBLING,
    MB_PER_SECOND,
    MILLISECONDS,
    MODULES,
    OURS,
    US_PER_FRAGMENT,
    Contender,
    Row,
    UnavailableError,
    ours,
)
from .timing import Effort, Measure, Reading, per_fragment, throughput

__all__ = ["rows"]


def rows(effort: Effort) -> Iterator[Row]:
    for name, size in (("0.5 KB", 500), ("2 KB", 2_000), ("10 KB", 10_000), ("100 KB", 100_000)):
        yield _small_fragments(f"itinerary {name}", partial(itinerary, size), effort)
    yield _small_fragments("50 KB string", partial(file_in_a_tool_call, 50_000), effort)
    yield _small_fragments("2,000 rows", partial(table, 2_000), effort)
    yield _large_fragments("itinerary 1 MB", partial(itinerary, 1_000_000), effort)
    yield _large_fragments("2,000 rows", partial(table, 2_000), effort)
    for name, shape in SHAPES.items():
        yield Row(
            f"events/doubling/{name}",
            f"events, doubled: {name}",
            DOUBLING,
            [Contender(OURS, partial(_doubled, shape, effort))],
            turns=1,
        )
    yield Row("import/time", "import", MILLISECONDS, [_importing("unspool"), _importing("jiter")], turns=15)
    yield Row("import/foreign", "import, modules from elsewhere", MODULES, [Contender(OURS, _foreign_modules)], turns=1)


def _small_fragments(name: str, document: Callable[[], str], effort: Effort) -> Row:
    def measure(reader: EventReader) -> Measure:
        fragments = _fragments(reader, document(), 4)
        return per_fragment(lambda: reader.read(fragments), len(fragments), effort)

    return Row(f"events/{name}", f"events, {name}", US_PER_FRAGMENT, _contenders(measure))


def _large_fragments(name: str, document: Callable[[], str], effort: Effort) -> Row:
    def measure(reader: EventReader) -> Measure:
        fragments = _fragments(reader, document(), KIB_64)
        return throughput(lambda: reader.read(fragments), document(), effort)

    return Row(f"events/bulk/{name}", f"events in bulk (64 KiB), {name}", MB_PER_SECOND, _contenders(measure))


def _doubled(shape: Callable[[int], str], effort: Effort) -> Measure:
    return doubling(shape, unspool_events().read, effort)


def _contenders(measure: Callable[[EventReader], Measure]) -> list[Contender]:
    def prepare(make: Callable[[], EventReader]) -> Measure:
        return measure(make())

    return [Contender(OURS, partial(prepare, unspool_events))] + [
        Contender(name, partial(prepare, peer.make), peer.lacks, peer.pure_python, peer.does_the_same)
        for name, peer in EVENT_READERS.items()
    ]


def _fragments(reader: EventReader, text: str, size: int) -> list[str] | list[bytes]:
    fragments = cut(text, size)
    given = [fragment.encode() for fragment in fragments] if reader.takes_bytes else fragments
    if reader.leaves(given) != leaves(text):
        raise UnavailableError("finds other values than are there")
    return given


# The import, each time in a fresh interpreter. Modules that the interpreter has loaded before (site and its .pth files)
# are not counted; the module in which mypyc keeps the shared code of a compiled package is the package's own.
_IMPORT: Final = """
import sys, time
before = set(sys.modules)
started = time.process_time()
import {module}
took = time.process_time() - started
foreign = {{name.partition(".")[0] for name in set(sys.modules) - before}} - sys.stdlib_module_names - {{"{module}"}}
print(took * 1000, sum(not name.endswith("__mypyc") for name in foreign))
"""


def _import_in_a_fresh_interpreter(module: str) -> tuple[float, float]:
    done = subprocess.run(
        [sys.executable, "-c", _IMPORT.format(module=module)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": ""},
    )
    if done.returncode != 0:
        raise UnavailableError("not installed")
    milliseconds, foreign = map(float, done.stdout.split())
    return milliseconds, foreign


def _importing(module: str) -> Contender:
    def prepare() -> Measure:
        _import_in_a_fresh_interpreter(module)  # writes the bytecode, reads the files into the cache
        return lambda: Reading(_import_in_a_fresh_interpreter(module)[0])

    return Contender(module, prepare)


def _foreign_modules() -> Measure:
    ours()
    foreign = _import_in_a_fresh_interpreter("unspool")[1]
    return lambda: Reading(foreign)

"""The uncompiled build in a child process, asked for one reading at a time.

One interpreter cannot hold two builds of one package. So the child process builds the same rows from the same code,
with ``src`` first on its path. It reads lines with the key of a row, and answers each with the reading as a line of
JSON. To the parent it is one more contender, which takes its turn among the others.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final

from .rows import OURS, Row, UnavailableError, load
from .timing import Measure, Reading

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["PureChild", "serve"]

_ROOT: Final = Path(__file__).parent.parent


class PureChild:
    """The parent's side: a context manager that ends the child."""

    def __init__(self, *, quick: bool) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench", "--serve-pure", *(["--quick"] if quick else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=_ROOT,
            env=os.environ | {"PYTHONPATH": str(_ROOT / "src")},
        )

    def prepare(self, key: str) -> Measure:
        first = [self._ask(key)]  # shows whether the row is available; this reading counts, too
        return lambda: first.pop() if first else self._ask(key)

    def _ask(self, key: str) -> Reading:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(key + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise RuntimeError("the pure build failed; see its output above")
        found = json.loads(answer)
        if "unavailable" in found:
            raise UnavailableError(found["unavailable"])
        return Reading(found["figure"], found["note"])

    def __enter__(self) -> PureChild:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with ExitStack() as stack:
            stack.callback(self._process.wait)
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    stack.callback(pipe.close)


def serve(rows: Mapping[str, Row]) -> None:
    """The child's side: answer until the parent closes the pipe."""
    current, measure = "", None
    for line in sys.stdin:
        key = line.rstrip("\n")
        try:
            if key != current or measure is None:
                current, measure = key, _prepare(rows[key])
            answer: dict[str, object] = dict(measure()._asdict())
        except UnavailableError as reason:
            answer = {"unavailable": str(reason)}
        print(json.dumps(answer), flush=True)


def _prepare(row: Row) -> Measure:
    mine = next(contender for contender in row.contenders if contender.name == OURS)
    if load("unspool").COMPILED:
        raise UnavailableError("src holds a compiled build")
    return mine.prepare()

"""`unspool check`: is it whole, and is it valid? If not: where, in what, and what was expected instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, final

import typer
from rich.text import Text

from ...._errors import UnspoolError
from ...viewer.inputs import Guess, InputKind
from ..lines.inspecting import ManyTexts, Message, OneText
from ..lines.problems import Problem, show
from ..options import Extract, File, Format, Kind
from ..progress import progress
from ..reading import STANDARD_INPUT, Input, timed_items
from ..schemas import Schema, Tools, config_for, load_schema
from ..terminal import BROKEN, UsageError, console, guarded, print_words, shown, write_line

if TYPE_CHECKING:
    from ..lines.inspecting import Reader
    from ..lines.stages import Line

__all__ = ["check"]

MOST_SHOWN: Final = 20

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing but the exit status.")]
AsJSON = Annotated[bool, typer.Option("--json", help="The report as one line of JSON.")]


def check(
    file: File = STANDARD_INPUT,
    schema: Schema = None,
    tool: Tools = None,
    extract: Extract = False,
    as_json: AsJSON = False,
    quiet: Quiet = False,
    kind: Kind = None,
    format: Format = None,
) -> None:
    """Whether the input is whole and valid (exit status 0), or what is wrong with it, and where (1)."""
    with guarded(Input(file).name):
        source = Input(file, kind, format)
        inspection = Inspection(source, schema, tool, extract)
        inspection.run()
        problems = inspection.problems
        if as_json:
            write_line({"ok": not problems, "file": str(file), **inspection.summary, "problems": _as_json(problems)})
        elif not quiet:
            _tell(source.name, inspection)
        if problems:
            raise typer.Exit(BROKEN)


def _as_json(problems: list[Problem]) -> list[Line]:
    return [problem.as_json() for problem in problems]


def _tell(name: str, inspection: Inspection) -> None:
    problems = inspection.problems
    for problem in problems[:MOST_SHOWN]:
        show(name, problem)
    if len(problems) > MOST_SHOWN:
        print_words(console(), Text(f"and {len(problems) - MOST_SHOWN} more"))
    if not problems:
        told = [_counted(count, what) for what, count in inspection.summary.items() if isinstance(count, int)]
        what = inspection.summary["format"] or inspection.summary["input"]
        print_words(console(), Text(shown(f"{name}: ok: {', '.join([str(what), *told])}")))


def _counted(count: int, what: str) -> str:
    return f"{count} {what.removesuffix('s') if count == 1 else what}"


@final
class Inspection:
    """Reads an input of any kind, and gathers what is wrong with it."""

    def __init__(self, source: Input, schema: str | None, tools: list[str] | None, extract: bool) -> None:
        self.problems: list[Problem] = []
        self._source = source
        self._extract = extract
        self._config = config_for(schema, tools, extract)
        self._has_tools = bool(tools)
        self._resolver = None if schema is None else load_schema(schema)
        self._found: Guess | None = None
        self._reader: Reader | None = None

    @property
    def summary(self) -> Line:
        """What was read."""
        assert self._reader is not None
        found = self._found or Guess(InputKind.RECORDING)  # of which nothing could be read
        return {"input": found.kind.value, "format": found.format, **self._reader.counts}

    def run(self) -> None:
        """Read it all, or up to the first thing that ends the reading."""
        opening = self._source.opening(self._config, snapshots=False)
        try:
            with progress(self._source) as took:
                for timed in timed_items(self._source, opening, took):
                    reader = self._reader or self._begin(opening.found)
                    reader.take(timed.item)
                    if reader.is_stopped:
                        break
        except UsageError:
            raise
        except UnspoolError as error:  # of what it is wrapped in
            self._begin(opening.found)
            self.problems.append(Problem("unreadable", str(error)))
        else:
            (self._reader or self._begin(opening.found)).close()

    def _begin(self, found: Guess | None) -> Reader:
        if self._reader is not None:
            return self._reader
        wanted = self._source.kind
        self._found = found
        if found is not None and found.is_message:
            self._reader = Message(self.problems, self._config, self._extract)
        elif self._has_tools:
            raise UsageError("--tool is for what a provider streams")
        elif found is not None and found.kind is InputKind.NDJSON:
            self._reader = ManyTexts(self.problems, self._resolver, is_chain=wanted is InputKind.SNAPSHOTS)
        else:
            self._reader = OneText(self.problems, self._resolver, self._extract)
        return self._reader

"""Repair, measured: which texts unspool, json_repair and jsonrepair read as they were meant.

The texts come from the shared data: mutations of documents, each with one known fault, and cases from the tests and the
issues of other projects. All readers run in the same process on the same texts. jsonrepair is an npm package; it is
installed by name into a temporary folder where Node is there.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections import Counter
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from tests.support.oracle import same
from tests.support.page_tables import write_table
from tests.support.shared import PROJECT, shared_data
from unspool import MISSING, JSONSyntaxError, Options, ValueParser

PAGE: Final = PROJECT / "docs" / "repair.md"
MUTATIONS: Final = "repair-mutations"
ISSUES: Final = "repair-issues"
OURS: Final = "unspool"
PEERS: Final = ("json_repair", "jsonrepair")
JSONREPAIR: Final = "jsonrepair@3.15.0"
TRUNCATED: Final = "TRUNCATED"
"""The expected value of a text that was cut inside a string: nothing but an error is right."""
SECONDS: Final = 120

NEVER_WORSE_BUT: Final[dict[str, str]] = {}
"""The classes of mutations in which a peer is better, each with the reason; the page gives the same reasons."""

Verdict = Literal["right", "error", "wrong"]

SCRIPT: Final = """
import { readFileSync } from 'node:fs';
import { jsonrepair } from 'jsonrepair';
for (const line of readFileSync(0, 'utf8').split('\\n')) {
  if (line === '') continue;
  let out;
  try { out = { text: jsonrepair(JSON.parse(line)) }; } catch (error) { out = { error: String(error) }; }
  console.log(JSON.stringify(out));
}
"""


class RepairCase(NamedTuple):
    """One text, and what it means."""

    source: str
    group: str
    text: str
    outcome: str
    expected: Any

    @property
    def is_fenced(self) -> bool:
        """Whether the JSON is in a Markdown block."""
        return "```" in self.text and not self.text.lstrip().startswith(("{", "["))


class Answer(NamedTuple):
    """The verdict on one answer; of unspool also whether the log has a guess."""

    verdict: Verdict
    has_guess: bool = False


def data_folder() -> Path | None:
    """The folder of the texts, or None."""
    shared = shared_data()
    return shared / "repair" if shared is not None and (shared / "repair").is_dir() else None


@cache
def cases(name: Literal["cases", "mutations"]) -> list[RepairCase]:
    """The texts of one file."""
    folder = data_folder()
    assert folder is not None
    rows = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    return [RepairCase(row["source"], row["class"], row["input"], row["outcome"], row["expected"]) for row in rows]


def issues() -> list[RepairCase]:
    """The inputs that people reported to other projects."""
    return [case for case in cases("cases") if case.source.startswith("issue:")]


def judged(case: RepairCase, value: Any, *, is_error: bool) -> Verdict:
    """The verdict on a value, or on an error."""
    if case.outcome != "value" or case.expected == TRUNCATED:
        return "right" if is_error or value is MISSING else "wrong"
    if is_error:
        return "error"
    return "right" if value is not MISSING and same(value, case.expected) else "wrong"


def our_answer(case: RepairCase, *, extract: bool = False, **options: Any) -> Answer:
    """The verdict on unspool with guesses; texts with a Markdown block are read with `extract`, or all of them."""
    parser = ValueParser(Options(repair="guess", **options), extract=extract or case.is_fenced)
    is_error, value = False, MISSING
    try:
        parser.feed(case.text)
        value = parser.close()
    except JSONSyntaxError:
        is_error = True
    return Answer(judged(case, value, is_error=is_error), any(repair.is_guess for repair in parser.repairs))


def peer_answers(peer: str, texts: list[RepairCase]) -> list[Answer]:
    """The verdicts on another library."""
    return _json_repair(texts) if peer == "json_repair" else _jsonrepair(texts)


def peer_version(peer: str) -> str | None:
    """The version of a library; None where it cannot run."""
    if peer == "jsonrepair":
        return None if _node_folder() is None else JSONREPAIR.partition("@")[2]
    try:
        return version("json-repair")
    except PackageNotFoundError:
        return None


def _json_repair(texts: list[RepairCase]) -> list[Answer]:
    import json_repair

    answers: list[Answer] = []
    for case in texts:
        try:
            value: Any = json_repair.loads(case.text)
        except (ValueError, RecursionError):
            answers.append(Answer(judged(case, None, is_error=True)))
        else:
            answers.append(Answer(judged(case, value, is_error=False)))
    return answers


def _jsonrepair(texts: list[RepairCase]) -> list[Answer]:
    folder = _node_folder()
    assert folder is not None
    given = "".join(json.dumps(case.text) + "\n" for case in texts)
    ran = subprocess.run(
        ["node", "repair.mjs"], cwd=folder, input=given, capture_output=True, text=True, check=True, timeout=SECONDS
    )
    answers: list[Answer] = []
    for case, line in zip(texts, ran.stdout.splitlines(), strict=True):
        told = json.loads(line)
        try:
            value = json.loads(told["text"])
        except (KeyError, ValueError):
            answers.append(Answer(judged(case, None, is_error=True)))
        else:
            answers.append(Answer(judged(case, value, is_error=False)))
    return answers


@cache
def _node_folder() -> str | None:
    """A temporary folder with jsonrepair in it; None without Node, or where npm cannot install it."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return None
    folder = _TEMPORARY.name
    install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", JSONREPAIR]
    try:
        subprocess.run(install, cwd=folder, check=True, capture_output=True, timeout=SECONDS)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return None
    (Path(folder) / "repair.mjs").write_text(SCRIPT, encoding="utf-8")
    return folder


_TEMPORARY: Final = tempfile.TemporaryDirectory(prefix="unspool-jsonrepair-")


# The tables.


def counted(answers: list[Answer]) -> Counter[str]:
    """How many answers have each verdict."""
    return Counter(answer.verdict for answer in answers)


def score(answers: list[Answer]) -> str:
    """Right, error and wrong, as the tables have them."""
    found = counted(answers)
    return f"{found['right']} / {found['error']} / {found['wrong']}"


@cache
def mutation_answers(reader: str) -> list[Answer]:
    """The verdicts of one reader on all mutations."""
    texts = cases("mutations")
    return [our_answer(case) for case in texts] if reader == OURS else peer_answers(reader, texts)


@cache
def issue_answers(reader: str) -> list[Answer]:
    """The verdicts of one reader on the reported inputs; `unspool, truncated="close"` closes text that was cut off."""
    texts = issues()
    if not reader.startswith(OURS):
        return peer_answers(reader, texts)
    options: dict[str, Any] = {} if reader == OURS else {"truncated": "close"}
    return [our_answer(case, **options) for case in texts]


def by_group(reader: str) -> dict[str, list[Answer]]:
    """The verdicts on the mutations by the kind of fault."""
    groups: dict[str, list[Answer]] = {}
    for case, answer in zip(cases("mutations"), mutation_answers(reader), strict=True):
        groups.setdefault(case.group, []).append(answer)
    return groups


def readers() -> list[str]:
    """Unspool and the peers that can run here."""
    return [OURS, *(peer for peer in PEERS if peer_version(peer) is not None)]


def named(reader: str) -> str:
    """The heading of a reader."""
    return reader if reader.startswith(OURS) else f"{reader} {peer_version(reader)}"


def mutations_table() -> list[str]:
    """The table of the mutations: right / error / wrong for each kind of fault."""
    here = readers()
    groups = {reader: by_group(reader) for reader in here}
    rows = [[group.replace("_", " "), *(score(groups[reader][group]) for reader in here)] for group in groups[OURS]]
    rows.append(["**all**", *(f"**{score(mutation_answers(reader))}**" for reader in here)])
    return _lines(["fault", *map(named, here)], rows)


CLOSING: Final = 'unspool, truncated="close"'


def issues_table() -> list[str]:
    """The table of the reported inputs."""
    here = [OURS, CLOSING, *readers()[1:]]
    return _lines(
        ["", *map(named, here)], [[f"{len(issues())} reported inputs", *(score(issue_answers(r)) for r in here)]]
    )


def _lines(heading: list[str], rows: list[list[str]]) -> list[str]:
    return ["| " + " | ".join(row) + " |" for row in (heading, ["---"] * len(heading), *rows)]


if __name__ == "__main__":
    write_table(PAGE, MUTATIONS, mutations_table())
    write_table(PAGE, ISSUES, issues_table())

"""docs/how-it-works.md: the walk names the files and functions that a fragment and a snapshot really pass through."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import unspool
from tests.support.shared import PROJECT
from unspool import COMPILED, SnapshotChunker, ValueParser

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = (PROJECT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
WALKS = {
    title: re.findall(
        r"^\| [\w `]+ \| `([\w/.]+)` \| (`.*?`) \|", PAGE.partition(f"### {title}")[2].partition("###")[0], re.MULTILINE
    )
    for title in ("From a fragment to a value", "From a snapshot to text")
}
STEPS = [(file, name) for rows in WALKS.values() for file, names in rows for name in re.findall(r"`([\w.]+)`", names)]


@pytest.mark.parametrize(("file", "name"), STEPS)
def test_every_step_is_where_the_page_says(file: str, name: str) -> None:
    """Each name of the walk is defined in the file beside it."""
    found: Any = importlib.import_module("unspool." + file.removesuffix(".py").replace("/", "."))
    module = found.__name__
    for part in name.split("."):
        found = getattr(found, part)
    assert getattr(found, "__module__", module) in (module, None) or COMPILED


def visited(run: Callable[[], object]) -> set[str]:
    """The files of the package whose functions run."""
    package, files = Path(str(unspool.__file__)).parent, set()

    def note(frame: Any, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and package in path.parents:
            files.add(str(path.relative_to(package)))

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return files


@pytest.mark.skipif(COMPILED, reason="compiled functions have no frames")
def test_no_other_file_takes_part() -> None:
    """A fragment and a snapshot pass through the files that the page names, and no other."""
    parser = ValueParser()

    def read() -> None:
        parser.feed(b'{"days": [1, {"title": "Arri\\u00e9')
        _ = parser.value
        parser.feed(b"val")

    helpers = {"_native.py"}  # `cast`, which means nothing to the compiled build
    assert visited(read) - helpers == {file for file, _ in WALKS["From a fragment to a value"]}
    chunker = SnapshotChunker()
    seen = visited(lambda: chunker.process('{"days": [{"subtitle": "Day"}]}'))
    assert seen - helpers - {"_path.py", "_events.py"} == {file for file, _ in WALKS["From a snapshot to text"]}

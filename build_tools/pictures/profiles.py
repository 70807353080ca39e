"""The waterfall of `unspool profile`, and `unspool profile --compare` for two orders of the same fields."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from rich.text import Text

from unspool.tools.cli.arrivals import GrowingTimeline, Input
from unspool.tools.cli.commands.profile import comparison_lines
from unspool.tools.viewer import drawings
from unspool.tools.viewer.timeline import Timeline
from unspool.tools.viewer.waterfall import Waterfall, layout

from .terminal import still
from .themes import Theme

__all__ = ["draw_comparison", "draw_waterfall", "draw_waterfalls"]

SCHEME: Final = re.compile(r"@media \(prefers-color-scheme: dark\) \{\n(.*?\n)\}\n", re.DOTALL)
COLUMNS: Final = 76


def draw_waterfall(theme: Theme) -> str:
    """Draw when the fields of a recorded answer became usable."""
    return _for_one_scheme(drawings.draw(_waterfall("sample:trip", max_depth=1), "unspool profile sample:trip"), theme)


def draw_waterfalls(theme: Theme) -> str:
    """Draw the same answer twice: with the verdict last, and with the verdict first."""
    before, after = (_waterfall(f"sample:unordered-{name}", max_depth=1) for name in "ab")
    return _for_one_scheme(
        drawings.draw_both(before, after, ("before: the verdict last", "after: the verdict first")), theme
    )


def draw_comparison(theme: Theme) -> str:
    """Draw the table that the command prints about both answers."""
    names = ("sample:unordered-a", "sample:unordered-b")
    one, two = (_waterfall(name, max_depth=1) for name in names)
    lines: list[Text] = comparison_lines(one, two, names, COLUMNS)
    return still(f"unspool profile {names[0]} --compare {names[1]} --depth 1", lines, COLUMNS, theme)


def _waterfall(sample: str, *, max_depth: int) -> Waterfall:
    return layout(_timeline(sample), max_depth=max_depth, unit="seconds")


def _timeline(sample: str) -> Timeline:
    growing = GrowingTimeline(Input(Path(sample)), extract=False)
    for _ in growing.ticks():
        pass
    return growing.finish()


def _for_one_scheme(drawing: str, theme: Theme) -> str:
    """Return a drawing that follows the reader's system as one that has the colours of `theme`."""
    found = SCHEME.search(drawing)
    if found is None:
        raise ValueError("the drawing has no colours for dark pages")
    return drawing[: found.start()] + (found[1] if theme.name == "dark" else "") + drawing[found.end() :]

"""All drawings by file name, and whether the files in docs/pictures still show what the program does."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from . import benchmarks, layers, profiles, watching
from .themes import THEMES, Theme

__all__ = ["DRAWINGS", "FOLDER", "outdated", "write"]

FOLDER: Final = Path(__file__).parents[2] / "docs" / "pictures"
KINDS: Final[dict[str, Callable[[Theme], str]]] = {
    "watch": watching.draw,
    "profile": profiles.draw_waterfall,
    "before-after": profiles.draw_waterfalls,
    "compare": profiles.draw_comparison,
    "layers": layers.draw,
    **{f"benchmark-{family}": partial(benchmarks.draw, family) for family in benchmarks.PANELS},
}
DRAWINGS: Final[dict[str, Callable[[], str]]] = {
    f"{name}-{theme.name}.svg": partial(draw, theme) for name, draw in KINDS.items() for theme in THEMES
}
"""How to make each file."""


def write(folder: Path = FOLDER) -> None:
    """Write all drawings."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in DRAWINGS.items():
        (folder / name).write_text(draw(), encoding="utf-8")


def outdated(name: str, folder: Path = FOLDER) -> bool:
    """Return whether a file is missing, or shows something else than a new run."""
    file = folder / name
    return not file.is_file() or file.read_text(encoding="utf-8") != DRAWINGS[name]()

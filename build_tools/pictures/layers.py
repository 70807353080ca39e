"""The layers of the source as a matrix: one row per layer, and a dot where its modules import from another layer.

A module imports only from its own layer and from those above it, so all dots are below the diagonal.
"""

from __future__ import annotations

from collections import Counter
from html import escape
from math import sqrt
from typing import Final

from build_tools.imports import imports, layers, listed_name, module_files

from .themes import MONOSPACE, Theme, framed

__all__ = ["draw"]

ROW: Final = 30
LEFT: Final = 24
NAMES: Final = 420  # the width of the names and their purposes
TOP: Final = 72
LONGEST: Final = 68  # characters of a purpose


def draw(theme: Theme) -> str:
    """Draw the layers and the imports between them."""
    listed = layers()
    counts = _counts()
    width, height = LEFT + NAMES + ROW * len(listed) + 24, TOP + ROW * len(listed) + 24
    legend = "A dot: the row imports from the column. No dot is above the diagonal: no import leads down."
    parts = [
        f'<text x="{LEFT}" y="30" font-size="14" font-weight="600">The layers of the source</text>',
        f'<text x="{LEFT}" y="50" fill="{theme.soft}">{legend}</text>',
    ]
    for index, layer in enumerate(listed):
        y, x = TOP + ROW * index, LEFT + NAMES + ROW * index
        name = layer.names[0] if len(layer.names) == 1 else layer.names[0] + ", …"
        if len(layer.purpose) > LONGEST:
            raise ValueError(f"the purpose of {name} is too long for the picture: {layer.purpose}")
        if index % 2 == 0:
            parts.append(
                f'<rect x="8" y="{y}" width="{width - 16}" height="{ROW}" fill="{theme.frame}" opacity=".25"/>'
            )
        parts += [
            f'<text x="{LEFT}" y="{y + 13}" font-family="{MONOSPACE}" font-weight="600">{escape(name)}</text>',
            f'<text x="{LEFT}" y="{y + 26}" font-size="11" fill="{theme.soft}">{escape(layer.purpose)}</text>',
            f'<rect x="{x + 5}" y="{y + 5}" width="20" height="20" rx="4" fill="{theme.soft}" opacity=".3"/>',
        ]
        parts += [
            f'<circle cx="{LEFT + NAMES + ROW * target + ROW / 2:g}" cy="{y + ROW / 2:g}" '
            f'r="{min(2.5 + 1.3 * sqrt(count), 12):.1f}" fill="{theme.accent}"><title>{escape(name)} imports '
            f"{escape(listed[target].names[0])} {count} times</title></circle>"
            for target in range(len(listed))
            if (count := counts[index, target]) and target != index
        ]
    return framed("The layers of the source, and the imports between them", width, height, theme, parts)


def _counts() -> Counter[tuple[int, int]]:
    """Count the imports from one layer to another."""
    rows = {name: index for index, layer in enumerate(layers()) for name in layer.names}
    return Counter(
        (rows[listed_name(module)], rows[listed_name(target)])
        for module in module_files()
        for target in imports(module)
        if target
    )

"""The colours of the drawings: a file for light pages, and a file for dark ones."""

from __future__ import annotations

from html import escape
from typing import Final, NamedTuple

__all__ = ["MONOSPACE", "SANS", "THEMES", "Theme", "framed"]

MONOSPACE: Final = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
SANS: Final = "system-ui, -apple-system, 'Segoe UI', sans-serif"


class Theme(NamedTuple):
    """The colours of a drawing. Those of a terminal have the names that rich gives them."""

    name: str
    back: str
    frame: str
    ink: str
    soft: str
    accent: str
    terminal: dict[str, str]


LIGHT: Final = Theme(
    name="light",
    back="#ffffff",
    frame="#d9dee3",
    ink="#1c2024",
    soft="#667079",
    accent="#2563c9",
    terminal={
        "red": "#c0262d",
        "green": "#1a7f37",
        "yellow": "#8a5a00",
        "blue": "#2563c9",
        "magenta": "#8b3fb0",
        "cyan": "#0b6e85",
    },
)
DARK: Final = Theme(
    name="dark",
    back="#14171a",
    frame="#333a41",
    ink="#e6e9ec",
    soft="#98a2ab",
    accent="#6ea8ff",
    terminal={
        "red": "#ff7b80",
        "green": "#5fd07a",
        "yellow": "#e8b64a",
        "blue": "#6ea8ff",
        "magenta": "#d39bf0",
        "cyan": "#56c6de",
    },
)
THEMES: Final = (LIGHT, DARK)


def framed(title: str, width: float, height: float, theme: Theme, body: list[str]) -> str:
    """Return an SVG file: the body on a card with round corners."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'role="img" font-family="{SANS}" font-size="12" fill="{theme.ink}">'
    )
    card = (
        f'<rect x=".5" y=".5" width="{width - 1:.0f}" height="{height - 1:.0f}" rx="8" '
        f'fill="{theme.back}" stroke="{theme.frame}"/>'
    )
    return "\n".join([head, f"<title>{escape(title)}</title>", card, *body, "</svg>\n"])

"""Lines of a terminal as SVG: a still picture, or a film of several screens.

A film is one tall drawing with its screens below one another. A style animation moves it past a window of the size of
one screen, so it needs no script and plays wherever a picture can be shown. Each different line is drawn once. Readers
who asked for less motion see the last screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from io import StringIO
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.text import Text

from .themes import MONOSPACE, Theme, framed

__all__ = ["Screen", "film", "still"]

CELL: Final = 8.4  # the width of a character
LINE: Final = 19  # the height of a line
SIZE: Final = 14  # of the letters
MARGIN: Final = 14
HOLD: Final = 3.0  # seconds for which the last screen stays
BASELINE: Final = 14


class Screen(NamedTuple):
    """What a terminal shows from a time on, in seconds."""

    time: float
    lines: Sequence[Text]


def still(command: str, lines: Sequence[Text], columns: int, theme: Theme) -> str:
    """Draw a command and the lines that it printed."""
    return film(command, [Screen(0.0, lines)], columns, theme)


def film(command: str, screens: Sequence[Screen], columns: int, theme: Theme) -> str:
    """Draw a command and the screens that it showed, one after another, again and again."""
    painter = _Painter(columns, theme)
    rows = max(len(screen.lines) for screen in screens)
    height = rows * LINE
    body: list[str] = []
    for index, screen in enumerate(screens):
        for row, line in enumerate(screen.lines):
            body += painter.line(line, index * height + row * LINE)
    width, top = columns * CELL + 2 * MARGIN, MARGIN + LINE + 6
    motion = _motion(screens, height) if len(screens) > 1 else ""
    parts = [
        f"<style>text{{white-space:pre}}{painter.styles()}{motion}</style>",
        f"<defs>{''.join(painter.drawn)}</defs>",
        f'<g font-family="{MONOSPACE}" font-size="{SIZE}">',
        f'<text x="{MARGIN}" y="{MARGIN + BASELINE}" fill="{theme.soft}">$ {escape(command)}</text>',
        f'<svg x="{MARGIN}" y="{top}" width="{columns * CELL:.1f}" height="{height}">',
        '<g class="film">',
        *body,
        "</g></svg></g>",
    ]
    return framed(command, width, top + height + MARGIN, theme, parts)


def _motion(screens: Sequence[Screen], height: int) -> str:
    """Return the styles that show each screen at its time."""
    total = screens[-1].time + HOLD
    keys = "".join(
        f"{screen.time / total:.3%}{{transform:translateY(-{index * height}px)}}"
        for index, screen in enumerate(screens)
    )
    last = (len(screens) - 1) * height
    return (
        f"@keyframes play{{{keys}}}.film{{animation:play {total:.2f}s step-end infinite}}"
        f"@media(prefers-reduced-motion:reduce){{.film{{animation:none;transform:translateY(-{last}px)}}}}"
    )


class _Painter:
    """Draws each different line once, and refers to it afterwards."""

    def __init__(self, columns: int, theme: Theme) -> None:
        self.drawn: list[str] = []
        self._theme = theme
        self._console = Console(width=columns, file=StringIO(), force_terminal=True, color_system="standard")
        self._columns = columns
        self._classes: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def line(self, text: Text, top: int) -> list[str]:
        """Return the reference to a line, `top` pixels down. An empty line is nothing."""
        drawing = "".join(self._pieces(text))
        if not drawing:
            return []
        name = self._names.get(drawing)
        if name is None:
            name = self._names[drawing] = f"l{len(self._names)}"
            self.drawn.append(f'<g id="{name}">{drawing}</g>\n')
        return [f'<use href="#{name}" y="{top}"/>']

    def styles(self) -> str:
        """Return the styles of all lines."""
        return "".join(f".{name}{{{rules}}}" for rules, name in self._classes.items())

    def _pieces(self, text: Text) -> Iterable[str]:
        column = 0
        base = self._console.get_style(text.style)  # rich leaves it out where a text has no other style
        for segment in text.render(self._console):
            words, style = segment.text.rstrip("\n"), segment.style or base
            wide = cell_len(words)
            at = f'x="{column * CELL:.1f}"'
            is_reverse = bool(style.reverse)
            if is_reverse and words:
                yield f'<rect {at} width="{wide * CELL:.1f}" height="{LINE}" fill="{self._theme.ink}"/>'
            shown = words.strip()
            if shown:
                column_of_text = column + cell_len(words[: len(words) - len(words.lstrip())])
                length = cell_len(shown) * CELL
                name = self._class(style, self._theme.back if is_reverse else self._colour(style))
                yield (
                    f'<text x="{column_of_text * CELL:.1f}" y="{BASELINE}" class="{name}" textLength="{length:.1f}" '
                    f'lengthAdjust="spacingAndGlyphs">{escape(shown, quote=False)}</text>'
                )
            column += wide

    def _colour(self, style: Style) -> str:
        if style.color is not None and style.color.name in self._theme.terminal:
            return self._theme.terminal[style.color.name]
        return self._theme.soft if style.dim else self._theme.ink

    def _class(self, style: Style, colour: str) -> str:
        rules = f"fill:{colour}"
        if style.bold:
            rules += ";font-weight:600"
        if style.italic:
            rules += ";font-style:italic"
        return self._classes.setdefault(rules, f"s{len(self._classes)}")

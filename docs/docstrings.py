"""Turn docstrings into Markdown for the reference. They are written for `help()`.

Two things differ. A session that starts with ``>>>`` at the margin would be a quotation in Markdown, and ``::`` at the
end of a paragraph, which announces a block of code, would be shown. Double backticks mean the same in both.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

SESSION = re.compile(r"(?m)^>>> .*\n?(?:.+\n?)*")  # up to the next blank line
ANNOUNCED = re.compile(r"(?m)::$")


class Docstrings(griffe.Extension):
    """Turns every docstring into Markdown when it has been read."""

    def on_instance(self, *, obj: griffe.Object | griffe.Alias, **kwargs: Any) -> None:
        """Called for everything that has been read from the sources."""
        if not obj.is_alias and obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """The docstring as Markdown."""
    fenced = SESSION.sub(lambda found: f"\n```pycon\n{found[0].rstrip()}\n```\n", text)
    return ANNOUNCED.sub(":", fenced)

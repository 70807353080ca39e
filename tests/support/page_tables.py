"""Tables in the pages of the documentation, each between the comments `<!-- name:start -->` and `<!-- name:end -->`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.support.shared import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

NEXT_REQUEST: Final = PROJECT / "docs" / "next-request.md"
GATEWAYS: Final = PROJECT / "docs" / "gateways.md"


def table_in(page: Path, name: str) -> list[str]:
    """The lines of a table in a page."""
    _, table, _ = _parts(page, name)
    return table.strip().splitlines()


def write_table(page: Path, name: str, lines: list[str]) -> None:
    """Write a table into a page, in place of the one that is there."""
    before, _, after = _parts(page, name)
    page.write_text("\n".join([before, *lines, after]), encoding="utf-8")


def _parts(page: Path, name: str) -> tuple[str, str, str]:
    """The text of a page up to the table, the table, and the rest. The comments are not part of the table."""
    start, end = f"<!-- {name}:start -->", f"<!-- {name}:end -->"
    text = page.read_text(encoding="utf-8")
    assert text.count(start) == text.count(end) == 1, f"{page.name} needs one {start} and one {end}"
    before, _, rest = text.partition(start)
    table, _, after = rest.partition(end)
    return before + start, table, end + after

"""Where the data that is no part of the project stands: beside it, if it is there at all."""

from __future__ import annotations

from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
NOT_HERE = "shared data is not here"


def shared_data() -> Path | None:
    """The folder ../shared/data of the project, or None."""
    folder = PROJECT.parent / "shared" / "data"
    return folder if folder.is_dir() else None

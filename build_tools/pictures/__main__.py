"""Write all pictures into docs/pictures: `make pictures`."""

from __future__ import annotations

from .gallery import FOLDER, write

write()
print(f"wrote {len(list(FOLDER.iterdir()))} pictures into docs/pictures")  # noqa: T201 - a command

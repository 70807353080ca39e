"""Write all pictures into docs/pictures: `make pictures`. Without a browser, write the drawings alone."""

from __future__ import annotations

from playwright.sync_api import Error

from . import studio
from .gallery import FOLDER, write

write()
try:
    studio.write(FOLDER)
except Error as error:
    print(f"no screenshots of the studio: {error.message.splitlines()[0]}")  # noqa: T201 - a command
print(f"docs/pictures has {len(list(FOLDER.iterdir()))} files")  # noqa: T201

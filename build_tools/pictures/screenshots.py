"""Screenshots cannot be compared byte by byte, so a file next to them says what they were made from."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Final

__all__ = ["SEAL", "digest"]

PROJECT: Final = Path(__file__).parents[2]
SEAL: Final = "screenshots.sha256"
"""The file that has the digest of the sources of the last screenshots."""


def digest() -> str:
    """Return the digest of the studio's page, of the samples that it shows, and of the script that takes pictures."""
    folders = ["src/unspool/tools/studio/static", "src/unspool/tools/viewer/samples"]
    files = [file for folder in folders for file in sorted((PROJECT / folder).iterdir()) if file.is_file()]
    files.append(Path(__file__).with_name("studio.py"))
    total = sha256()
    for file in files:
        total.update(file.name.encode() + b"\0" + file.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return total.hexdigest()

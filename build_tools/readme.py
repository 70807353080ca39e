"""The README as a package index shows it.

There, relative links lead nowhere. The address of the repository is known where a release is built: it comes from
``UNSPOOL_REPOSITORY``, or from the variables of GitHub's workflows. With it, every link and picture gets a whole
address. Without it, links become plain text, and pictures go.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

__all__ = ["Repository", "for_index", "repository"]

LINK: Final = re.compile(r"\[([^\[\]]*)\]\((?!https:|#)([^)\s]+)\)")
SOURCE: Final = re.compile(r'\b(src|srcset)="(?!https:)([^"]+)"')
PICTURE: Final = re.compile(r"<picture>.*?</picture>\n*", re.DOTALL)


class Repository(NamedTuple):
    """Where the files are: the address of the repository, and the tag or branch."""

    address: str
    ref: str


def repository(environment: Mapping[str, str] = os.environ) -> Repository | None:
    """Return the repository that the environment names, if there is one."""
    address = environment.get("UNSPOOL_REPOSITORY", "")
    if not address and environment.get("GITHUB_REPOSITORY"):
        address = f"{environment.get('GITHUB_SERVER_URL', 'https://github.com')}/{environment['GITHUB_REPOSITORY']}"
    return Repository(address.rstrip("/"), environment.get("GITHUB_REF_NAME") or "HEAD") if address else None


def for_index(text: str, place: Repository | None) -> str:
    """Return the README with whole addresses, or without links if the place is unknown."""
    if place is None:
        return LINK.sub(r"\1", PICTURE.sub("", text))
    text = LINK.sub(lambda found: f"[{found[1]}]({place.address}/blob/{place.ref}/{found[2]})", text)
    return SOURCE.sub(lambda found: f'{found[1]}="{place.address}/raw/{place.ref}/{found[2]}"', text)

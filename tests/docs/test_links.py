"""No dead link: every relative link of the README and the documentation leads to a file, and its anchor to a heading.

Nothing is fetched. Links to elsewhere are only looked at: they must be https.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.support.shared import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

DOCS = PROJECT / "docs"
OUTSIDE = [PROJECT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
PAGES = [*OUTSIDE, *sorted(DOCS.rglob("*.md"))]

FENCED = re.compile(r"(?ms)^(?P<indent> *)(?P<fence>`{3,}|~{3,}).*?^(?P=indent)(?P=fence)[^\S\n]*$")
CODE = re.compile(rf"{FENCED.pattern}|`[^`\n]+`")
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(\s*<?([^\s)>]+)")
DEFINITION = re.compile(r"(?m)^\[[^\]]+\]:\s*(\S+)")
HEADING = re.compile(r"(?m)^#{1,6} +(.+?) *#*$")
NAMED = re.compile(r"\{ *#([\w.-]+)|<a (?:id|name)=\"([^\"]+)\"")
DOCUMENTED = re.compile(r"(?m)^::: (\S+)")
INCLUDED = re.compile(r'(?m)^--8<-- "(.+)"')


class Link(NamedTuple):
    """A link as it is written, and where."""

    page: Path
    line: int
    target: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(PROJECT)}:{self.line}: {self.target}"


def prose(page: Path) -> str:
    """The text of a page; code is blank, so that lines stay where they are."""
    text = page.read_text(encoding="utf-8")
    return CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def links(page: Path) -> list[Link]:
    text = prose(page)
    found = [*LINK.finditer(text), *DEFINITION.finditer(text)]
    return [Link(page, text.count("\n", 0, match.start()) + 1, match[1]) for match in found]


def anchors(page: Path) -> set[str]:
    """What a link into a page can name: its headings, as mkdocs spells them, and ids that are written."""
    text = page.read_text(encoding="utf-8")
    without_fences = FENCED.sub("", text)
    found = {name for names in NAMED.findall(without_fences) for name in names if name}
    found.update(DOCUMENTED.findall(without_fences))
    for title in HEADING.findall(without_fences):
        name = slug(title)
        count = 0
        while f"{name}_{count}" in found if count else name in found:  # the second one of a name is name_1
            count += 1
        found.add(f"{name}_{count}" if count else name)
    return found


def slug(title: str) -> str:
    title = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", title)
    title = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower())


def fault(link: Link) -> str | None:
    """What is wrong with a link."""
    if re.match(r"[a-z]+:", link.target):
        return None if link.target.startswith("https://") else "not https"
    name, _, anchor = link.target.partition("#")
    page = (link.page.parent / name).resolve() if name else link.page
    if link.target.startswith("/"):
        return "not relative"
    if DOCS in link.page.parents and DOCS not in page.parents:
        return "leaves the documentation"
    if not page.exists():
        return "no such file"
    if page.suffix in {".svg", ".png"}:  # a picture has no headings; the theme shows it on light or on dark pages
        return None if anchor in {"", "only-light", "only-dark"} else "no such theme"
    if anchor and anchor not in anchors(page):
        return "no such heading"
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_links(page: Path) -> None:
    """Every link of the page leads somewhere."""
    assert {str(link): wrong for link in links(page) if (wrong := fault(link))} == {}


def test_links_are_found() -> None:
    """The test can fail: it sees the links that there are, and not those in code."""
    page = DOCS / "events.md"
    assert {link.target for link in links(page)} >= {"select.md", "extract.md"}
    assert sum(len(links(page)) for page in PAGES) > 150
    assert slug("`null` & *more*, at `$.a[0]`") == "null-more-at-a0"
    for target in ("nowhere.md", "select.md#nowhere", "#nowhere", "/select.md", "../README.md", "http://a.example"):
        assert fault(Link(page, 1, target)), target
    for target in ("select.md", "select.md#what-is-refused", "#errors", "how-to/index.md", "https://a.example"):
        assert fault(Link(page, 1, target)) is None, target


def test_every_page_is_in_the_navigation() -> None:
    """mkdocs.yml names every page, once, and no other."""
    configuration = (PROJECT / "mkdocs.yml").read_text(encoding="utf-8")
    named = re.findall(r"(?m)^ +- (?:[^#\n]*: )?(\S+\.md)$", configuration)
    assert sorted(named) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_what_is_included_is_there(page: Path) -> None:
    """Files that a page takes in exist."""
    included = INCLUDED.findall(prose(page))
    assert [name for name in included if not (PROJECT / name).is_file()] == []

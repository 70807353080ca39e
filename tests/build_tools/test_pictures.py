"""docs/pictures: every picture shows what the program does now, is small, and loads nothing."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

pytest.importorskip("rich")
pytest.importorskip("typer")

from build_tools.pictures.gallery import DRAWINGS, FOLDER, outdated
from build_tools.pictures.studio import HASH, SHOTS, is_current
from build_tools.pictures.terminal import Screen, film
from build_tools.pictures.themes import THEMES
from build_tools.pictures.watching import screens

PROJECT = Path(__file__).parents[2]
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]
MAKE = "run `make pictures`"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_shows_what_the_program_does(name: str) -> None:
    """A new run draws the same."""
    assert not outdated(name), MAKE


def test_an_outdated_drawing_is_noticed(tmp_path: Path) -> None:
    """A missing file is outdated, and so is one with another text."""
    name = "compare-light.svg"
    assert outdated(name, tmp_path)
    text = (FOLDER / name).read_text(encoding="utf-8")
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert not outdated(name, tmp_path)
    (tmp_path / name).write_text(text.replace("earlier", "later"), encoding="utf-8")
    assert outdated(name, tmp_path)


def test_screenshots_show_the_page_as_it_is() -> None:
    """The page, the samples and the script are those from which the screenshots were made."""
    assert is_current(FOLDER), MAKE
    assert [shot.name for shot in SHOTS if not (FOLDER / shot.name).is_file()] == [], MAKE


def test_the_folder_has_nothing_else() -> None:
    """Every file is a drawing, a screenshot, or the hash of what the screenshots show."""
    assert {file.name for file in FOLDER.iterdir()} - set(DRAWINGS) - {shot.name for shot in SHOTS} == {HASH}


def test_every_picture_is_small() -> None:
    """A page with several of them still loads fast."""
    assert {file.name: file.stat().st_size for file in FOLDER.iterdir() if file.stat().st_size > 300_000} == {}


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_loads_nothing(name: str) -> None:
    """A drawing has a title, no script, and no address but those inside."""
    root = ET.parse(FOLDER / name).getroot()
    assert root.tag == f"{SVG}svg"
    assert root.find(f"{SVG}title") is not None
    for element in root.iter():
        assert element.tag not in {f"{SVG}script", f"{SVG}foreignObject", f"{SVG}image"}
        assert [value for key, value in element.attrib.items() if key.endswith("href") and value[0] != "#"] == []
        assert not any(key.startswith("on") for key in element.attrib)
    assert "url(" not in (FOLDER / name).read_text(encoding="utf-8")


def test_both_colours_are_shown() -> None:
    """A page that shows the picture for light pages shows the one for dark pages, too, if there is one."""
    shown = {page: re.findall(r"pictures/([\w-]+)-(light|dark)\.\w+", page.read_text("utf-8")) for page in PAGES}
    assert sum(map(len, shown.values())) > 10
    both = {file.stem.removesuffix("-dark") for file in FOLDER.glob("*-dark.*")}
    for page, found in shown.items():
        light, dark = (
            {name for name, theme in found if theme == wanted and name in both} for wanted in ("light", "dark")
        )
        assert light == dark, page


def test_the_film_shows_the_value_growing() -> None:
    """The screens are in the order of their times, each shows more of the document, and the last one shows its end."""
    film_of_trip = screens()
    times = [screen.time for screen in film_of_trip]
    assert len(times) > 30
    assert times == sorted(times)
    texts = ["\n".join(line.plain for line in screen.lines) for screen in film_of_trip]
    assert "confidence" not in texts[0]
    assert "confidence 0.86" in texts[-1]
    assert "complete" in texts[-1]
    assert len({len(screen.lines) for screen in film_of_trip}) == 1


def test_a_film_plays_each_screen_at_its_time() -> None:
    """The animation has a step per screen; readers who want less motion get the last one."""
    from rich.text import Text

    drawing = film("x", [Screen(0.0, [Text("a")]), Screen(1.0, [Text("<b>")]), Screen(2.0, [Text("a")])], 10, THEMES[0])
    assert re.findall(r"([\d.]+)%\{transform:translateY\(-(\d+)px\)\}", drawing) == [
        ("0.000", "0"),
        ("20.000", "19"),
        ("40.000", "38"),
    ]
    assert "animation:play 5.00s step-end infinite" in drawing
    assert "@media(prefers-reduced-motion:reduce){.film{animation:none;transform:translateY(-38px)}}" in drawing
    assert drawing.count(">a</text>") == 1  # drawn once, used twice
    assert "&lt;b&gt;" in drawing

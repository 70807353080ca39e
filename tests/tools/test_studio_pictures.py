"""The screenshots of the studio in the documentation: all there, small, and of the page as it is."""

from __future__ import annotations

import pytest

from build_tools.pictures import studio

MOST = 300_000


def test_the_pictures_are_there_and_small() -> None:
    """`make pictures` makes them again."""
    if not (studio.FOLDER / studio.HASH).exists():
        pytest.skip("the pictures are not here")
    sizes = {shot.name: (studio.FOLDER / shot.name).stat().st_size for shot in studio.SHOTS}
    assert {name: size for name, size in sizes.items() if not 10_000 < size < MOST} == {}


def test_the_pictures_show_the_page_as_it_is() -> None:
    """If this fails, the page or a sample has changed: run `python -m build_tools.pictures.studio`."""
    if not (studio.FOLDER / studio.HASH).exists():
        pytest.skip("the pictures are not here")
    assert studio.is_current()

"""The README of the package index: whole addresses or none, and the same words."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from build_tools.readme import Repository, for_index, repository

PROJECT = Path(__file__).parents[2]
README = (PROJECT / "README.md").read_text(encoding="utf-8")
PLACE = Repository("https://code.example/team/unspool", "v1.0.0")

TARGET = re.compile(r'\]\(([^)\s]+)\)|\b(?:src|srcset|href)="([^"]+)"')


def targets(text: str) -> list[str]:
    without_code = re.sub(r"(?ms)^```.*?^```", "", text)
    return [inside or outside for inside, outside in TARGET.findall(without_code)]


def test_every_link_gets_a_whole_address() -> None:
    """Pages are shown, pictures are raw, and each of them is a file of the project."""
    found = targets(for_index(README, PLACE))
    assert len(found) == len(targets(README)) > 20
    for target in found:
        kind, path = re.fullmatch(rf"{re.escape(PLACE.address)}/(blob|raw)/v1\.0\.0/([^#]+)(?:#.*)?", target).groups()  # type: ignore[union-attr]
        assert (PROJECT / path).is_file(), target
        assert kind == ("raw" if path.endswith((".svg", ".png")) else "blob")


def test_without_an_address_there_is_no_link() -> None:
    """No dead link and no broken picture; the words stay."""
    text = for_index(README, None)
    assert targets(text) == []
    assert "<picture>" not in text
    assert "the how-to pages" in text
    assert text.count("```") == README.count("```")


def test_links_to_elsewhere_stay() -> None:
    """Whole addresses and places on the same page are not touched."""
    text = "[a](https://a.example/b) [b](#c) [d](e.md#f)"
    assert for_index(text, PLACE) == (
        "[a](https://a.example/b) [b](#c) [d](https://code.example/team/unspool/blob/v1.0.0/e.md#f)"
    )
    assert for_index(text, None) == "[a](https://a.example/b) [b](#c) d"


@pytest.mark.parametrize(
    ("environment", "place"),
    [
        ({}, None),
        ({"GITHUB_REPOSITORY": ""}, None),
        (
            {
                "GITHUB_REPOSITORY": "team/unspool",
                "GITHUB_REF_NAME": "v1.0.0",
                "GITHUB_SERVER_URL": "https://code.example",
            },
            PLACE,
        ),
        ({"UNSPOOL_REPOSITORY": "https://code.example/team/unspool/"}, PLACE._replace(ref="HEAD")),
    ],
)
def test_the_address_comes_from_the_environment(environment: dict[str, str], place: Repository | None) -> None:
    """A workflow of GitHub knows it; anyone else can set it."""
    assert repository(environment) == place


def test_the_package_carries_it(tmp_path: Path) -> None:
    """The metadata of a build has the README with the addresses that the environment names."""
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(PROJECT / name, tmp_path / name)
    for folder in ("build_tools", "src"):
        shutil.copytree(
            PROJECT / folder, tmp_path / folder, ignore=lambda _, names: {n for n in names if n == "__pycache__"}
        )
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "setup.py", "--quiet", "dist_info"],
        cwd=tmp_path,
        env={"UNSPOOL_REPOSITORY": PLACE.address, "GITHUB_REF_NAME": PLACE.ref, "UNSPOOL_PURE": "1", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    (metadata,) = tmp_path.glob("unspool-*.dist-info/METADATA")
    text = metadata.read_text(encoding="utf-8")
    assert "Description-Content-Type: text/markdown\n" in text
    assert f"Project-URL: Source, {PLACE.address}\n" in text
    assert text.endswith(for_index(README, PLACE).rstrip("\n") + "\n") or for_index(README, PLACE) in text

"""The release: actions pinned by commit, locked build tools, and a source archive that depends on its files alone."""

from __future__ import annotations

import os
import re
import tarfile
import time
import tomllib
from pathlib import Path

import pytest

from build_tools.source_archive import write_archive

PROJECT = Path(__file__).parents[2]
WORKFLOWS = sorted((PROJECT / ".github" / "workflows").glob("*.yml"))
LOCKED = PROJECT / "build_tools" / "locked"

pytestmark = pytest.mark.either

in_a_checkout = pytest.mark.skipif(not WORKFLOWS, reason="the source distribution has no workflows")


@in_a_checkout
def test_actions_are_pinned_by_commit() -> None:
    """A tag can move; a commit cannot. The comment names the version for people."""
    used = [line for path in WORKFLOWS for line in path.read_text("utf-8").splitlines() if "uses:" in line]
    assert used
    for line in used:
        assert re.search(r"uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line


@in_a_checkout
def test_one_action_has_one_commit() -> None:
    """Two pins of one action are one that was forgotten."""
    pins: dict[str, set[str]] = {}
    for path in WORKFLOWS:
        for action, commit in re.findall(r"uses: ([\w/-]+)@(\w+)", path.read_text("utf-8")):
            pins.setdefault(action, set()).add(commit)
    assert all(len(commits) == 1 for commits in pins.values()), pins


@in_a_checkout
def test_checkouts_keep_no_credentials() -> None:
    """Code that a job runs finds no token in the checkout."""
    for path in WORKFLOWS:
        text = path.read_text("utf-8")
        kept = re.findall(r"uses: actions/checkout@.*\n +with:\n +persist-credentials: false", text)
        assert len(kept) == text.count("actions/checkout@"), path.name


@pytest.mark.parametrize("name", ["build", "release"])
def test_every_locked_package_has_an_exact_version_and_hashes(name: str) -> None:
    """`pip --require-hashes` refuses anything else; the test says so before a release."""
    entries = (LOCKED / f"{name}.txt").read_text("utf-8").replace("\\\n", " ").splitlines()
    assert entries
    for entry in entries:
        assert re.match(r"[\w.-]+(\[\w+\])?==[\w.]+( ; .+?)? +(--hash=sha256:[0-9a-f]{64} *)+$", entry), entry[:80]


def test_the_lock_has_the_compiler_that_the_build_names() -> None:
    """The edits of the generated C are checked against one version of mypyc."""
    settings = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))
    named = next(each for each in settings["build-system"]["requires"] if each.startswith("mypy"))
    version = named.partition("==")[2]
    assert f"\nmypy=={version} " in "\n" + (LOCKED / "build.txt").read_text("utf-8")
    assert f"mypy[mypyc]=={version} " in (LOCKED / "build.in").read_text("utf-8")


def test_a_source_archive_depends_on_its_files_alone(tmp_path: Path) -> None:
    """Neither the folder, nor the times, the modes or the order of creation show in the archive."""
    packed: list[bytes] = []
    names = ["one.py", "two/three.py"]
    for place, created, mask in (("a", names, 0o022), ("b/longer", names[::-1], 0o077)):
        folder = tmp_path / place / "unspool-1.0"
        for name in created:
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"the text of {name}", encoding="utf-8")
            file.chmod(0o666 & ~mask)
        past = time.time() - 5000 * len(place)
        os.utime(folder / "one.py", (past, past))
        archive = tmp_path / place / "unspool-1.0.tar.gz"
        write_archive(archive, folder, 1_700_000_000)
        packed.append(archive.read_bytes())
    assert packed[0] == packed[1]


def test_a_source_archive_has_whole_files(tmp_path: Path) -> None:
    """setuptools fills the folder with hard links; the archive must not refer to files outside of it."""
    folder = tmp_path / "unspool-1.0"
    folder.mkdir()
    (folder / "one.py").write_text("1", encoding="utf-8")
    (folder / "two.py").hardlink_to(folder / "one.py")
    write_archive(tmp_path / "archive.tar.gz", folder, 1_700_000_000)
    with tarfile.open(tmp_path / "archive.tar.gz") as archive:
        entries = archive.getmembers()
        assert [entry.name for entry in entries] == ["unspool-1.0", "unspool-1.0/one.py", "unspool-1.0/two.py"]
        assert [entry.isreg() for entry in entries] == [False, True, True]
        assert {entry.mtime for entry in entries} == {1_700_000_000}

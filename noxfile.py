"""Sessions for every Python from 3.11 up that is installed, each with both builds: `make test-all`."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import nox

OLDEST, NEWEST = 11, 15
SHOW = "import sys; print(f'3.{sys.version_info[1]}', sys.version_info[3], sys.executable)"

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "venv"
nox.options.error_on_missing_interpreters = True


def interpreters() -> dict[str, Path]:
    """Find the released Pythons that start, by version.

    The search includes the directories of pyenv: its commands are on the search path for every version that it holds,
    but start only the chosen ones.
    """
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found: dict[str, Path] = {}
    for version in (f"3.{minor}" for minor in range(OLDEST, NEWEST + 1)):
        candidates = [
            shutil.which(f"python{version}"),
            *sorted(map(str, pyenv.glob(f"{version}.*/bin/python{version}"))),
        ]
        for candidate in filter(None, candidates):
            shown = subprocess.run([candidate, "-c", SHOW], capture_output=True, text=True, check=False)
            if shown.returncode == 0 and shown.stdout.startswith(f"{version} final "):
                found[version] = Path(shown.stdout.strip().split(" ", 2)[2])
                break
    return found


INTERPRETERS = interpreters()
os.environ["PATH"] = os.pathsep.join([*(str(path.parent) for path in INTERPRETERS.values()), os.environ["PATH"]])


@nox.session(python=list(INTERPRETERS))
@nox.parametrize("build", ["compiled", "pure"])
def test(session: nox.Session, build: str) -> None:
    """Run all tests, also those beside the peers, on one Python and one build."""
    session.run("python", "-m", "pip", "install", "-qq", "--upgrade", "pip>=25.1")
    session.run("python", "-m", "pip", "install", "-qq", "--group", "peers")
    wanted = {"UNSPOOL_PURE": "1"} if build == "pure" else {"UNSPOOL_REQUIRE_COMPILED": "1"}
    # Files that an earlier build left would be installed, too.
    shutil.rmtree("build", ignore_errors=True)
    session.run("python", "-m", "pip", "install", "-qq", "--no-deps", "--force-reinstall", ".", env=wanted)
    session.run("python", "-m", "pytest", "-q", "-n", "2", *session.posargs, env={"UNSPOOL_EXPECT": build})

"""Run tests of the core on the Python of the playground: python -m build_tools.playground.core_tests TESTS..."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from .__main__ import HERE, PROJECT, run

RUNNERS: Final = ("pytest==9.1.1", "hypothesis==6.155.7")
"""Newer releases of hypothesis are compiled, and have no wheel for WebAssembly."""
STACK: Final = "--stack-size=7000"
"""In KB: a `repr` of a deep value fills Node's own stack, of 984 KB, before Python's limit of recursion stops it. The
main thread of a process has 8 MB."""


def main(tests: list[str]) -> int:
    """Return the exit status of pytest."""
    playground = PROJECT / "playground"
    node = shutil.which("node")
    if node is None or not (playground / "manifest.json").exists():
        raise SystemExit("This needs Node, and the playground: make playground")
    with tempfile.TemporaryDirectory(prefix="unspool-packages-") as packages:
        pip = (sys.executable, "-m", "pip", "-qq", "--disable-pip-version-check", "install")
        run(*pip, "--only-binary=:all:", "--target", packages, *RUNNERS)
        if list(Path(packages).rglob("*.so")):
            raise SystemExit("a package for the tests is compiled, so WebAssembly cannot run it")
        command = [node, STACK, str(HERE / "core_tests.mjs"), str(playground), packages, str(PROJECT), *tests]
        return subprocess.run(command, check=False, timeout=1800).returncode  # noqa: S603


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""Run tests of the core on the Python of the playground: python -m build_tools.playground.core_tests TESTS..."""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from .__main__ import HERE, PROJECT, run

RUNNERS: Final = ("pytest==9.1.1", "hypothesis==6.155.7")
"""Newer releases of hypothesis are compiled, and have no wheel for WebAssembly."""
STACK: Final = 64 * 1024
"""In KB: deep values fill Node's own stack, of 984 KB, before Python's limit of recursion stops them."""
RESERVE: Final = 4 * 1024
"""The part of it that is not for JavaScript and WebAssembly."""


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
        _, most = resource.getrlimit(resource.RLIMIT_STACK)
        resource.setrlimit(resource.RLIMIT_STACK, (STACK * 1024, most))  # the process inherits it
        command = [
            node,
            f"--stack-size={STACK - RESERVE}",
            str(HERE / "core_tests.mjs"),
            str(playground),
            packages,
            str(PROJECT),
            *tests,
        ]
        return subprocess.run(command, check=False, timeout=1800).returncode  # noqa: S603


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""The official clients of protocols for pages, which are JavaScript: npm's `ai` in three major versions, and AG-UI's.

They are installed by name, once, into a folder beside the other packages of the environment. Where there is no Node or
no registry of packages, the tests are skipped with the reason.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

from tests.support.shared import PROJECT

PACKAGES: Final = {
    "ai5": "npm:ai@5.0.277",
    "ai6": "npm:ai@6.0.326",
    "ai7": "npm:ai@7.0.169",
    "@ag-ui/client": "1.0.0",
    "@ag-ui/core": "1.0.0",
    "rxjs": "7.8.1",
}
READER: Final = PROJECT / "tests" / "node" / "read.mjs"
CLIENTS: Final = {"ai@5": "vercel-ui", "ai@6": "vercel-ui", "ai@7": "vercel-ui", "@ag-ui/client@1": "ag-ui"}
INSTALL: Final = ("install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")
PATIENCE: Final = 180


@cache
def folder() -> tuple[Path | None, str]:
    """The folder with the packages, or None and the reason why there is none."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None, "there is no Node here"
    home = Path(sys.prefix) / "node"
    wanted = json.dumps({"private": True, "type": "module", "dependencies": PACKAGES})
    stamp = home / "installed.json"
    if not (stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted):
        home.mkdir(exist_ok=True)
        (home / "package.json").write_text(wanted, encoding="utf-8")
        try:
            ran = subprocess.run([npm, *INSTALL], cwd=home, capture_output=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            return None, "npm could not install the packages in time"
        if ran.returncode != 0:
            return None, "npm cannot install the packages here"
        stamp.write_text(wanted, encoding="utf-8")
    return home, ""


def read(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the clients made of these cases, in one process.

    Each has a `name`, a `client` and a `stream`, and may have what the client has `kept` of an earlier connection.
    """
    home, _ = folder()
    assert home is not None
    script = home / "read.mjs"  # beside its packages, because Node looks for them from there
    shutil.copyfile(READER, script)
    lines = "".join([json.dumps(case) + "\n" for case in cases])
    ran = subprocess.run(
        ["node", str(script)], input=lines.encode(), capture_output=True, timeout=PATIENCE, check=False, cwd=home
    )
    assert ran.returncode == 0, ran.stderr.decode()[-2000:]
    return [json.loads(line) for line in ran.stdout.decode().splitlines()]

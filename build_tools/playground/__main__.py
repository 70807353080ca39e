"""Build the playground: python -m build_tools.playground FOLDER

The folder holds everything that the page needs: the studio's page with another transport, Pyodide from npm, and the
wheels of unspool (the plain build) and of the packages that the studio's application imports. Any static server can
serve it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).resolve().parents[2]
HERE: Final = Path(__file__).resolve().parent
STATIC: Final = PROJECT / "src" / "unspool" / "tools" / "studio" / "static"
CLIENT: Final = PROJECT / "src" / "unspool" / "relay" / "static" / "relay.js"
PYODIDE: Final = "pyodide@314.0.7"
RUNTIME: Final = (
    *("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"),
    *("package.json", "README.md"),
)
"""What the browser loads of Pyodide, and what tells its version and licence."""
PACKAGES: Final = ("starlette==1.10.0", "anyio==4.16.0", "idna==3.20", "typing-extensions==4.16.0")
"""The studio's application and what it imports: plain Python, so their wheels run in the browser as they are."""
POLICY: Final = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'"
)
SUM_UP: Final = "unspool-playground-"


def build(folder: Path) -> None:
    """Build the playground in this folder, in place of what is there."""
    with tempfile.TemporaryDirectory(prefix="unspool-playground-") as name:
        made = Path(name) / "playground"
        made.mkdir()
        add_pyodide(made / "pyodide", Path(name) / "node")
        add_wheels(made / "wheels")
        add_page(made)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(made, folder)


def add_pyodide(target: Path, scratch: Path) -> None:
    """Install Pyodide by name, and copy what a browser needs."""
    scratch.mkdir()
    (scratch / "package.json").write_text('{"private": true}', encoding="utf-8")
    run("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", PYODIDE, cwd=scratch)
    target.mkdir()
    for name in RUNTIME:
        shutil.copyfile(scratch / "node_modules" / "pyodide" / name, target / name)


def add_wheels(target: Path) -> None:
    """Build the plain wheel, and load those of the other packages."""
    pip = (sys.executable, "-m", "pip", "-qq", "--disable-pip-version-check")
    pure = {**os.environ, "UNSPOOL_PURE": "1"}
    with tempfile.TemporaryDirectory(prefix="unspool-plain-") as copy:  # a build leaves files in its folder
        for name in ("src", "build_tools"):
            shutil.copytree(
                PROJECT / name, Path(copy) / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
            )
        for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
            shutil.copyfile(PROJECT / name, Path(copy) / name)
        run(*pip, "wheel", "--no-deps", "--wheel-dir", str(target), copy, env=pure)
    run(*pip, "download", "--no-deps", "--only-binary=:all:", "--dest", str(target), *PACKAGES)
    for wheel in target.iterdir():
        if not wheel.name.endswith("-none-any.whl"):
            raise SystemExit(f"{wheel.name} is not plain Python, so the browser cannot run it")


def add_page(folder: Path) -> None:
    """Add the studio's page with the transport of the playground, and the list of all files."""
    shutil.copytree(STATIC, folder / "static")
    shutil.copyfile(CLIENT, folder / "static" / CLIENT.name)
    index = (folder / "static" / "index.html").read_text(encoding="utf-8")
    (folder / "static" / "index.html").unlink()
    policy = f'<meta charset="utf-8">\n  <meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    index = replaced(index, '<meta charset="utf-8">', policy)
    index = replaced(index, "<title>unspool studio</title>", "<title>unspool playground</title>")
    (folder / "index.html").write_text(index, encoding="utf-8")
    shutil.copyfile(HERE / "page" / "server.js", folder / "static" / "server.js")
    shutil.copyfile(HERE / "page" / "worker.js", folder / "worker.js")
    shutil.copyfile(HERE / "bridge.py", folder / "bridge.py")
    wheels = sorted(path.name for path in (folder / "wheels").iterdir())
    (folder / "manifest.json").write_text(json.dumps({"wheels": wheels}) + "\n", encoding="utf-8")
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    total = hashlib.sha256()
    for name in files:
        total.update(name.encode() + b"\0" + hashlib.sha256((folder / name).read_bytes()).digest())
    offline = (HERE / "page" / "offline.js").read_text(encoding="utf-8")
    offline = replaced(offline, "@build@", SUM_UP + total.hexdigest()[:16])
    offline = replaced(offline, '["@files@"]', json.dumps(["./", *files]))
    (folder / "offline.js").write_text(offline, encoding="utf-8")


def replaced(text: str, old: str, new: str) -> str:
    """Return the text with the one place of `old` replaced."""
    if text.count(old) != 1:
        raise SystemExit(f"{old!r} must be there once, and is there {text.count(old)} times")
    return text.replace(old, new)


def run(*command: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
    """Run a command; if it fails, end with its words."""
    try:
        ran = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=600, check=False)  # noqa: S603 - our own words
    except FileNotFoundError:
        raise SystemExit(f"the playground needs {command[0]}") from None
    if ran.returncode != 0:
        raise SystemExit(f"{' '.join(command[:4])} failed:\n{ran.stderr[-2000:]}")


if __name__ == "__main__":
    build(Path(sys.argv[1]))

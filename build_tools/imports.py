"""The layers that docs/how-it-works.md lists, and the imports between the modules of the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["SOURCES", "Layer", "imports", "layers", "listed_name", "module_files"]

PROJECT: Final = Path(__file__).parents[1]
SOURCES: Final = PROJECT / "src" / "unspool"
PAGE: Final = PROJECT / "docs" / "how-it-works.md"


class Layer(NamedTuple):
    """A line of the list: modules, packages with a slash behind their names, and what they are for."""

    names: tuple[str, ...]
    purpose: str


@cache
def layers() -> list[Layer]:
    """Return the layers in the order of the page."""
    listed = PAGE.read_text(encoding="utf-8").partition("## Layers")[2].split("```")[1]
    parts = [line.partition("  ") for line in listed.splitlines() if line]
    return [Layer(tuple(names.split(", ")), " ".join(purpose.split())) for names, _, purpose in parts]


@cache
def module_files() -> dict[str, Path]:
    """Return all modules but the `__init__` of packages, such as `_grammar.reader`."""
    found = {".".join(path.relative_to(SOURCES).with_suffix("").parts): path for path in SOURCES.rglob("*.py")}
    return {name: path for name, path in sorted(found.items()) if not name.endswith("__init__")}


def imports(name: str) -> Iterator[str]:
    """Yield the modules of the package that a module imports at run time."""
    path = module_files()[name]
    package = path.relative_to(SOURCES).parent.parts
    skipped: set[ast.AST] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "MYPY"}:
            skipped.update(inner for statement in node.body for inner in ast.walk(statement))
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name.removeprefix("unspool.") for alias in node.names if alias.name.startswith("unspool"))
        elif isinstance(node, ast.ImportFrom) and node.level:
            base = (*package[: len(package) + 1 - node.level], *(node.module or "").split("."))
            for alias in node.names:
                full = ".".join(part for part in (*base, alias.name) if part)
                yield full if full in module_files() else full.rpartition(".")[0]
        elif isinstance(node, ast.ImportFrom) and str(node.module).startswith("unspool"):
            yield str(node.module).removeprefix("unspool").removeprefix(".")


def listed_name(module: str) -> str:
    """Return the name under which the list has a module: its own, or that of the smallest package around it."""
    listed = {name for layer in layers() for name in layer.names}
    parts = module.split(".")
    candidates = [module.replace(".", "/"), *("/".join(parts[:size]) + "/" for size in range(len(parts), 0, -1))]
    return next(name for name in candidates if name in listed)

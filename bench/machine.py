"""The environment of the figures: processor, interpreter, versions. Nothing identifies the machine."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

__all__ = ["facts", "in_one_line"]

_PACKAGES: Final = (
    "unspool",
    "anthropic",
    "ijson",
    "instructor",
    "jiter",
    "json-repair",
    "json-stream",
    "jsonriver",
    "langchain-core",
    "openai",
    "orjson",
    "partial-json-parser",
    "pydantic",
    "pydantic-ai-slim",
    "pydantic-core",
    "streaming-json-parser",
)


def facts() -> dict[str, object]:
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": {name: found for name in _PACKAGES if (found := _version(name)) is not None},
    }


def in_one_line(facts: dict[str, object]) -> str:
    return f"{facts['processor']}, {facts['cores']} cores, {facts['system']}, {facts['python']}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor() or platform.machine())


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None

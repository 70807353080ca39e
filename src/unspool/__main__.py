"""The entry point of `python -m unspool` and of the `unspool` command, whose dependencies are an extra."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Final

__all__ = ["main"]

INTERRUPTED: Final = 130  # as after SIGINT


def main() -> None:
    """Run the command."""
    lacking = [name for name in ("typer", "rich") if find_spec(name) is None]
    if lacking:
        sys.exit(f"unspool: the command needs {' and '.join(lacking)}: pip install 'unspool[cli]'")
    try:
        from .tools.cli.main import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()

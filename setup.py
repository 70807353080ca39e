"""The compiled build: the hot modules as C extensions, or the plain modules where compiling is not possible.

pyproject.toml has the rest of the build. These environment variables choose the build, here and in the Makefile:

    UNSPOOL_PURE=1                do not compile
    UNSPOOL_REQUIRE_COMPILED=1    fail when compiling fails, instead of installing the plain modules
    UNSPOOL_SANITIZE=1            look for memory errors and undefined behaviour, with the sanitizers of gcc

The build writes to build/ and never to src/: the tests also run the plain sources.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING

from setuptools import setup
from setuptools.command.build_ext import build_ext

sys.path.insert(0, str(Path(__file__).resolve().parent))  # isolated builds leave this folder out

from build_tools.generated_c import edit_file
from build_tools.readme import for_index, repository
from build_tools.source_archive import ReproducibleSdist

if TYPE_CHECKING:
    from setuptools import Extension

MARK = "\n# Compiled with mypyc.\n"
"""Every hot module carries it."""
COMPILED_MODULES = [path for path in sorted(Path("src").rglob("*.py")) if MARK in path.read_text(encoding="utf-8")]

# Other commands run without mypyc: metadata, a source distribution, and an editable install of the plain sources.
COMPILING_COMMANDS = {"bdist_wheel", "build", "build_ext", "install"}

# The project's settings for mypy are for its developers, and the hot modules need no package of the extras.
MYPY_FLAGS = ["--config-file=", "--cache-dir=build/mypy_cache", "--ignore-missing-imports"]

# Shifts of negative numbers are no error: the runtime of mypyc tags integers with them, and gcc defines the result.
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize=shift", "-fno-sanitize-recover=all"]


def is_set(variable: str) -> bool:
    return os.environ.get(variable, "0") not in ("", "0")


class OptionalBuildExt(build_ext):
    """Build all of the extensions or none: a shim without its library cannot be imported."""

    def run(self) -> None:
        try:
            super().run()
        except Exception as error:
            # Files that an earlier build left in build/ would be installed, too.
            for extension in self.extensions:
                Path(self.get_ext_fullpath(extension.name)).unlink(missing_ok=True)
            self.extensions = []
            install_plain_modules("the C compiler failed or is missing", error)


def install_plain_modules(what_failed: str, error: BaseException) -> None:
    """Explain why the build continues without compiled modules, or fail if they are required."""
    reason = f"{what_failed}: {shorten(str(error), 300)}"
    if is_set("UNSPOOL_REQUIRE_COMPILED"):
        raise SystemExit(f"unspool: UNSPOOL_REQUIRE_COMPILED is set, but {reason}") from error
    instead = "The plain Python modules are installed instead: they do the same, but slower."
    print("*" * 78, f"unspool: {reason}", instead, "*" * 78, sep="\n", file=sys.stderr)


def extensions() -> list[Extension]:
    """Return the hot modules as C extensions, or nothing where the build is or has to be the plain one."""
    if is_set("UNSPOOL_PURE") or not COMPILING_COMMANDS.intersection(sys.argv):
        return []
    try:
        from mypyc.build import mypycify

        arguments = [*MYPY_FLAGS, *map(str, COMPILED_MODULES)]
        made: list[Extension] = mypycify(arguments, opt_level="3", debug_level="0", group_name="unspool.hot")
        # One file holds the code of all modules; the other files only import it.
        (native,) = {file for extension in made for file in extension.sources if "__native" in file}
        edit_file(Path(native), COMPILED_MODULES, Path("src"))
    except (Exception, SystemExit) as error:  # mypycify reports type errors with SystemExit
        install_plain_modules("the modules could not be translated to C", error)
        return []
    for extension in made:
        # A warning must not prevent the compiled build.
        extension.extra_compile_args = [arg for arg in extension.extra_compile_args if arg not in ("-Werror", "/WX")]
        if os.name == "posix":
            # Nobody reads warnings about generated code, and looking for them takes twice as long as compiling it.
            extension.extra_compile_args.append("-w")
            # Direct calls between the package's own functions: a tenth faster.
            extension.extra_compile_args.append("-fno-semantic-interposition")
        if is_set("UNSPOOL_SANITIZE"):
            # Here and not in CFLAGS, which come before mypyc's -O3 and -g0. Reports name functions and lines.
            extension.extra_compile_args += [*SANITIZERS, "-fno-omit-frame-pointer", "-O1", "-g1"]
            extension.extra_link_args += SANITIZERS
    return made


if __name__ == "__main__":
    Path("build").mkdir(exist_ok=True)
    options = {"egg_info": {"egg_base": "build"}}
    commands = {"build_ext": OptionalBuildExt, "sdist": ReproducibleSdist}
    place = repository()
    setup(
        ext_modules=extensions(),
        cmdclass=commands,
        options=options,
        long_description=for_index(Path("README.md").read_text(encoding="utf-8"), place),
        long_description_content_type="text/markdown",
        project_urls={} if place is None else {"Source": place.address},
    )

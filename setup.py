"""Compiles the hot modules with mypyc where that is possible, and goes without where it is not.

The rest of the build is in pyproject.toml. Two environment variables are read, here and in the Makefile:

    UNSPOOL_PURE=1                do not compile
    UNSPOOL_REQUIRE_COMPILED=1    fail when compiling fails, instead of going without

Everything the build makes goes to build/, never to src/: the tests run the sources as they are, too.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING

from setuptools import setup
from setuptools.command.build_ext import build_ext

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setuptools import Extension

MARK = "\n# Compiled with mypyc.\n"
COMPILED_MODULES = [str(path) for path in sorted(Path("src").rglob("*.py")) if MARK in path.read_text(encoding="utf-8")]
"""The hot modules: each carries the mark itself."""

# The classes among them that are marked acyclic, by their names in C.
UNTRACKED = [
    "events___Event",
    "nodes___Node",
    "nodes___StringNode",
    "nodes___NumberNode",
    "nodes___BooleanNode",
    "nodes___NullNode",
    "nodes___ContainerNode",
    "nodes___ArrayNode",
    "nodes___ObjectNode",
]

# The commands that want the extensions. The others need not wait for mypyc: metadata, a source
# distribution, and an editable install, which runs the plain sources.
BUILDING = {"bdist_wheel", "build", "build_ext", "install"}

PURE = os.environ.get("UNSPOOL_PURE", "0") not in ("", "0")
REQUIRED = os.environ.get("UNSPOOL_REQUIRE_COMPILED", "0") not in ("", "0")


class OptionalBuildExt(build_ext):
    """Builds all of the extensions or none: a shim without its library cannot be imported."""

    def run(self) -> None:
        try:
            super().run()
        except Exception as error:
            # Also what an earlier build left in build/, or it would be packed up with the rest.
            for extension in self.extensions:
                Path(self.get_ext_fullpath(extension.name)).unlink(missing_ok=True)
            self.extensions = []
            go_without("the C compiler failed or is missing", error)


def go_without(what_failed: str, error: BaseException) -> None:
    """Say why the build goes on without compiled modules; or fail, if that was asked for."""
    reason = f"{what_failed}: {shorten(str(error), 300)}"
    if REQUIRED:
        raise SystemExit(f"unspool: UNSPOOL_REQUIRE_COMPILED is set, but {reason}") from error
    rule = "*" * 78
    message = f"unspool: {reason}\nThe plain Python modules are installed instead: the same, but slower."
    print(f"{rule}\n{message}\n{rule}", file=sys.stderr)


def extensions() -> list[Extension]:
    """The hot modules as C extensions, or nothing where they are not wanted or cannot be made."""
    if PURE or not BUILDING.intersection(sys.argv):
        return []
    try:
        from mypyc.build import mypycify

        # The project's own settings for mypy are left out: they are for those who work on it.
        # What the extras install may be missing where it is built; the hot modules need none of it.
        flags = ["--config-file=", "--cache-dir=build/mypy_cache", "--ignore-missing-imports"]
        made: list[Extension] = mypycify(
            [*flags, *COMPILED_MODULES], opt_level="3", debug_level="0", group_name="unspool.hot"
        )
    except (Exception, SystemExit) as error:  # mypycify reports a type error by leaving the program
        go_without("mypyc could not translate the modules to C", error)
        return []
    for extension in made:
        # A warning of some other compiler is no reason to go without.
        extension.extra_compile_args = [arg for arg in extension.extra_compile_args if arg not in ("-Werror", "/WX")]
        if os.name == "posix":  # calls between our own functions need not be open to interposition: a tenth faster
            extension.extra_compile_args.append("-fno-semantic-interposition")
        for source in extension.sources:
            amend(Path(source))
    return made


def amend(source: Path) -> None:
    """Mend what mypyc writes."""
    old = source.read_text()
    new = with_docstrings(free_untracked_at_once(old))
    if new != old:
        source.write_text(new)


def free_untracked_at_once(text: str) -> str:
    """Take the trashcan out of the deallocators of classes that the garbage collector does not track.

    mypyc 2.4 puts it into every class. But it links its objects through the header of the garbage collector, which
    those marked ``acyclic`` do not have: inside of anything deeply nested that is freed, it would write over memory
    that is not its own. `tests/test_events.py` frees events in such a place.
    """
    for name in UNTRACKED:
        begin, end = rf"CPy_TRASHCAN_BEGIN\(self, {name}_dealloc\)", r"CPy_TRASHCAN_END\(self\)\s*done: ;"
        text = re.sub(rf"{begin}(.*?){end}", r"\1", text, flags=re.DOTALL)
    return text


def with_docstrings(text: str) -> str:
    """Put the docstrings behind the signatures, where `help` looks for them: mypyc 2.4 leaves them out."""
    docs = docstrings()

    def documented(match: re.Match[str]) -> str:
        before, name, between, signature = match.groups()
        doc = docs.get(re.sub("_get_", "___", name, count=1) if before == "(getter)" else name)
        return match[0] if doc is None else f'{before}{name}{between}PyDoc_STR("{signature or ""}{doc}")'

    signature = r'PyDoc_STR\((?:NULL|"([^"]*\\n--\\n\\n)")\)'
    for pattern in (
        rf"(\(PyCFunction\)CPyPy_)(\w+)(,\s*METH_[^,]*,\s*){signature}",
        rf"(PyTypeObject CPyType_)(\w+)(_template_ = {{[^}}]*\.tp_doc = ){signature}",
        r"(\(getter\))(\w+)(,[^,]*,\s*)NULL()(?=, NULL})",
    ):
        text = re.sub(pattern, documented, text)

    # An enumeration or a named tuple has a filler in its place, somewhere between its name and that of its module.
    parts = re.split(r"CPyStatics\[\d+\]; /\* 'mypyc filler docstring' \*/", text)
    text = parts[0]
    for after in parts[1:]:
        names = re.findall(r"/\* '(\w+)' \*/", text[-2000:].replace("__annotations__", ""))
        modules = re.findall(r"/\* '(unspool[\w.]*)' \*/", after[:2000])
        key = "___".join([*modules[:1], *names[-1:]]).replace(".", "___")
        text += f'PyUnicode_FromString("{docs.get(key, "")}");{after}'
    return text


def docstrings() -> dict[str, str]:
    """The docstrings of the compiled modules as they are written in C, by the names that things have there."""
    docs: dict[str, str] = {}
    for module in COMPILED_MODULES:
        names = [module.removeprefix("src/").removesuffix(".py").replace("/", "___")]
        while "___" in names[-1]:  # a module goes by the end of its name, as far as no other has the same
            names.append(names[-1].split("___", 1)[1])
        tree = ast.parse(Path(module).read_text(encoding="utf-8"))
        for name, node in definitions(tree):
            doc = ast.get_docstring(node)
            if doc is not None:
                in_c = re.sub(rb"[^ !#-[\]-~]", lambda byte: b"\\%03o" % ord(byte[0]), doc.encode()).decode()
                docs.update({f"{prefix}___{name}": in_c for prefix in names})
    return docs


def definitions(tree: ast.Module | ast.ClassDef) -> Iterator[tuple[str, ast.ClassDef | ast.FunctionDef]]:
    """The classes and functions of a module, and their methods, by their names in C."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name, node
            for name, inner in definitions(node):
                yield f"{node.name}___{name}", inner
        elif isinstance(node, ast.FunctionDef):
            yield node.name, node


EGG_BASE = Path("build")
EGG_BASE.mkdir(exist_ok=True)

setup(
    ext_modules=extensions(),
    cmdclass={"build_ext": OptionalBuildExt},
    options={"egg_info": {"egg_base": str(EGG_BASE)}},
)

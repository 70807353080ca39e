"""Checked edits of the C code that mypyc 2.4.1 generates.

`edited` makes three edits, and raises `EditError` unless every part of each finds exactly one place:

- It removes the trashcan from the deallocators of acyclic classes. mypyc writes a trashcan into every class. The
  trashcan links objects through the header of the garbage collector, which instances of acyclic classes do not have:
  freeing them inside deeply nested objects would overwrite other memory. `tests/test_events.py` frees events there.
- It adds the docstrings, which mypyc leaves out. `help` then shows the same text for both builds.
- It tells the C compiler not to optimize the functions that run once, when a module is imported. They are the longest
  functions, and optimizing them takes more than half of the time of the build.

All are derived from the sources: the classes from their ``@mypyc_attr(acyclic=True)`` decorators, the docstrings from
every class, function and method, and the functions that run once from the modules. A subclass without the decorator
keeps its trashcan, which it needs.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path

__all__ = ["EditError", "Sources", "edit_file", "edited", "read_sources"]


class EditError(Exception):
    """The generated C code does not look as expected, so the edits would not be safe."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The parts of the compiled modules that the edits need, by their names in C."""

    acyclic: frozenset[str]
    docstrings: Mapping[str, str]
    imports: frozenset[str]
    """The functions that run when a module is imported."""


def edit_file(native: Path, modules: Iterable[Path], source_root: Path) -> None:
    """Edit the file `native`, which mypyc generated from `modules`. The file stays as it is if an edit fails."""
    texts = {
        ".".join(path.relative_to(source_root).with_suffix("").parts): path.read_text(encoding="utf-8")
        for path in modules
    }
    native.write_text(edited(native.read_text(encoding="utf-8"), read_sources(texts)), encoding="utf-8")


def edited(text: str, sources: Sources) -> str:
    """Return the generated C code with all edits."""
    text = _without_trashcans(text, sources.acyclic)
    return _with_docstrings(_with_plain_imports(text, sources.imports), sources.docstrings)


# The sources --------------------------------------------------------------------------------------------------------


def read_sources(modules: Mapping[str, str]) -> Sources:
    """Find the acyclic classes and the docstrings of `modules`, which maps dotted names to source texts."""
    acyclic: set[str] = set()
    docstrings: dict[str, str] = {}
    prefixes = _prefixes(list(modules))
    for module, source in modules.items():
        for name, node in _definitions(ast.parse(source)):
            name_in_c = (prefixes[module] + name).replace("___", "___3_").replace(".", "___")
            if isinstance(node, ast.ClassDef) and any(map(_is_acyclic, node.decorator_list)):
                acyclic.add(name_in_c)
            docstring = ast.get_docstring(node)
            if docstring is not None:
                docstrings[name_in_c] = docstring
    imports = frozenset(f"{prefix.replace('.', '___')}__top_level__" for prefix in prefixes.values())
    return Sources(frozenset(acyclic), docstrings, imports)


def _prefixes(modules: list[str]) -> dict[str, str]:
    """The shortest end of each module's name that no other module shares: mypyc begins its names in C with it."""
    ends: dict[str, list[str]] = {}
    for module in modules:
        parts = module.split(".")
        ends[module] = ["", *(".".join(parts[start:]) + "." for start in range(len(parts) - 1, -1, -1))]
    uses = Counter(end for of_one in ends.values() for end in of_one)
    return {module: next((end for end in of_one if uses[end] == 1), of_one[-1]) for module, of_one in ends.items()}


_Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def _definitions(tree: ast.Module | ast.ClassDef, prefix: str = "") -> Iterator[tuple[str, _Definition]]:
    """The classes and functions of a module, and the methods of its classes, by their dotted names."""
    for node in tree.body:
        if isinstance(node, _Definition):
            yield prefix + node.name, node
        if isinstance(node, ast.ClassDef):
            yield from _definitions(node, f"{prefix}{node.name}.")


def _is_acyclic(decorator: ast.expr) -> bool:
    """Recognise ``@mypyc_attr(acyclic=True)``, alone or with further arguments."""
    return (
        isinstance(decorator, ast.Call)
        and ast.unparse(decorator.func).rpartition(".")[2] == "mypyc_attr"
        and any(word.arg == "acyclic" and ast.unparse(word.value) == "True" for word in decorator.keywords)
    )


# The trashcans ------------------------------------------------------------------------------------------------------

_DEALLOCATOR = re.compile(r"^[ \t]*(\w+)_dealloc\(\w+ \*self\)\s*\{(.*?)\bdone: ;", re.DOTALL | re.MULTILINE)


def _without_trashcans(text: str, acyclic: Set[str]) -> str:
    edits: Counter[str] = Counter()

    def without(match: re.Match[str]) -> str:
        name, body = match.groups()
        # A deallocator that leaves the collector alone belongs to a class without the collector's header.
        if "CPy_TRASHCAN" not in body or "PyObject_GC_UnTrack(self);" in body:
            return match[0]
        begin, end = re.escape(f"CPy_TRASHCAN_BEGIN(self, {name}_dealloc)"), re.escape("CPy_TRASHCAN_END(self)")
        freeing = rf"CPyDef_{name}_clear\(\(PyObject \*\)self\);\s*Py_TYPE\(self\)->tp_free\(\(PyObject \*\)self\);\s*"
        new_body, count = re.subn(rf"{begin}\s*({freeing}){end}", r"\1", body)
        if "CPy_TRASHCAN" in new_body:
            raise EditError(f"the deallocator of {name} does not look as expected")
        edits[name] += count
        return match[0].replace(body, new_body)

    text = _DEALLOCATOR.sub(without, text)
    _require_one_each("deallocator without its trashcan", edits, acyclic)
    return text


# The imports --------------------------------------------------------------------------------------------------------

_UNOPTIMIZED = """\
#if defined(__clang__)
#define UNSPOOL_UNOPTIMIZED __attribute__((optnone))
#elif defined(__GNUC__)
#define UNSPOOL_UNOPTIMIZED __attribute__((optimize("O0")))
#else
#define UNSPOOL_UNOPTIMIZED
#endif
"""


def _with_plain_imports(text: str, imports: Set[str]) -> str:
    edits: Counter[str] = Counter()

    def marked(match: re.Match[str]) -> str:
        edits[match["name"]] += 1
        return f"UNSPOOL_UNOPTIMIZED {match[0]}"

    text = re.sub(r"^char CPyDef_(?P<name>\w*__top_level__)\(void\) \{", marked, text, flags=re.MULTILINE)
    _require_one_each("function that runs an import", edits, imports)
    return _UNOPTIMIZED + text


# The docstrings -----------------------------------------------------------------------------------------------------

_SIGNATURE = r'PyDoc_STR\((?:NULL|"(?P<signature>[^"]*\\n--\\n\\n)")\)'
_PLACES = (
    # Functions and methods, classes, and properties, for which mypyc writes no signature.
    rf"(?P<before>\(PyCFunction\)CPyPy_(?P<name>\w+),\s*METH_[^,]*,\s*){_SIGNATURE}",
    rf"(?P<before>PyTypeObject CPyType_(?P<name>\w+)_template_ = {{[^}}]*\.tp_doc = ){_SIGNATURE}",
    r"(?P<before>\(getter\)(?P<name>\w+),[^,]*,\s*)NULL(?P<signature>)(?=, NULL})",
)
# Enumerations and named tuples are made at run time, of a namespace with a filler for the docstring.
_FILLER = re.compile(
    r"CPyStatics\[\d+\]; /\* 'mypyc filler docstring' \*/"
    r"(?P<after>(?:(?!'mypyc filler docstring').)*?\bCPyType_(?P<name>\w+) = \(PyTypeObject \*\)cpy_r_)",
    re.DOTALL,
)


def _with_docstrings(text: str, docstrings: Mapping[str, str]) -> str:
    edits: Counter[str] = Counter()

    def documented(match: re.Match[str]) -> str:
        name = match["name"]
        if match["before"].startswith("(getter)"):
            name = name.replace("_get_", "___", 1)
        if name not in docstrings:
            return match[0]
        edits[name] += 1
        return f'{match["before"]}PyDoc_STR("{match["signature"] or ""}{_literal(docstrings[name])}")'

    def filled(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in docstrings:
            return f"Py_None;{match['after']}"
        edits[name] += 1
        return f'PyUnicode_FromString("{_literal(docstrings[name])}");{match["after"]}'

    for place in _PLACES:
        text = re.sub(place, documented, text)
    text = _FILLER.sub(filled, text)
    _require_one_each("place for the docstring", edits, docstrings.keys())
    return text


def _literal(text: str) -> str:
    """Escape `text` for a C string literal in UTF-8."""
    return re.sub(rb"[^ !#-[\]-~]", lambda byte: b"\\%03o" % ord(byte[0]), text.encode()).decode()


def _require_one_each(what: str, edits: Counter[str], names: Set[str]) -> None:
    """Raise an error unless there was one edit for each name and none for any other."""
    wrong = sorted(name for name in edits.keys() | names if edits[name] != 1 or name not in names)
    if wrong:
        found = ", ".join(f"{edits[name]} for {name}" for name in wrong[:5])
        raise EditError(f"expected one {what} for each of {len(names)} names, found {found}")

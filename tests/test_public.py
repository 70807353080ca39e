"""What the package shows to the world: its names, its layers, its build, and the examples in its documentation."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

import unspool
from build_tools.imports import SOURCES, imports, layers, listed_name, module_files
from tests.support.shared import PROJECT

if TYPE_CHECKING:
    pass

PUBLIC = [
    "COMPILED",
    "MISSING",
    "Code",
    "Conflict",
    "Event",
    "Fragment",
    "FragmentParser",
    "IncompleteJSONError",
    "JSONSyntaxError",
    "Kind",
    "LeafChunker",
    "LimitError",
    "Options",
    "OptionsError",
    "ParserState",
    "PatchError",
    "Path",
    "PatternError",
    "Position",
    "Reason",
    "Repair",
    "RepairCode",
    "SnapshotChunker",
    "SnapshotDiff",
    "SnapshotError",
    "Stall",
    "StateError",
    "TextChunker",
    "UnspoolError",
    "ValueParser",
    "Writer",
    "__version__",
    "achunk_snapshots",
    "aiter_events",
    "aiter_values",
    "chunk_snapshots",
    "create_state",
    "diff_snapshots",
    "finalize",
    "iter_events",
    "iter_values",
    "parse_chunk",
]

LAYERS = [name for layer in layers() for name in layer.names]
"""The layers, as docs/how-it-works.md lists them: modules, and packages with a slash behind their names."""

EXTRAS = re.compile(r"typed\._(from_)?(pydantic|msgspec)|relay\.web|tools\.(cli|studio)\b")
"""The modules that need what an extra installs; they are imported when they are used."""

SHOP_WINDOWS = ["typed", "llm", "relay"]
"""The packages inside that show names of their own."""


# Names


def test_public_names() -> None:
    """`__all__` names exactly what is public: nothing else is shown, and all of it can be imported."""
    assert sorted(unspool.__all__) == sorted(PUBLIC)
    assert all(hasattr(unspool, name) for name in PUBLIC)  # some are loaded on first use
    assert set(PUBLIC) <= set(dir(unspool))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = unspool.nothing
    modules = {module.name for module in pkgutil.iter_modules(unspool.__path__)}
    shown = {name for name in vars(unspool) if not name.startswith("_")}
    assert shown - modules == set(PUBLIC) - {"__version__"}


def shown() -> dict[str, object]:
    """Everything that the package and its shop windows show, by name."""
    windows = [unspool, *(importlib.import_module(f"unspool.{package}") for package in SHOP_WINDOWS)]
    return {name: getattr(window, name) for window in windows for name in window.__all__}


@pytest.mark.parametrize("name", [name for name, thing in shown().items() if isinstance(thing, type)])
def test_public_classes_are_documented(name: str) -> None:
    """Every public class says what it is, and so do its public methods and properties: in both builds."""
    cls: Any = shown()[name]
    assert inspect.getdoc(cls)
    members = {name: member for name, member in vars(cls).items() if not name.startswith("_")}
    acting = [name for name, member in members.items() if isinstance(member, property) or callable(getattr(cls, name))]
    assert [name for name in acting if not inspect.getdoc(getattr(cls, name))] == []


@pytest.mark.parametrize("name", [name for name, thing in shown().items() if inspect.isroutine(thing)])
def test_public_functions_are_documented(name: str) -> None:
    """Every public function says what it does."""
    assert inspect.getdoc(shown()[name])


def test_docstrings_are_those_of_the_source() -> None:
    """Compiled or not, `help` shows what is written there, of functions, classes, their methods and properties."""
    seen: dict[str, object] = {}
    written: dict[str, str] = {}
    for name, thing in shown().items():
        path = SOURCES / (str(getattr(thing, "__module__", "")).removeprefix("unspool.").replace(".", "/") + ".py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body if path.exists() else []:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
                inner = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name[0] != "_"]
                members = [(node, thing), *((each, getattr(thing, each.name, None)) for each in inner)]
                for definition, member in members:
                    if doc := ast.get_docstring(definition):
                        written[f"{name}.{definition.name}"] = doc
                        seen[f"{name}.{definition.name}"] = inspect.getdoc(member)
    assert "ValueParser.feed" in written
    assert seen == written


@pytest.mark.parametrize("package", SHOP_WINDOWS)
def test_public_names_of_packages(package: str) -> None:
    """A package that shows names lists all of them, and nothing else can be seen in it but its modules."""
    window = importlib.import_module(f"unspool.{package}")
    modules = {module.name for module in pkgutil.iter_modules(window.__path__)}
    shown = {name for name in vars(window) if not name.startswith("_")}
    assert shown - modules == set(window.__all__) - modules


def test_version() -> None:
    """The version is one that installers understand."""
    assert re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc|\.dev)\d+)?", unspool.__version__)


def test_types_are_announced() -> None:
    """The package tells type checkers that it is typed."""
    assert (Path(str(unspool.__file__)).parent / "py.typed").is_file()


# The build


def test_the_expected_build_is_tested() -> None:
    """UNSPOOL_EXPECT says which build is meant, and that is the one at hand; without it, either is fine."""
    found = "compiled" if unspool.COMPILED else "pure"
    assert os.environ.get("UNSPOOL_EXPECT", found) == found


def compiled_modules() -> list[str]:
    """The modules that setup.py compiles: those that carry the mark."""
    modules = module_files().items()
    return [f"unspool.{name}" for name, path in modules if "\n# Compiled with mypyc.\n" in path.read_text()]


def test_all_or_nothing_is_compiled() -> None:
    """Either every hot module is compiled or none is: a mixture would be neither of the two builds that are tested."""
    hot = [importlib.import_module(name) for name in compiled_modules()]
    assert hot
    assert {module.__name__ for module in hot if not str(module.__file__).endswith(".py")} == {
        module.__name__ for module in hot if unspool.COMPILED
    }


STANDARD_ONLY = """
import sys
sys.path.insert(0, {folder!r})
import unspool
for name in {modules!r}:
    __import__("unspool." + name)
print(*sorted({{name.partition(".")[0] for name in sys.modules}} - sys.stdlib_module_names - {{"unspool", "__main__"}}))
"""


def test_import_loads_what_a_parser_needs() -> None:
    """Importing the package, and parsing with it, loads neither `typing`, `re` or `json` nor the other parts."""
    code = """
import sys
sys.path.insert(0, {folder!r})
import unspool
parser = unspool.ValueParser()
parser.feed('{{"a": [1, 2.5, "x"]}}')
print(*sorted(name for name in sys.modules if name in {avoided!r} or name.startswith("unspool.")))
"""
    folder = str(Path(str(unspool.__file__)).parents[1])
    code = code.format(folder=folder, avoided=("typing", "re", "json", "decimal", "dataclasses", "asyncio"))
    run = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    plain_only = set() if unspool.COMPILED else {"re"}  # the expressions that the interpreter needs
    assert loaded & {"typing", "re", "json", "decimal", "dataclasses", "asyncio"} <= plain_only
    assert {
        name for name in loaded if re.match(r"unspool\.(_chunker|_streams|llm|typed|tools|patch|select)", name)
    } == set()


def test_nothing_else_is_imported() -> None:
    """No module of the package needs anything but the standard library and itself."""
    folder = str(Path(str(unspool.__file__)).parents[1])
    modules = [*SHOP_WINDOWS, *[name for name in module_files() if not EXTRAS.match(name)]]
    code = STANDARD_ONLY.format(folder=folder, modules=modules)
    run = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    others = [name for name in run.stdout.split() if not name.endswith("__mypyc")]  # what the compiled modules share
    assert others == []


# Layers


def layer_of(module: str) -> int:
    """The place of a module in the list."""
    return LAYERS.index(listed_name(module))


def test_every_layer_is_there() -> None:
    """The list names nothing that does not exist."""
    assert [name for name in LAYERS if not (SOURCES / name).is_dir() and not (SOURCES / f"{name}.py").is_file()] == []


@pytest.mark.parametrize("name", module_files())
def test_layers(name: str) -> None:
    """A module imports only from its own layer and from those above it."""
    found = [module for module in imports(name) if module]
    assert [module for module in found if layer_of(module) > layer_of(name)] == []


def test_no_module_imports_itself() -> None:
    """Inside a layer, too, imports lead one way: there is no circle."""
    edges = {name: set(imports(name)) for name in module_files()}
    while free := [name for name, targets in edges.items() if not targets & edges.keys()]:
        for name in free:
            del edges[name]
    assert edges == {}


def test_class_names_are_unique() -> None:
    """One word for one thing: no class name is defined twice in the source."""
    names = [
        node.name
        for path in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    assert [name for name, count in Counter(names).items() if count > 1] == []


OPEN = re.compile(r"tree|typed|llm|patch|select|testing|relay\.web|__main__|tools\b.*")
"""What users import from, and the tools, which are programs and not for import."""


@pytest.mark.parametrize("name", module_files())
def test_private_modules_are_marked(name: str) -> None:
    """A module that users do not import has an underscore, or stands in a package that has one."""
    assert OPEN.fullmatch(name) or any(part.startswith("_") for part in name.split("."))


@pytest.mark.parametrize("name", [name for name in module_files() if name.startswith("tools.")])
def test_the_tools_are_built_on_what_is_public(name: str) -> None:
    """The command and the studio use what modules say that they show, and nothing else."""
    modules = module_files()
    path = modules[name]
    package = ("unspool", *path.relative_to(SOURCES).parent.parts)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            module = ".".join((*package[: len(package) + 1 - node.level], *(node.module or "").split("."))).strip(".")
            shown = getattr(importlib.import_module(module), "__all__", ["__version__"])
            inside = {found.rpartition(".")[2] for found in modules if f"unspool.{found}".startswith(module + ".")}
            assert {alias.name for alias in node.names} <= {*shown, *inside}, module


def test_compiled_modules_name_the_results_that_a_condition_looks_into() -> None:
    """mypyc frees a value that was never made if ``f().field`` is in an operand that was not evaluated.

    A method of a new string is safe: the compiler sees no native class there.
    """
    found: list[str] = []
    for path in sorted(SOURCES.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "\n# Compiled with mypyc.\n" not in text:
            continue
        conditions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.BoolOp)]
        inside = [node for condition in conditions for node in ast.walk(condition) if isinstance(node, ast.Attribute)]
        found += [
            f"{path.name}:{node.lineno}: {ast.unparse(node)}"
            for node in inside
            if isinstance(node.value, ast.Call) and ast.unparse(node.value.func) != "str"
        ]
    assert not found


def test_packages_hold_nothing() -> None:
    """The `__init__` of a package inside is a docstring and nothing else: names come from modules."""
    packages = [path for path in SOURCES.rglob("__init__.py") if path.parent != SOURCES]
    packages = [path for path in packages if path.parent.name not in SHOP_WINDOWS]
    assert packages
    for path in packages:
        (statement,) = ast.parse(path.read_text()).body
        assert isinstance(statement, ast.Expr)


# Documentation


class Block(NamedTuple):
    """A piece of code in a page."""

    line: int
    code: str

    @property
    def is_session(self) -> bool:
        return self.code.lstrip().startswith(">>>")


FENCE = re.compile(
    r"^(?P<indent> *)```(?:python|pycon|py)\b[^\n]*\n(?P<code>.*?)^(?P=indent)```", re.MULTILINE | re.DOTALL
)


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(text.count("\n", 0, found.start("code")) + 1, dedent(found["code"])) for found in FENCE.finditer(text)
    ]


PAGES = [page for page in (PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))) if page.is_file()]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page)], ids=lambda page: str(page.relative_to(PROJECT))
)
def test_examples_of_the_documentation(page: Path) -> None:
    """Every block of Python in the documentation runs, one after another, and shows what it says it shows."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        if not block.is_session:
            code = "\n" * (block.line - 1) + block.code
            exec(compile(code, str(page), "exec", dont_inherit=True), names)
            continue
        session = doctest.DocTestParser().get_doctest(block.code, names, page.name, str(page), block.line - 1)
        runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
        report: list[str] = []
        assert runner.run(session, out=report.append, clear_globs=False).failed == 0, "".join(report)
        names = session.globs


def modules_with_examples() -> list[str]:
    found: list[str] = []
    for name in ["unspool", *(f"unspool.{name}" for name in module_files())]:
        module = importlib.import_module(name)
        if any(test.examples for test in doctest.DocTestFinder().find(module)):
            found.append(name)
    return found


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_of_the_docstrings(name: str) -> None:
    """The examples in the docstrings show what really happens."""
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted > 0
    assert results.failed == 0

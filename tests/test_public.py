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
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

import unspool
from tests.support.shared import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCES = PROJECT / "src" / "unspool"

PUBLIC = [
    "COMPILED",
    "MISSING",
    "Code",
    "Event",
    "Fragment",
    "FragmentParser",
    "IncompleteJSONError",
    "JSONSyntaxError",
    "Kind",
    "LimitError",
    "Options",
    "OptionsError",
    "ParserState",
    "PatchError",
    "Path",
    "PatternError",
    "Position",
    "Reason",
    "SnapshotChunker",
    "SnapshotError",
    "StateError",
    "TextChunker",
    "UnspoolError",
    "ValueParser",
    "__version__",
    "achunk_snapshots",
    "aiter_events",
    "aiter_values",
    "chunk_snapshots",
    "create_state",
    "finalize",
    "iter_events",
    "iter_values",
    "parse_chunk",
]

LAYERS = [
    "_version",
    "errors",
    "missing",
    "native",
    "sharing",
    "quoting",
    "path",
    "events",
    "core.options",
    "core.modes",
    "core.scan",
    "core.frames",
    "core.dialect",
    "core.sink",
    "core.state",
    "core.tokens",
    "core.reader",
    "core.writer",
    "tree.nodes",
    "tree.branch",
    "tree.fold",
    "tree.live",
    "text.utf8",
    "text.pieces",
    "text.signs",
    "text.extract",
    "intake",
    "persist",
    "parsing",
    "handles",
    "select",
    "chunker.values",
    "chunker.diff",
    "chunker.policy",
    "chunker.reading",
    "chunker.state",
    "chunker.snapshots",
    "chunker.text",
    "chunker.leaves",
    "streams",
    "patch",
    "typed.policy",
    "typed.shape",
    "typed.unions",
    "typed.frames",
    "typed.outcome",
    "typed.builder",
    "typed.resolve",
    "typed.stages",
    "typed.instances",
    "typed.node_text",
    "typed.pydantic.errors",
    "typed.pydantic.schema",
    "typed.pydantic.accept",
    "typed.pydantic.judge",
    "typed.pydantic.partial",
    "typed.pydantic.tags",
    "typed.pydantic.part",
    "typed.pydantic.containers",
    "typed.pydantic.fields",
    "typed.pydantic.leaves",
    "typed.pydantic.tuples",
    "typed.from_pydantic",
    "typed.msgspec.hints",
    "typed.msgspec.leaves",
    "typed.msgspec.records",
    "typed.from_msgspec",
    "typed.json_schema.keywords",
    "typed.json_schema.refs",
    "typed.json_schema.judge",
    "typed.json_schema.merge",
    "typed.json_schema.left",
    "typed.from_json_schema",
    "typed.partials",
    "typed.items",
    "llm.lines",
    "llm.sse",
    "llm.parts",
    "llm.deltas",
    "llm.formats.fields",
    "llm.formats.building",
    "llm.formats.openai_chat",
    "llm.formats.openai_responses",
    "llm.formats.anthropic",
    "llm.formats.gemini",
    "llm.formats.gemini_interactions",
    "llm.formats.bedrock_converse",
    "llm.formats.cohere",
    "llm.formats.ollama",
    "llm.formats.registry",
    "llm.quirks",
    "llm.faults",
    "llm.texts",
    "llm.document",
    "llm.arguments",
    "llm.config",
    "llm.gates",
    "llm.calls",
    "llm.identity",
    "llm.ending",
    "llm.dumps",
    "llm.state",
    "llm.message",
    "llm.changes",
    "llm.sources",
    "llm.reading",
    "llm.stream",
    "testing",
    "viewer.escaping",
    "viewer.recordings",
    "viewer.payloads",
    "viewer.inputs",
    "viewer.natures",
    "viewer.tracks",
    "viewer.fields",
    "viewer.messages",
    "viewer.timeline",
    "viewer.opening",
    "viewer.playing",
    "viewer.wire",
    "viewer.samples",
    "viewer.rows",
    "viewer.waterfall",
    "viewer.svg",
    "viewer.html",
    "studio.settings",
    "studio.document",
    "studio.log",
    "studio.schema",
    "studio.diagnostics",
    "studio.events",
    "studio.snapshots",
    "studio.views",
    "studio.session",
    "studio.fetch",
    "studio.live",
    "studio.sessions",
    "studio.query",
    "studio.requests",
    "studio.stream",
    "studio.guard",
    "studio.app",
    "studio.server",
    "cli.terminal",
    "cli.reading",
    "cli.options",
    "cli.pacing",
    "cli.progress",
    "cli.lines.places",
    "cli.schemas",
    "cli.lines.judging",
    "cli.lines.stages",
    "cli.lines.lanes",
    "cli.lines.problems",
    "cli.lines.messages",
    "cli.commands.steps",
    "cli.commands.chunk",
    "cli.commands.message",
    "cli.lines.inspecting",
    "cli.commands.check",
    "cli.commands.record",
    "cli.server.providers",
    "cli.server.serving",
    "cli.commands.replay",
    "cli.screen.waterfall",
    "cli.commands.profile",
    "cli.screen.fields",
    "cli.screen.status",
    "cli.screen.tree",
    "cli.screen.tracks",
    "cli.commands.watch",
    "cli.commands.studio",
    "cli.main",
    "__main__",
]
"""A total order: a module imports only what stands before it. The package itself, `unspool`, stands behind all."""

EXTRAS = re.compile(r"typed\.(from_)?(pydantic|msgspec)|cli\.|studio\.")
"""The modules that need what an extra installs; they are imported when they are used."""

SHOP_WINDOWS = ["typed", "llm"]
"""The packages inside that show names of their own."""


# Names


def test_public_names() -> None:
    """`__all__` names exactly what is public: nothing else is shown, and all of it can be imported."""
    assert sorted(unspool.__all__) == sorted(PUBLIC)
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
    """The modules that setup.py compiles."""
    for statement in ast.parse((PROJECT / "setup.py").read_text()).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "COMPILED_MODULES":
            paths: list[str] = ast.literal_eval(statement.value)
            return [path.removeprefix("src/").removesuffix(".py").replace("/", ".") for path in paths]
    raise AssertionError("setup.py has no COMPILED_MODULES")


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


def test_nothing_else_is_imported() -> None:
    """No module of the package needs anything but the standard library and itself."""
    folder = str(Path(str(unspool.__file__)).parents[1])
    modules = [*SHOP_WINDOWS, *[name for name in LAYERS if not EXTRAS.match(name)]]
    code = STANDARD_ONLY.format(folder=folder, modules=modules)
    run = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    others = [name for name in run.stdout.split() if not name.endswith("__mypyc")]  # what the compiled modules share
    assert others == []


# Layers


def modules_of_the_source() -> dict[str, Path]:
    """All modules but the `__init__` of packages."""
    modules = {".".join(path.relative_to(SOURCES).with_suffix("").parts): path for path in SOURCES.rglob("*.py")}
    return {name: path for name, path in modules.items() if not name.endswith("__init__")}


def imports(path: Path) -> Iterator[str]:
    """The modules of the package that a module imports when it runs, as LAYERS names them."""
    package = path.relative_to(SOURCES).parent.parts
    skipped: set[ast.AST] = set()
    for node in ast.walk(ast.parse(path.read_text())):
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
                yield full if full in LAYERS else full.rpartition(".")[0]
        elif isinstance(node, ast.ImportFrom) and str(node.module).startswith("unspool"):
            yield str(node.module).removeprefix("unspool").removeprefix(".")


def test_every_module_has_its_layer() -> None:
    """Each module of the source stands in the order of layers, once."""
    assert sorted(LAYERS) == sorted(modules_of_the_source())


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str) -> None:
    """A module imports only what stands above it."""
    above = LAYERS[: LAYERS.index(name)]
    path = modules_of_the_source()[name]
    assert [imported for imported in imports(path) if imported not in above] == []


TOOLS = ("viewer", "studio", "cli")
"""What is built on the library as anybody could build it."""


@pytest.mark.parametrize("name", [name for name in LAYERS if name.startswith(TOOLS)])
def test_the_tools_are_built_on_what_is_public(name: str) -> None:
    """The command and the studio use what modules say that they show, and nothing else."""
    path = modules_of_the_source()[name]
    package = ("unspool", *path.relative_to(SOURCES).parent.parts)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            module = ".".join((*package[: len(package) + 1 - node.level], *(node.module or "").split("."))).strip(".")
            shown = getattr(importlib.import_module(module), "__all__", ["__version__"])
            assert {alias.name for alias in node.names} <= {*shown, *LAYERS}, module


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
    for name in ["unspool", *(f"unspool.{name}" for name in LAYERS)]:
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

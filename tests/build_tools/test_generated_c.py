"""build_tools/generated_c.py: every edit of the generated C code is checked, and setup.py falls back when one fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from build_tools.generated_c import EditError, Sources, edit_file, edited, read_sources

PROJECT = Path(__file__).parents[2]

EVENTS = '''"""Events."""

# Compiled with mypyc.
from __future__ import annotations

@final
@mypyc_attr(acyclic=True, free_list_len=1)
class Event:
    """An event with a "path"."""

    def show(self) -> str:
        """Return the event as a text: é."""

    @property
    def path(self) -> object:
        """Where it happened."""

    def hide(self) -> None: ...


class ErrorEvent(Event): ...


class Kind(StrEnum):
    """The kinds of event."""


class Bare(NamedTuple): ...


def walk() -> None:
    """Walk over all events."""
'''

DEALLOCATORS = """\
static void
events___Event_dealloc(unspool___events___EventObject *self)
{
    if (events___Event_free_instance == NULL) {
    events___Event_free_instance = self;
    return;
    }
    CPy_TRASHCAN_BEGIN(self, events___Event_dealloc)
    CPyDef_events___Event_clear((PyObject *)self);
    Py_TYPE(self)->tp_free((PyObject *)self);
    CPy_TRASHCAN_END(self)
    done: ;
}

static void
events___ErrorEvent_dealloc(unspool___events___ErrorEventObject *self)
{
    PyObject_GC_UnTrack(self);
    CPy_TRASHCAN_BEGIN(self, events___ErrorEvent_dealloc)
    CPyDef_events___ErrorEvent_clear((PyObject *)self);
    Py_TYPE(self)->tp_free((PyObject *)self);
    CPy_TRASHCAN_END(self)
    done: ;
}
"""

TABLES = r"""
static PyGetSetDef events___Event_getseters[] = {
    {"path",
     (getter)events___Event_get_path,
     NULL,
     NULL, NULL},
    {NULL}  /* Sentinel */
};
static PyMethodDef events___Event_methods[] = {
    {"show",
     (PyCFunction)CPyPy_events___Event___show,
     METH_FASTCALL | METH_KEYWORDS, PyDoc_STR("show($self)\n--\n\n")},
    {"hide",
     (PyCFunction)CPyPy_events___Event___hide,
     METH_FASTCALL | METH_KEYWORDS, PyDoc_STR("hide($self)\n--\n\n")},
};
static PyTypeObject CPyType_events___Event_template_ = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "Event",
    .tp_doc = PyDoc_STR(NULL),
};
static PyMethodDef eventsmodule_methods[] = {
    {"walk", (PyCFunction)CPyPy_events___walk,
     METH_FASTCALL | METH_KEYWORDS, PyDoc_STR("walk()\n--\n\n") /* docstring */},
};
    cpy_r_r1 = CPyStatics[130]; /* 'mypyc filler docstring' */
    CPyType_events___Kind = (PyTypeObject *)cpy_r_r158;
    cpy_r_r2 = CPyStatics[130]; /* 'mypyc filler docstring' */
    CPyType_events___Bare = (PyTypeObject *)cpy_r_r9;
"""

IMPORTS = """\
char CPyDef_events_____top_level__(void) {
    cpy_r_r0 = CPyDef_path_____top_level__();
}
char CPyDef_path_____top_level__(void) {
}
"""

GENERATED = DEALLOCATORS + TABLES + IMPORTS


@pytest.fixture
def sources() -> Sources:
    return read_sources({"unspool.events": EVENTS, "unspool.path": "class Path: ..."})


# The sources


def test_sources(sources: Sources) -> None:
    """The acyclic classes and the docstrings come from the sources, by their names in C."""
    assert sources.acyclic == {"events___Event"}
    assert sources.docstrings == {
        "events___Event": 'An event with a "path".',
        "events___Event___show": "Return the event as a text: é.",
        "events___Event___path": "Where it happened.",
        "events___Kind": "The kinds of event.",
        "events___walk": "Walk over all events.",
    }
    assert sources.imports == {"events_____top_level__", "path_____top_level__"}


def test_names_in_c() -> None:
    """A name begins with as much of the name of its module as makes it unique; a third underscore is marked."""
    docstring = 'def f():\n    "Do it."\ndef g___h():\n    "Do it."'
    modules = {"a.state": docstring, "a.b.state": docstring, "a.b._c": docstring}
    names = {"a___state", "b___state", "_c"}
    assert read_sources(modules).docstrings.keys() == {f"{name}___{f}" for name in names for f in ("f", "g___3_h")}
    assert read_sources({"a.b": docstring}).docstrings.keys() == {"f", "g___3_h"}


@pytest.mark.parametrize(
    ("decorator", "is_acyclic"),
    [
        ("mypyc_attr(acyclic=True)", True),
        ("mypyc_attr(free_list_len=1, acyclic=True)", True),
        ("_native.mypyc_attr(acyclic=True)", True),
        ("mypyc_attr(acyclic=False)", False),
        ("mypyc_attr(allow_interpreted_subclasses=True)", False),
        ("other(acyclic=True)", False),
        ("final", False),
    ],
)
def test_decorators(decorator: str, is_acyclic: bool) -> None:
    """Only ``mypyc_attr(acyclic=True)`` marks a class as acyclic, with or without further arguments."""
    found = read_sources({"a": f"@{decorator}\nclass A: ...", "b": "class A: ..."})
    assert found.acyclic == ({"a___A"} if is_acyclic else frozenset())


# C code that matches


def test_trashcans(sources: Sources) -> None:
    """An acyclic class loses its trashcan and nothing else; a subclass that the collector tracks keeps it."""
    acyclic, tracked = edited(GENERATED, sources).split("static void\n")[1:3]
    lines = [line.strip() for line in acyclic.splitlines() if line.strip()]
    assert lines[-5:] == [
        "}",
        "CPyDef_events___Event_clear((PyObject *)self);",
        "Py_TYPE(self)->tp_free((PyObject *)self);",
        "done: ;",
        "}",
    ]
    assert tracked.startswith(DEALLOCATORS.split("static void\n")[2])


def test_docstrings(sources: Sources) -> None:
    """Each docstring follows the signature, in UTF-8; fillers are replaced or removed."""
    text = edited(GENERATED, sources)
    assert r'PyDoc_STR("show($self)\n--\n\nReturn the event as a text: \303\251.")' in text
    assert r'PyDoc_STR("hide($self)\n--\n\n")' in text
    assert r'.tp_doc = PyDoc_STR("An event with a \042path\042.")' in text
    assert r'PyDoc_STR("walk()\n--\n\nWalk over all events.") /* docstring */' in text
    assert 'NULL,\n     PyDoc_STR("Where it happened."), NULL}' in text
    assert 'cpy_r_r1 = PyUnicode_FromString("The kinds of event.");' in text
    assert "cpy_r_r2 = Py_None;" in text
    assert "filler" not in text


def test_imports(sources: Sources) -> None:
    """The C compiler leaves the functions alone that run once, when a module is imported."""
    lines = edited(GENERATED, sources).splitlines()
    assert [line for line in lines if "top_level" in line] == [
        "UNSPOOL_UNOPTIMIZED char CPyDef_events_____top_level__(void) {",
        "    cpy_r_r0 = CPyDef_path_____top_level__();",
        "UNSPOOL_UNOPTIMIZED char CPyDef_path_____top_level__(void) {",
    ]
    assert sum(line.startswith("#define UNSPOOL_UNOPTIMIZED") for line in lines) == 3  # for three compilers


# C code that does not match

CLASS_TEMPLATE = TABLES[TABLES.index("static PyTypeObject") : TABLES.index("static PyMethodDef eventsmodule")]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param(DEALLOCATORS, "", "0 for events___Event$", id="no deallocator"),
        pytest.param(DEALLOCATORS, DEALLOCATORS * 2, "2 for events___Event$", id="two deallocators"),
        pytest.param("events___Event_dealloc", "Event_dealloc", "does not look as expected", id="another name"),
        pytest.param("CPy_TRASHCAN_BEGIN(self, ", "CPy_TRASHCAN_BEGIN(", "not look as expected", id="another macro"),
        pytest.param("CPy_TRASHCAN_END(self)", "CPy_TRASHCAN_END", "not look as expected", id="another end"),
        pytest.param("Py_TYPE(self)->tp_free", "PyObject_Free", "not look as expected", id="another way to free"),
        pytest.param("CPy_TRASHCAN_", "Py_TRASHCAN_", "0 for events___Event$", id="no macro that is known"),
        pytest.param("    PyObject_GC_UnTrack(self);\n", "", "1 for events___ErrorEvent$", id="not marked as acyclic"),
        pytest.param(
            "    CPyDef_events___Event_clear",
            "    PyObject_GC_UnTrack(self);\n    CPyDef_events___Event_clear",
            "0 for events___Event$",
            id="tracked in spite of its mark",
        ),
        pytest.param("CPyPy_events___Event___show", "show", "0 for events___Event___show$", id="no method"),
        pytest.param("(getter)", "(get)", "0 for events___Event___path$", id="no property"),
        pytest.param(".tp_doc", ".doc", "0 for events___Event$", id="no class"),
        pytest.param(CLASS_TEMPLATE, CLASS_TEMPLATE * 2, "2 for events___Event$", id="two classes"),
        pytest.param(r"--\n\n", "", "0 for events___Event___show, 0 for events___walk$", id="another signature"),
        pytest.param("char CPyDef_path", "int CPyDef_path", "0 for path_____top_level__$", id="no import"),
        pytest.param(IMPORTS, IMPORTS * 2, "2 for events_____top_level__, 2 for path", id="two imports"),
        pytest.param("'mypyc filler docstring'", "''", "0 for events___Kind$", id="no filler"),
    ],
)
def test_no_match(old: str, new: str, message: str, sources: Sources) -> None:
    """Code that differs from what the edits expect is an error that names the class or the docstring."""
    assert old in GENERATED
    with pytest.raises(EditError, match=message):
        edited(GENERATED.replace(old, new), sources)


def test_a_docstring_without_a_place(sources: Sources) -> None:
    """A docstring that finds no place is an error, so that no docstring gets lost."""
    docstrings = {**sources.docstrings, "events___later": "Do it later."}
    with pytest.raises(EditError, match=r"expected one place for the docstring .*, found 0 for events___later$"):
        edited(GENERATED, Sources(sources.acyclic, docstrings, sources.imports))


def test_edited_twice(sources: Sources) -> None:
    """The edits are not repeated on code that has them."""
    with pytest.raises(EditError):
        edited(edited(GENERATED, sources), sources)


# Files


@pytest.mark.parametrize("is_expected", [True, False])
def test_files(is_expected: bool, tmp_path: Path) -> None:
    """A file is edited in its place, or stays as it is when an edit fails."""
    modules = [tmp_path / "unspool" / name for name in ("events.py", "path.py")]
    modules[0].parent.mkdir()
    modules[0].write_text(EVENTS, encoding="utf-8")
    modules[1].write_text("class Path: ...", encoding="utf-8")
    native = tmp_path / "__native.c"
    native.write_text(GENERATED if is_expected else TABLES, encoding="utf-8")
    if is_expected:
        edit_file(native, modules, tmp_path)
        assert "CPy_TRASHCAN_BEGIN(self, events___Event_dealloc)" not in native.read_text(encoding="utf-8")
    else:
        with pytest.raises(EditError):
            edit_file(native, modules, tmp_path)
        assert native.read_text(encoding="utf-8") == TABLES


# setup.py

MYPYC = '''
"""A substitute for the compiler: the C code is in generated.c."""
from pathlib import Path
from setuptools import Extension

def mypycify(arguments, **options):
    assert "src/unspool/events.py" in [argument.replace("\\\\", "/") for argument in arguments]
    native = Path("build/__native_hot.c")
    native.write_text(Path("generated.c").read_text(encoding="utf-8"), encoding="utf-8")
    return [Extension("unspool.hot", [str(native)]), Extension("unspool.events", ["build/events.c"])]
'''

SHOW = """
import runpy, sys
sys.argv = ["setup.py", "build_ext"]
print([extension.name for extension in runpy.run_path("setup.py")["extensions"]()])
"""


def run_setup(folder: Path, generated: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run setup.py up to the C compiler, on two small modules and the C code of a substitute for mypyc."""
    for name, text in {
        "src/unspool/events.py": EVENTS,
        "src/unspool/path.py": "# Compiled with mypyc.\n",
        "src/unspool/plain.py": '"""A module that is not compiled."""\n',
        "mypyc/__init__.py": "",
        "mypyc/build.py": MYPYC,
        "generated.c": generated,
        "setup.py": (PROJECT / "setup.py").read_text(encoding="utf-8"),
        "build_tools/__init__.py": "",
        "build_tools/generated_c.py": (PROJECT / "build_tools" / "generated_c.py").read_text(encoding="utf-8"),
        "build_tools/readme.py": (PROJECT / "build_tools" / "readme.py").read_text(encoding="utf-8"),
        "build_tools/source_archive.py": (PROJECT / "build_tools" / "source_archive.py").read_text(encoding="utf-8"),
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("\n" + text if name.endswith("path.py") else text, encoding="utf-8")
    (folder / "build").mkdir()
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("UNSPOOL_")}
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SHOW],
        cwd=folder,
        env=inherited | environment | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_setup(tmp_path: Path) -> None:
    """With C code as expected, setup.py returns the extensions, and the C code is edited."""
    run = run_setup(tmp_path, GENERATED)
    assert (run.stdout, run.stderr, run.returncode) == ("['unspool.hot', 'unspool.events']\n", "", 0)
    assert "An event with a" in (tmp_path / "build" / "__native_hot.c").read_text(encoding="utf-8")


def test_setup_falls_back(tmp_path: Path) -> None:
    """With any other C code, setup.py says why and goes on with the plain modules."""
    run = run_setup(tmp_path, TABLES)
    assert (run.stdout, run.returncode) == ("[]\n", 0)
    assert "expected one deallocator without its trashcan for each of 1 names, found 0 for events___Event" in run.stderr
    assert "The plain Python modules are installed instead" in run.stderr


def test_setup_fails(tmp_path: Path) -> None:
    """The same is an error where the compiled build is required."""
    run = run_setup(tmp_path, TABLES, UNSPOOL_REQUIRE_COMPILED="1")
    assert (run.stdout, run.returncode) == ("", 1)
    assert run.stderr.startswith("unspool: UNSPOOL_REQUIRE_COMPILED is set, but the modules could not be translated")


def test_setup_without_the_compiler(tmp_path: Path) -> None:
    """With UNSPOOL_PURE, nothing is translated."""
    run = run_setup(tmp_path, TABLES, UNSPOOL_PURE="1")
    assert (run.stdout, run.stderr, run.returncode) == ("[]\n", "", 0)

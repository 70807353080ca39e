"""path.py: paths as tuples, as JSONPath, as JSON Pointers, and as long as they come."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.strategies import HARD_KEYS
from unspool import Path, PatternError
from unspool._path import MAX_INDEX, ROOT, Step


def paired(key: str) -> str:
    """Two halves side by side become the pair: a reader never gives them otherwise."""
    return key.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


odd_keys = st.sampled_from([*HARD_KEYS, "it's", "a-b", "\uff11", "ﬁ", "\ud83d", "x\udc00", "\u2028", "a·b", "²"])
any_key = odd_keys | st.text(st.characters(), max_size=6).map(paired)
any_steps = st.lists(any_key | st.integers(0, 20) | st.integers(0, MAX_INDEX), max_size=8)

SPELLINGS: list[tuple[tuple[Step, ...], str, str]] = [
    ((), "$", ""),
    (("days", 0, "title"), "$.days[0].title", "/days/0/title"),
    (("a.b", 0), '$["a.b"][0]', "/a.b/0"),
    (("",), '$[""]', "/"),
    (("", ""), '$[""][""]', "//"),
    (("0",), '$["0"]', "/0"),
    ((0,), "$[0]", "/0"),
    (("[0]",), '$["[0]"]', "/[0]"),
    (("$", "@"), '$["$"]["@"]', "/$/@"),
    (("it's",), """$["it's"]""", "/it's"),
    (('"', "\\"), r'$["\""]["\\"]', '/"/\\'),
    (("a/b", "m~n", "~1"), '$["a/b"]["m~n"]["~1"]', "/a~1b/m~0n/~01"),
    (("_x1", "größe", "日本"), "$._x1.größe.日本", "/_x1/größe/日本"),
    (("1x", "a-b", " "), '$["1x"]["a-b"][" "]', "/1x/a-b/ "),
    (("\n", "\x00"), r'$["\n"]["\u0000"]', "/\n/\x00"),
    (("\ud83d",), r'$["\ud83d"]', "/\ud83d"),
    ((MAX_INDEX,), "$[9007199254740991]", "/9007199254740991"),
]


@pytest.mark.parametrize(("steps", "text", "pointer"), SPELLINGS, ids=ascii)
def test_spellings(steps: tuple[Step, ...], text: str, pointer: str) -> None:
    """A path is written as JSONPath and as a JSON Pointer; from the first it is read again."""
    path = Path.of(*steps)
    assert (str(path), path.pointer, path.steps) == (text, pointer, steps)
    assert repr(path) == f"Path.parse({text!r})"
    assert Path.parse(text).steps == steps


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ('$["a"]', ("a",)),
        ("$['a']", ("a",)),
        ("$['\"']", ('"',)),
        (r"""$['it\'s']""", ("it's",)),
        (r"$['\\']", ("\\",)),
        (r'$["\u0061\n\/"]', ("a\n/",)),
        (r'$["\ud83d\ude00"]', ("😀",)),
        ("$.☺", ("☺",)),
        ("$.😀x", ("😀x",)),
        ("users[1].address.street", ("users", 1, "address", "street")),
        ("a", ("a",)),
        ("☺[0]", ("☺", 0)),
        ("[1].a", (1, "a")),
        ("['a b'][\"c\"]", ("a b", "c")),
        (r'$["\ud83d"]', ("\ud83d",)),
    ],
)
def test_other_spellings(text: str, steps: tuple[Step, ...]) -> None:
    """Keys may be quoted without need, in either quotes, with the escapes of JSON; bare names may have any letter."""
    assert Path.parse(text).steps == steps


@pytest.mark.parametrize(
    ("text", "reason", "offset"),
    [
        ("", "expected a name", 0),
        (" $", "expected a name", 0),
        (".a", "expected a name", 0),
        ("0", "expected a name", 0),
        ("a b", "expected '.' or '['", 1),
        ("a$", "expected '.' or '['", 1),
        ("[a]", "expected an index", 1),
        (r"""$['\"']""", "invalid quoted key", 2),
        (r"""$["\'"]""", "invalid quoted key", 2),
        ("$a", "expected '.' or '['", 1),
        ("$ .a", "expected '.' or '['", 1),
        ("$.a b", "expected '.' or '['", 3),
        ("$[0]x", "expected '.' or '['", 4),
        ("$.", "expected a name", 2),
        ("$..a", "expected a name", 2),
        ("$.*", "expected a name", 2),
        ("$.1", "expected a name", 2),
        ("$.\ud83d", "expected a name", 2),
        ("$.a.", "expected a name", 4),
        ("$[", "expected an index", 2),
        ("$[]", "expected an index", 2),
        ("$[*]", "expected an index", 2),
        ("$[-1]", "expected an index", 2),
        ("$[01]", "expected an index", 2),
        ("$[00]", "expected an index", 2),
        ("$[ 0]", "expected an index", 2),
        ("$[\u0661]", "expected an index", 2),
        ("$[a]", "expected an index", 2),
        ("$[0", "expected ']'", 3),
        ("$[0 ]", "expected ']'", 3),
        ("$[0,1]", "expected ']'", 3),
        ('$["a"', "expected ']'", 5),
        ('$["a"x]', "expected ']'", 5),
        (f"$[{MAX_INDEX + 1}]", "an index can be at most 9007199254740991", 2),
        ("$[" + "9" * 100_000 + "]", "an index can be at most 9007199254740991", 2),
        ('$["', "unterminated quoted key", 2),
        ('$["a', "unterminated quoted key", 2),
        ("$['a\"]", "unterminated quoted key", 2),
        (r'$["a\"]', "unterminated quoted key", 2),
        ('$["\\', "invalid quoted key", 2),
        (r'$["\q"]', "invalid quoted key", 2),
        (r'$["\u00"]', "invalid quoted key", 2),
        ('$["\n"]', "invalid quoted key", 2),
        ("$.a['\\q']", "invalid quoted key", 4),
    ],
    ids=lambda case: ascii(case)[:30],
)
def test_refusals(text: str, reason: str, offset: int) -> None:
    """What is no path is refused with the reason and the offset of what is wrong."""
    with pytest.raises(PatternError) as refused:
        Path.parse(text)
    assert (refused.value.reason, refused.value.offset) == (reason, offset)
    assert str(refused.value) == f"{reason}, at offset {offset}"


@given(any_steps)
@example(["a.b", "[0]", "0", 0, "", ".", "'", '"', "\\'", "\ud83d"])
def test_round_trip(steps: list[Step]) -> None:
    """Whatever the keys are, a path is read as it is written, and its text can be encoded."""
    path = Path.of(*steps)
    str(path).encode()
    assert Path.parse(str(path)).steps == path.steps == tuple(steps)
    assert [type(step) for step in path.steps] == [type(step) for step in steps]


@given(any_steps)
def test_pointer_round_trip(steps: list[Step]) -> None:
    """The steps of a JSON Pointer, unescaped as RFC 6901 says, are those of the path, as strings."""
    tokens = Path.of(*steps).pointer.split("/")
    assert tokens[0] == ""
    assert [token.replace("~1", "/").replace("~0", "~") for token in tokens[1:]] == [str(step) for step in steps]


def read_or_refuse(text: str) -> Path | PatternError:
    try:
        return Path.parse(text)
    except PatternError as refusal:
        return refusal


@given(st.text("$.[]'\"\\0a1u-* é", max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Whatever the text, reading it gives a path or a PatternError with a place inside it, and nothing else."""
    for candidate in (text, "$" + text, "$[" + text + "]"):
        read = read_or_refuse(candidate)
        assert 0 <= read.offset <= len(candidate) if isinstance(read, PatternError) else Path.parse(str(read)) == read


@given(any_steps, any_steps)
def test_a_path_is_like_its_tuple(steps: list[Step], others: list[Step]) -> None:
    """A path equals and hashes as the tuple of its steps, and is found in sets and dicts by it."""
    path, other = Path.of(*steps), Path.of(*others)
    assert path == tuple(steps)
    assert tuple(steps) == path
    assert path == Path.of(*steps)
    assert hash(path) == hash(tuple(steps))
    assert {path: 1}[tuple(steps)] == 1  # type: ignore[index]
    assert (path == other) is (steps == others)
    assert (path != tuple(others)) is (steps != others)


@pytest.mark.parametrize("other", [["a", 0], "$.a[0]", None, 0, {"a": 0}], ids=repr)
def test_a_path_is_like_nothing_else(other: object) -> None:
    """A path equals no list, no text and nothing else that is not a tuple or a path."""
    assert Path.of("a", 0) != other


@pytest.mark.parametrize(("left", "right"), [(("0",), (0,)), (("a", "b"), ("a.b",)), ((), ("",)), ((0, 1), (1, 0))])
def test_paths_that_look_alike_differ(left: tuple[Step, ...], right: tuple[Step, ...]) -> None:
    """A key is no index, and a dotted key is not two keys: neither as paths nor in what is written."""
    assert Path.of(*left) != Path.of(*right)
    assert str(Path.of(*left)) != str(Path.of(*right))


@given(any_steps)
def test_a_path_is_a_sequence(steps: list[Step]) -> None:
    """Length, iteration and indexing are those of the steps; the root is a path too, so every path is true."""
    path = Path.of(*steps)
    assert len(path) == len(steps)
    assert list(path) == steps
    assert [path[index] for index in range(-len(steps), len(steps))] == steps * 2
    assert bool(path)
    with pytest.raises(IndexError):
        path[len(steps)]


@given(any_steps)
def test_children_share_their_parents(steps: list[Step]) -> None:
    """`/` makes a child that holds its parent itself; the parent stays what it was, asked before or after."""
    line = [ROOT]
    for step in steps:
        line.append(line[-1] / step)
    for parent, child in pairwise(line):
        assert child.parent is parent
        assert child.step == child.steps[-1]
    sibling = line[-1] / "sibling"
    other = line[-1] / 7
    assert [path.steps for path in line] == [tuple(steps[:length]) for length in range(len(steps) + 1)]
    assert (sibling.steps, other.steps) == ((*steps, "sibling"), (*steps, 7))
    assert (ROOT.parent, ROOT.step, ROOT.steps) == (None, None, ())


def test_messages_stay_one_line() -> None:
    """What cannot be seen in a key is escaped in the path, as JSON would, and read again as it was."""
    path = Path.of("a\u2028b", "\x85\x9b\x7f", "\u200b\U000e0001")
    assert str(path) == '$["a\\u2028b"]["\\u0085\\u009b\\u007f"]["\\u200b\\udb40\\udc01"]'
    assert Path.parse(str(path)) == path
    assert repr(path) == f"Path.parse({str(path)!r})"


@given(any_steps)
def test_copies(steps: list[Step]) -> None:
    """A path survives pickling, under every protocol, and both kinds of copy."""
    path = Path.of(*steps)
    pickled = [pickle.loads(pickle.dumps(path, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    for twin in (*pickled, copy.copy(path), copy.deepcopy(path)):
        assert type(twin) is Path
        assert twin.steps == path.steps


def test_match_statement() -> None:
    """A path can be taken apart from its end by a match statement."""
    match Path.of("days", 3):
        case Path(Path(_, "days"), int(index)):
            assert index == 3
        case _:
            pytest.fail("the pattern above fits")


DEEP = """
from unspool import Path

steps = ["a", 0] * 100_000
path = Path.of(*steps)
twin = Path.of(*steps)
assert path == twin and hash(path) == hash(twin) and path != twin / 0
assert len(path) == 200_000 and path.step == 0
text = str(path)
assert text == "$" + ".a[0]" * 100_000 and Path.parse(text) == path
assert path.pointer == "/a/0" * 100_000
long = Path.parse('$["' + 'x' * 1_000_000 + '"]')
assert str(long.parent) == "$" and len(long.step) == 1_000_000
middle = path
for _ in range(100_000):
    middle = middle.parent
del path, twin
assert len(middle) == 100_000
del middle
print("done")
"""


def test_deep_and_long_paths() -> None:
    """A path of 200,000 steps is compared, written, read and freed in linear time, and without a crash."""
    # In a process of its own: what this guards against is a crash, and that would end all other tests too.
    run = subprocess.run([sys.executable, "-c", DEEP], capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "done\n", "")

"""tree/nodes.py: nodes as users meet them, and that the deepest tree comes and goes without a crash."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from unspool import Options, Path, create_state, parse_chunk
from unspool._tree.nodes import (
    ArrayNode,
    BooleanNode,
    ContainerNode,
    Node,
    NullNode,
    NumberNode,
    ObjectNode,
    StringNode,
)

if TYPE_CHECKING:
    from collections.abc import Callable

DOCUMENT = '{"days": [{"title": "Arrival", "n": 1}, {"title": "Walk"}], "open": true, "note": null, "price": 1.50}'


def root_of(text: str, **options: Any) -> Any:
    """The root node of a text that may go on."""
    return parse_chunk(create_state(Options(**options)), text).root


@pytest.mark.parametrize(
    ("text", "kind", "node_type", "value"),
    [
        ('"a"', "string", StringNode, "a"),
        ("-1.50 ", "number", NumberNode, -1.5),
        ("12 ", "number", NumberNode, 12),
        ("true ", "boolean", BooleanNode, True),
        ("false ", "boolean", BooleanNode, False),
        ("null ", "null", NullNode, None),
        ("[]", "array", ArrayNode, []),
        ("{}", "object", ObjectNode, {}),
    ],
)
def test_kinds(text: str, kind: str, node_type: type[Node], value: object) -> None:
    """Each kind of value has its own class and its own name, at the root as anywhere."""
    for node in (root_of(text), root_of(f"[{text}]")[0], root_of(f'{{"k":{text}}}')["k"]):
        assert type(node) is node_type
        assert isinstance(node, Node)
        assert (node.kind, node.closed) == (kind, True)
        assert node.value == value
        assert type(node.value) is type(value)


def test_ids_are_dense_and_in_document_order() -> None:
    """Ids count from 0 in document order, and each node names the one around it; the root names none."""
    nodes = [(node.id, node.parent_id, node.kind) for node in root_of(DOCUMENT).walk()]
    assert nodes == [
        (0, -1, "object"),
        (1, 0, "array"),
        (2, 1, "object"),
        (3, 2, "string"),
        (4, 2, "number"),
        (5, 1, "object"),
        (6, 5, "string"),
        (7, 0, "boolean"),
        (8, 0, "null"),
        (9, 0, "number"),
    ]


@pytest.mark.parametrize(
    ("prefix", "closed"),
    [
        ('"', [False]),
        ('"ab', [False]),
        ('"ab"', [True]),
        ("[", [False]),
        ("[1", [False]),
        ("[1,", [False, True]),
        ("[1]", [True, True]),
        ('{"a"', [False]),
        ('{"a": "', [False, False]),
        ('{"a": "x"', [False, True]),
        ('{"a": "x"}', [True, True]),
        ('[[{"a": [', [False, False, False, False]),
        ('[[{"a": []', [False, False, False, True]),
        ('[[{"a": []}', [False, False, True, True]),
    ],
)
def test_open_and_closed(prefix: str, closed: list[bool]) -> None:
    """A node is open until its last character is there; numbers and literals are not there before it."""
    assert [node.closed for node in root_of(prefix).walk()] == closed


def test_text_of_an_open_string() -> None:
    """The text and the value of an open string are what is known of it, without half an escape."""
    node = root_of(r'"gr\u00fc\ud83d')
    assert (node.text, node.value, node.closed) == ("grü", "grü", False)


@pytest.mark.parametrize("raw", ["0", "-0", "1.50", "1e5", "1E+05", "-0.0", "123456789012345678901234567890"])
def test_raw(raw: str) -> None:
    """A number keeps the text that spelled it."""
    assert root_of(f"[{raw}]")[0].raw == raw


@pytest.mark.parametrize(
    ("text", "keys", "values", "duplicates", "plain"),
    [
        ("{}", (), [], set(), {}),
        ('{"a":1,"b":2}', ("a", "b"), [1, 2], set(), {"a": 1, "b": 2}),
        ('{"a":1,"b":2,"a":3}', ("a", "b", "a"), [1, 2, 3], {"a"}, {"a": 3, "b": 2}),
        ('{"a":1,"\\u0061":2,"a":3}', ("a", "a", "a"), [1, 2, 3], {"a"}, {"a": 3}),
        ('{"":1,"b":[],"":{},"b":"x', ("", "b", "", "b"), [1, [], {}, "x"], {"", "b"}, {"": {}, "b": "x"}),
        ('{"a":1,"a', ("a",), [1], set(), {"a": 1}),
        ('{"a":1,"a":', ("a",), [1], set(), {"a": 1}),
        ('{"a":1,"a":[', ("a", "a"), [1, []], {"a"}, {"a": []}),
    ],
)
def test_keys_and_children(
    text: str, keys: tuple[str, ...], values: list[object], duplicates: set[str], plain: dict[str, object]
) -> None:
    """Keys go with children, one for each, duplicates too; the last one counts, at the place of the first."""
    node = root_of(text)
    assert node.keys == keys
    assert [child.value for child in node.children] == values
    assert node.duplicates == duplicates
    assert list(node.value.items()) == list(plain.items())
    assert {key: node[key].value for key in node.keys} == plain


def test_lookup_by_key() -> None:
    """An object is asked by key; a key that is not there is a KeyError."""
    node = root_of(DOCUMENT)
    assert node["open"].value is True
    assert node["days"][1]["title"].text == "Walk"
    assert ("open" in node, "shut" in node, 0 in node, None in node) == (True, False, False, False)
    for key in ("shut", ""):
        with pytest.raises(KeyError):
            node[key]
    for no_key in (0, None):
        with pytest.raises((KeyError, TypeError)):  # compiled code asks for the type first
            node[no_key]


def test_lookup_of_a_key_whose_value_is_open() -> None:
    """The child that is open is found by its key, also where the key came before."""
    node = root_of('{"a": 1, "b": 2, "a": "x')
    assert "a" in node
    assert (node["a"].text, node["a"].closed) == ("x", False)
    assert node["b"].value == 2


@pytest.mark.parametrize("text", ['[10, 11, [12], "x"]', '[10, 11, [12], "x"', '[10, 11, [12], "x'])
def test_lookup_by_index(text: str) -> None:
    """An array is asked by index, from the end too, whether the last child is open or not."""
    node = root_of(text)
    assert [node[index].value for index in range(4)] == [10, 11, [12], "x"]
    assert [node[index].value for index in range(-4, 0)] == [10, 11, [12], "x"]
    for index in (4, -5, 100, -100, 10**30, -(10**30)):
        with pytest.raises(IndexError):
            node[index]


@pytest.mark.parametrize("index", ["0", None, 1.0, slice(0, 1)], ids=repr)
def test_an_index_is_a_number(index: object) -> None:
    """What is no whole number is no index."""
    with pytest.raises(TypeError):
        root_of("[1, 2]")[index]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$", 0),
        ((), 0),
        ("$.days", 1),
        ("$.days[0].title", 3),
        (("days", 0, "title"), 3),
        (Path.of("days", 1), 5),
        ('$["price"]', 9),
        ("$.days[2]", None),
        (("days", -1), None),
        (("days", "0"), None),
        ((0,), None),
        ("$.days[0].title.x", None),
        ("$.nowhere.at.all", None),
        ("$.price[0]", None),
    ],
    ids=repr,
)
def test_lookup_by_path(path: Any, found: int | None) -> None:
    """A path leads from a node to one inside it, or to None where there is none."""
    node = root_of(DOCUMENT).at(path)
    assert (None if node is None else node.id) == found


def test_a_path_starts_at_the_node_that_is_asked() -> None:
    """A path is seen from the node that is asked for it, not from the root."""
    day = root_of(DOCUMENT)["days"][0]
    assert day.at("$.title").text == "Arrival"
    assert day.at("$") is day
    assert day.at("$.days") is None


def test_lookup_by_id() -> None:
    """Every node finds all nodes inside it by their ids, and no other."""
    root = root_of('[{"a": [1, [2, []], "x"], "b": {}}, [[3], {"c": "y')
    nodes = list(root.walk())
    for node in nodes:
        inside = {inner.id: inner for inner in node.walk()}
        for wanted in range(-2, len(nodes) + 2):
            assert node.find(wanted) is inside.get(wanted)
    assert root.find(10**30) is None


def test_lookup_by_id_in_wide_containers() -> None:
    """Among a thousand children each is found, whether what follows it is open or not."""
    for text in ("[" + "[0]," * 1000, "[" + "[0]," * 1000 + "[0]]"):
        root = root_of(text)
        assert all(root.find(node.id) is node for node in root.walk())


def test_len_iter_and_truth() -> None:
    """A container has a length and can be iterated; it is true even when it is empty."""
    for text, values in (("[]", []), ("{}", []), ("[1,[2],", [1, [2]]), ('{"a":1,"a":"', [1, ""])):
        node = root_of(text)
        assert len(node) == len(node.children) == len(values)
        assert [child.value for child in node] == values
        assert node


@pytest.mark.parametrize("text", ['"abc"', "1 ", "true ", "null "])
def test_leaves_have_nothing_inside(text: str) -> None:
    """A string, a number or a literal has no children, no length, and leads nowhere."""
    node = root_of(text)
    assert node.children == ()
    assert list(node.walk()) == [node]
    assert (node.at((0,)), node.at("$.a"), node.find(1)) == (None, None, None)
    assert node.at("$") is node.find(0) is node
    assert not isinstance(node, ContainerNode)
    assert not hasattr(node, "__len__")


def test_walk_is_in_document_order() -> None:
    """A walk meets each node before what is inside it, and everything in the order of the text."""
    root = root_of('{"a": [1, {"b": 2}], "c": [[3], 4], "d": "x')
    assert [node.value for node in root.walk() if not node.children] == [1, 2, 3, 4, "x"]
    assert [node.id for node in root["c"].walk()] == [5, 6, 7, 8]
    assert [node.id for node in root.walk()] == list(range(10))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('"it\'s"', 'StringNode("it\'s", id=0)'),
        ('"a', "StringNode('a', id=0, open)"),
        ("1.50 ", "NumberNode(1.5, id=0)"),
        ("true ", "BooleanNode(True, id=0)"),
        ("null ", "NullNode(None, id=0)"),
        ("[1, [2", "ArrayNode([1, []], id=0, open)"),
        ('{"a": {"b": 1}}', "ObjectNode({'a': {'b': 1}}, id=0)"),
    ],
)
def test_repr(text: str, shown: str) -> None:
    """The repr tells the kind, the value, the id, and whether the node is open."""
    assert repr(root_of(text)) == shown


@pytest.mark.parametrize("text", [DOCUMENT, DOCUMENT[:30], '"a', "[1,", '{"a":1,"a":2}'])
def test_equal_readings_have_equal_trees(text: str) -> None:
    """Two trees of one text are equal, node by node, and so are their hashes."""
    for one, other in zip(root_of(text).walk(), root_of(text).walk(), strict=True):
        assert one is not other
        assert one == other
        assert one.__eq__(one) is True
        assert hash(one) == hash(other)
        assert {one} == {other}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('"a"', '"a'),
        ('"a"', '"b"'),
        ('"1"', "1 "),
        ("1 ", "2 "),
        ("1 ", "1.0 "),
        ("1.0 ", "1.00 "),
        ("true ", "false "),
        ("true ", "1 "),
        ("null ", "false "),
        ("[]", "{}"),
        ("[]", "["),
        ("[1]", "[1,2]"),
        ("[1,2]", "[1,[2]]"),
        ("[[1],2]", "[[1,2]]"),
        ("[1,[2]]", "[1,[2"),
        ('{"a":1}', '{"b":1}'),
        ('{"a":1,"b":2}', '{"b":1,"a":2}'),
        ('{"a":1,"a":2}', '{"a":2}'),
        ('{"a":[]}', '{"a":{}}'),
        ('["x","y"]', '["x","y'),
    ],
)
def test_trees_that_differ(one: str, other: str) -> None:
    """Trees differ when a kind, a text, a key, an id or an end does, at the root or further in."""
    for left, right in ((root_of(one), root_of(other)), (root_of("[0," + one), root_of("[0," + other))):
        assert left != right
        assert not left == right  # noqa: SIM201 -- the other operator


def test_where_a_node_stands_is_part_of_it() -> None:
    """Two nodes of one value are equal only with the same id in the same parent."""
    root = root_of('[1, 1, [1], "x", {"x": "x"}]')
    assert len({node for node in root.walk() if not node.children}) == 5
    assert root[0] != root[1]
    assert root_of("[[1]]")[0][0] != root_of("[2,1]")[1]  # the same id, another parent
    assert root_of("[[1]]")[0][0] != root_of("[1]")[0]


def test_the_type_of_a_number_is_part_of_it() -> None:
    """A float is not the Decimal of the same text."""
    assert root_of("[1.5]") != root_of("[1.5]", floats="decimal")
    assert root_of("[1]") == root_of("[1]", floats="decimal")


@pytest.mark.parametrize("other", [1, "a", None, [], (0, -1), ...], ids=repr)
def test_a_node_equals_no_other_thing(other: object) -> None:
    """A node is not its value, nor anything else that is no node."""
    for text in ("1 ", '"a"', "null ", "[]"):
        assert root_of(text) != other


def describe(node: Node) -> object:
    """A tree taken apart by match statements alone."""
    match node:
        case ObjectNode(keys, children):
            return dict(zip(keys, map(describe, children), strict=True))
        case ArrayNode([first, *rest]):
            return [describe(first), *map(describe, rest)]
        case ArrayNode(children):
            return list(children)
        case StringNode(str(text)):
            return text
        case NumberNode(int(value) | float(value), raw):
            return value, raw
        case BooleanNode(value):
            return value
        case NullNode():
            return "nothing"
        case _:
            return node


def test_match_statements() -> None:
    """Every node can be taken apart by a match statement: its text, its value, its keys and children."""
    text = '{"a": [1, 2.50, "x", true, null], "b": [], "c": {"d": "y'
    assert describe(root_of(text)) == {
        "a": [(1, "1"), (2.5, "2.50"), "x", True, "nothing"],
        "b": [],
        "c": {"d": "y"},
    }


def test_match_by_closed() -> None:
    """What is open can be told from what is closed in a pattern."""
    match root_of('[["a", "b'):
        case ArrayNode((ArrayNode((StringNode("a", closed=True), StringNode(text, closed=False))),)):
            assert text == "b"
        case _:
            pytest.fail("the pattern above fits")


def test_a_node_of_no_kind() -> None:
    """The class that all nodes share has no value and nothing inside."""
    node = Node(3, 1, True)
    with pytest.raises(NotImplementedError):
        _ = node.value
    assert (node.id, node.parent_id, node.closed, node.kind, node.children) == (3, 1, True, "", ())
    assert (node.child_around(4), node.child_at("a"), node.find(3)) == (None, None, node)
    assert node == Node(3, 1, True)
    assert node != Node(3, 1, False)


def grown(text: str) -> list[Any]:
    """The root after each character."""
    state = create_state()
    states = [state := parse_chunk(state, character) for character in text]
    return [state.root for state in states]


def told(node: Any) -> list[tuple[object, ...]]:
    """All that a tree says, as plain data that no later tree can change."""
    return [(n.kind, n.id, n.parent_id, n.closed, repr(n.value), len(n.children), repr(n)) for n in node.walk()]


def test_what_was_handed_out_stays() -> None:
    """No tree, no tuple of children or of keys changes when the text goes on, in one future or in another."""
    start = parse_chunk(create_state(), '{"a": [1, {"b": "x"}], "c": ["y')
    root: Any = start.root
    before, children, keys = told(root), root["a"].children, root.keys
    for future in ('z"], "d": 2}', '", 3], "a": 4}', "", '"]}'):
        state = start
        for character in future:
            state = parse_chunk(state, character)
            assert state.root is not None
        assert told(root) == before
        assert (root["a"].children, root.keys) == (children, keys)


def test_closed_nodes_are_shared() -> None:
    """A closed node is one object in every later tree, and so is its value."""
    seen: dict[int, Any] = {}
    for root in grown('{"a": [1, {"b": "x"}, []], "c": [["y"], null]}'):
        for node in root.walk():
            if node.id in seen:
                assert seen[node.id] is node
            elif node.closed:
                seen[node.id] = node
    assert sorted(seen) == list(range(10))
    assert seen[0]["a"].value is seen[0].value["a"]


DEEP = """
import sys
from unspool import Options, ParserState, create_state, parse_chunk

depth = 100_000
options = Options(max_depth=None, max_path=None)
for text, step in (("[" * depth, 0), ('{"a":' * (depth - 1) + "[]" + "}" * (depth - 1), "a")):
    state = parse_chunk(create_state(options), text)
    root = state.root
    assert [node.id for node in root.walk()] == list(range(depth))
    assert root == parse_chunk(create_state(options), text).root
    assert root.find(depth - 1) is state.node(depth - 1) is root.at((step,) * (depth - 1)) is not None
    assert repr(root) == f"{type(root).__name__}(..., id=0{'' if root.closed else ', open'})"
    del state, root
print("done")
"""


def run_alone(program: str) -> tuple[int, str, str]:
    """Run a program in a process of its own: a crash there would end all other tests too."""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    return run.returncode, run.stdout, run.stderr


def test_deep_trees() -> None:
    """A tree 100,000 levels deep, open or closed, is walked, compared, searched, shown and freed."""
    assert run_alone(DEEP) == (0, "done\n", "")


SMALL_STACK = """
import sys
import threading
from unspool import Options, create_state, parse_chunk

def grow_and_drop():
    for text in ("[" * 100_000, '{"a":' * 100_000):
        root = parse_chunk(create_state(Options(max_depth=None)), text).root
        del root
    print("done")

if sys.version_info < (3, 13):  # from then on even nested lists need more to be freed
    threading.stack_size(256 * 1024)
thread = threading.Thread(target=grow_and_drop)
thread.start()
thread.join()
"""


def test_open_trees_are_freed_on_a_small_stack() -> None:
    """Freeing nodes that are open inside of one another takes no stack for each of them."""
    assert run_alone(SMALL_STACK) == (0, "done\n", "")


NESTED = """
from unspool import create_state, parse_chunk

texts = ('"a"', "1 ", "true ", "null ", "[]", "[[1],{}]", '{"a":1}', '{"a":{"b":["x"]}}', '[["x', '"x', '{"a":"')
for text in texts:
    for wrap in (lambda nest: [nest], lambda nest: {"a": nest}, lambda nest: (nest, 1)):
        nest = parse_chunk(create_state(), text).root
        for _ in range(10_000):
            nest = wrap(nest)
        del nest
many = [parse_chunk(create_state(), text).root for text in texts for _ in range(100)]
for node in many:
    nest = [node]
    for _ in range(200):
        nest = [nest, node]
    del nest
assert [node.value for node in many[::100]] == ["a", 1, True, None, [], [[1], {}], {"a": 1}, {"a": {"b": ["x"]}}, \
[["x"]], "x", {"a": ""}]
print("done")
"""


def test_nodes_in_nested_containers_are_freed() -> None:
    """A node inside of thousands of nested lists, dicts or tuples is freed with them, without a crash."""
    assert run_alone(NESTED) == (0, "done\n", "")


@pytest.mark.parametrize("make", [lambda node: node.children, lambda node: tuple(node.walk()), lambda node: node.value])
def test_what_a_node_hands_out_outlives_it(make: Callable[[Any], Any]) -> None:
    """Children, inner nodes and values stay whole when the tree that they came from is gone."""
    parts = make(root_of('[["a", {"b": 1}], 2]'))
    shown = [part.value if isinstance(part, Node) else part for part in parts]
    assert shown[-1] == 2
    assert ["a", {"b": 1}] in shown

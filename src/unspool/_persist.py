"""A state as plain JSON data, and back: never pickle, never eval.

The tree is written flat, one short list a node, in document order::

    ["{", id, key]   ["[", id, key]   ["]"]               a container opens; the innermost one closes
    ["s", id, key, text]   ["n", id, key, raw]   ["l", id, key, true]

Whatever can be derived is not stored, so it cannot be wrong: depth, counts and the stack of the reader follow from the
tree. What is stored is checked: data that was tampered with is a `StateError`, or a state that could have been.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# What is loaded may be anything; each piece of it is checked where it is taken.

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from ._errors import Code, IncompleteJSONError, JSONSyntaxError, LimitError, Position, StateError, UnspoolError
from ._grammar import modes
from ._grammar.dialect import UNLIMITED, Dialect
from ._grammar.scan import HELD, number_run, read_escape
from ._grammar.state import LIMIT_CODES
from ._grammar.tokens import is_whole_number, number_value
from ._intake import Intake
from ._options import Options
from ._path import Path
from ._text.extract import Extractor
from ._text.utf8 import decode
from ._tree.fold import TreeFold
from ._tree.nodes import ContainerNode, NumberNode, ObjectNode, StringNode

if TYPE_CHECKING:
    from ._grammar.reader import Reader
    from ._tree.nodes import Node

__all__ = ["dump", "load"]

VERSION: Final = 1
MODES: Final = {name: mode for mode, name in modes.NAMES.items()}
LITERALS: Final = ("true", "false", "null")

IN_ARRAY: Final = {modes.VALUE_OR_CLOSE, modes.AFTER_ITEM}
IN_OBJECT: Final = {modes.KEY, modes.KEY_OR_CLOSE, modes.COLON, modes.AFTER_MEMBER, modes.KEY_STRING}
AT_ROOT: Final = {modes.BETWEEN, modes.END, modes.IGNORE, modes.SKIP_LINE}
SKIPPING: Final = {modes.SKIP, modes.SKIP_STRING, modes.SKIP_ESCAPE, modes.SKIP_LINE}
WITH_KEY: Final = {
    modes.VALUE,
    modes.COLON,
    modes.STRING,
    modes.LITERAL,
}  # and numbers: the key is known, the value is not
WITH_CARRY: Final = {modes.STRING, modes.KEY_STRING}

FIELDS: Final = {
    *("version", "options", "mode", "position", "next_id", "roots", "errors"),
    *("tree", "string", "key", "text", "carry", "nested", "rest", "extract"),
}


def dump(
    intake: Intake, hidden: Node | None, root: Node | None, errors: tuple[JSONSyntaxError, ...]
) -> dict[str, object]:
    """What there is to know, as plain JSON data. It depends on the text alone, not on how it was cut."""
    reader = intake.reader
    mode = reader.mode
    tree, string = _flatten(root)
    if hidden is not None:
        tree, _ = _flatten(hidden)
    is_token = mode in WITH_CARRY or mode == modes.LITERAL or mode >= modes.NUMBER
    return {
        "version": VERSION,
        "options": reader.dialect.options.as_dict(),
        "mode": modes.NAMES[mode],
        "position": [reader.offset, reader.line, reader.column],
        "next_id": reader._next_id,
        "roots": reader.root_count,
        "tree": tree,
        "string": string,
        "key": reader._key if mode in WITH_KEY or mode >= modes.NUMBER else None,
        "text": "" if not is_token else reader._word[: reader._length] if mode == modes.LITERAL else reader.text(),
        "carry": reader._carry,
        "nested": reader._nested if mode in SKIPPING else 0,
        "rest": intake.rest.hex(),
        "extract": None if intake.extractor is None else intake.extractor.dump(),
        "errors": [[e.code.value, e.offset, e.line, e.column, list(e.path.steps), e.expected] for e in errors],
    }


def _flatten(root: Node | None) -> tuple[list[list[object]], list[object] | None]:
    """The tree, and apart from it the string that is open."""
    tree: list[list[object]] = []
    string: list[object] | None = None
    todo: list[tuple[str | None, Node | None]] = [] if root is None else [(None, root)]
    while todo:
        key, node = todo.pop()
        if node is None:
            tree.append(["]"])
        elif isinstance(node, ContainerNode):
            tree.append(["{" if isinstance(node, ObjectNode) else "[", node.id, key])
            if node.closed:
                todo.append((None, None))
            keys = node.keys if isinstance(node, ObjectNode) else (None,) * len(node)
            todo.extend(reversed(list(zip(keys, node.children, strict=True))))
        elif isinstance(node, NumberNode):
            tree.append(["n", node.id, key, node.raw])
        elif not isinstance(node, StringNode):
            tree.append(["l", node.id, key, node.value])
        elif node.closed:
            tree.append(["s", node.id, key, node.text])
        else:
            string = [node.id, key, node.text]
    return tree, string


def load(data: object) -> tuple[Intake, TreeFold]:
    """What `dump` wrote. Raises `StateError` if it cannot have."""
    try:
        return _load(data)
    except StateError:
        raise
    except (UnspoolError, ValueError, TypeError, KeyError, IndexError, OverflowError, ArithmeticError) as error:
        raise StateError(f"this is no dump of a state: {type(error).__name__}") from None


def _load(data: Any) -> tuple[Intake, TreeFold]:
    _check(isinstance(data, dict) and set(data) == FIELDS, "its fields")
    _check(data["version"] == VERSION, "its version")
    options = Options(**data["options"])
    intake = Intake(Dialect(options), False)
    if data["extract"] is not None:
        intake.extractor = Extractor.load(data["extract"])
        intake.is_plain = False
        _check(intake.extractor.multiple is options.multiple, "its text")
    reader = intake.reader
    fold = TreeFold(reader)
    reader.mode = mode = MODES[data["mode"]]
    offset, line, column = [_natural(number) for number in data["position"]]
    _check(1 <= column <= offset + 1 and 1 <= line <= offset + 1, "its position")
    _check(offset <= intake.reader.dialect.max_chars, "its position")
    reader.offset, reader._line, reader._line_start = offset, line, offset - column + 1
    reader._next_id = _natural(data["next_id"])
    _check(reader._next_id <= offset and _natural(data["roots"]) <= offset, "its ids")

    kinds = [entry[0] for entry in data["tree"]]
    is_closed = len(kinds) > 0 and kinds.count("{") + kinds.count("[") == kinds.count("]")
    reader._count = _natural(data["roots"]) - is_closed  # those before the one in the tree
    _check(reader._count >= 0 and (reader._count == 0 or options.multiple), "its roots")
    _grow(data["tree"], reader, fold)
    _restore_errors(data["errors"], reader, fold)
    _restore_token(data, reader, fold)
    intake.rest = bytes.fromhex(data["rest"])
    intake.is_plain = intake.is_plain and not intake.rest
    _check(decode(intake.rest) == ("", intake.rest, False), "its bytes")
    reader._nested = _natural(data["nested"])
    _check(reader._nested == 0 or (mode in SKIPPING and reader._nested <= offset), "its nesting")

    frame = reader._frame
    _check(mode not in IN_ARRAY or (frame is not None and not frame.is_object), "its mode")
    _check(mode not in IN_OBJECT or (frame is not None and frame.is_object), "its mode")
    _check(mode not in AT_ROOT or frame is None, "its mode")
    _check(mode not in (modes.SKIP, modes.SKIP_STRING, modes.SKIP_ESCAPE) or frame is not None, "its mode")
    _check(mode not in SKIPPING or options.on_error == "skip", "its mode")
    _check(frame is not None or mode not in SKIPPING or options.multiple, "its mode")
    _check(mode not in (modes.BETWEEN, modes.SKIP_LINE) or options.multiple, "its mode")
    _check(mode != modes.END or (fold.has_closed and not options.multiple and options.trailing == "error"), "its mode")
    _check(mode != modes.IGNORE or fold.has_closed, "its mode")
    _check(mode != modes.VALUE or frame is not None or not (options.multiple or fold.has_closed), "its mode")
    _check((mode == modes.FAILED) <= (reader.error is not None), "its errors")
    return intake, fold


def _grow(tree: Any, reader: Reader, fold: TreeFold) -> None:
    """Tell the fold the tree; the reader opens and closes its own frames along with it."""
    mode, next_id, last_id = reader.mode, reader._next_id, -1
    for kind, *rest in tree:
        if kind == "]":
            _check(reader._frame is not None and not rest, "its tree")
            reader._close(0, fold)
            continue
        node_id, key, *payload = rest
        _check(last_id < _natural(node_id) < next_id, "its ids")
        _check(reader._frame is not None or last_id < 0, "its tree")
        last_id = node_id
        _place(key, reader)
        if kind in ("{", "["):
            _check(not payload and reader._depth < reader.dialect.max_depth, "its tree")
            reader._next_id = node_id
            reader._open(kind == "{", 0, fold)
            continue
        [value] = payload
        if kind == "s":
            fold.whole_string(key, 0, _text(value), node_id, 0, 0)
        elif kind == "n":
            fold.number(key, 0, _number(value, reader.dialect), value, node_id, 0)
        else:
            _check(kind == "l" and (value is None or isinstance(value, bool)), "its tree")
            fold.literal(key, 0, value, node_id, 0)
        reader._count += 1
    reader.mode, reader._next_id = mode, next_id


def _place(key: object, reader: Reader) -> None:
    """The next value of the innermost container stands under this key."""
    frame = reader._frame
    _check(isinstance(key, str) if frame is not None and frame.is_object else key is None, "its keys")
    reader._key = key if isinstance(key, str) else None
    if isinstance(key, str) and reader._keys is not None:
        _check(not reader._keys.has(key, reader._count), "its keys")
        reader._keys = reader._keys.add(key, reader._count)


def _number(raw: object, dialect: Dialect) -> object:
    text = _text(raw)
    end, state = number_run(text, 0, len(text), modes.NUMBER)
    _check(end == len(text) > 0 and is_whole_number(state), "its numbers")
    return number_value(text, state, dialect.decimals)


def _restore_errors(errors: Any, reader: Reader, fold: TreeFold) -> None:
    for code_name, offset, line, column, steps, expected in errors:
        code = Code(code_name)
        position = Position(_natural(offset), _natural(line), _natural(column))
        _check(all(isinstance(step, str) or _natural(step) >= 0 for step in steps), "its errors")
        kind = (
            LimitError if code in LIMIT_CODES else IncompleteJSONError if code is Code.INCOMPLETE else JSONSyntaxError
        )
        error = kind(code, position, Path.of(*steps), _text(expected))
        reader.error = reader.error or error
        reader.error_count += 1
        fold.error(error, -1, goes_on=True)


def _restore_token(data: Any, reader: Reader, fold: TreeFold) -> None:
    """The token in hand: its text so far, and the string that is shown while it is open."""
    mode, dialect = reader.mode, reader.dialect
    text, carry, string = _text(data["text"]), _text(data["carry"]), data["string"]
    _check((string is not None) if mode == modes.STRING else (string is None or mode == modes.FAILED), "its string")
    if string is not None:
        node_id, key, shown = string
        _check(_natural(node_id) == reader._next_id - 1, "its string")
        _place(key, reader)
        fold.start_string(reader._key, 0, node_id, 0)
        _check(mode == modes.FAILED or text == shown, "its string")
        text = _text(shown)
    elif mode in WITH_KEY or mode >= modes.NUMBER:
        _place(data["key"], reader)
    _check(data["key"] == (reader._key if mode in WITH_KEY or mode >= modes.NUMBER else None), "its key")
    if mode >= modes.NUMBER:
        _check(number_run(text, 0, len(text), modes.NUMBER) == (len(text), mode), "its number")
        _check(len(text) <= dialect.max_number, "its number")
    elif mode == modes.LITERAL:
        words = [word for word in LITERALS if text and word.startswith(text) and word != text]
        _check(len(words) == 1, "its literal")
        reader._word = words[0]
    elif mode == modes.KEY_STRING:
        _check(len(text) <= dialect.max_key, "its key")
    else:
        _check(not text or string is not None, "its text")
        _check(len(text) <= dialect.max_string, "its string")
    reader._length = len(text)
    if text and mode != modes.LITERAL:
        reader._pieces, reader._piece_count = [text], 1
    if carry:
        _check(mode in WITH_CARRY and carry[0] == "\\" and len(carry) <= reader.offset, "its escape")
        _check(read_escape(carry, 0, len(carry), dialect.surrogates)[0] == HELD, "its escape")
    reader._carry = carry
    reader._untold = reader.offset - len(carry)


def _check(is_right: bool, what: str) -> None:
    if not is_right:
        raise StateError(f"this is no dump of a state: {what} cannot be right")


def _natural(number: object) -> int:
    _check(type(number) is int and 0 <= number <= UNLIMITED, "a number")
    return cast("int", number)


def _text(text: object) -> str:
    _check(isinstance(text, str), "a text")
    return cast("str", text)

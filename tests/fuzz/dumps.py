"""Dumps of chunkers and of messages, changed here and there: loading gives a `StateError`, or a state that goes on.

The first byte chooses the dump that is changed. Each five bytes after it are one change: where, what is done there, and
with which junk. Two changes of one dump can move its own pieces to other places.
"""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from tests.support.chunks import EXAMPLES
from unspool import SnapshotChunker, SnapshotError, StateError
from unspool.llm import Config, MessageState, changes, deltas_for, finish, reduce_chunk, start

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMAT_NAMES: Final = sorted(EXAMPLES)
CONFIGS: Final = [
    Config(),
    Config({"type": "object"}, tools={"weather": {"type": "object", "properties": {"city": {"type": "string"}}}}),
    Config({"type": "object"}, extract=True),
]
CHAINS: Final[list[tuple[dict[str, Any], list[Any]]]] = [
    ({}, [{"a": "x", "b": [1]}, {"a": "xy", "b": [1]}, {"a": "xy", "b": [1], "c": {"d": "", "e": ""}}]),
    ({"on_conflict": "keep", "patience": 1}, [["a", {"b": ""}], ["a", {"b": "x"}, "c"], ["d", {"b": "xy"}, "c"]]),
    ({"empty": "wait", "keep_text": True}, [{"t": "", "n": 0, "l": []}, {"t": "x", "n": 1, "l": [{"a": None}, 2]}]),
    (
        {"empty": "wait", "patience": 2},
        [{"l": {"t": "a"}}, {"l": {"t": "ab"}, "r": "x"}, {"l": {"t": "ab"}, "r": "xy"}],
    ),
    ({}, [{"a": "", "b": "", "c": ""}, {"a": "1", "b": "1", "c": ""}]),
    ({"empty": "wait"}, [0]),
]
LATER: Final[list[Any]] = [{"a": "xyz", "l": [1, 2, {"t": "q"}]}, ["a"], {}, 12, None, {"c": {"d": "1"}, "z": "new"}]
JUNK: Final[list[Any]] = [
    *(None, True, False, -1, 0, 1, 2, 3, 2**31, 2**63, 10**30, -(10**400), 1.5, float("inf"), float("nan")),
    *(
        "",
        "x",
        "a",
        "b",
        "\ud83d",
        "1e999",
        "1" * 5000,
        "[" * 3000,
        '{"a":{"b":"x"}}',
        "[1,[2]]",
        "keep",
        "call",
        "wait",
    ),
    *([], [1], [[]], [["a", 0]], [[["a"], "changed", 1]], {}, {"a": 1}, {"$bytes": "!"}, {"$bytes": ["x"]}, ["x", {}]),
]
DEEP: Final = 20_000


def decode(data: bytes) -> tuple[str, Config | None, Any]:
    """The name of the dump, the config of a message, and the changed dump."""
    dumps = original_dumps()
    name, config, text = dumps[(data[0] if data else 0) % len(dumps)]
    dumped = json.loads(text)
    taken: Any = None
    for at in range(1, len(data) - 4, 5):
        dumped, taken = change(dumped, data[at : at + 5], taken)
    return name, config, dumped


@cache
def original_dumps() -> list[tuple[str, Config | None, str]]:
    """Dumps of all sorts, as text."""
    dumps: list[tuple[str, Config | None, str]] = []
    for number, (options, snapshots) in enumerate(CHAINS):
        chunker = SnapshotChunker(**options)
        for step, snapshot in enumerate(snapshots):
            chunker.process(snapshot)
            dumps.append((f"chunker {number}.{step}", None, json.dumps(chunker.dump())))
        chunker.flush()
        dumps.append((f"chunker {number}, flushed", None, json.dumps(chunker.dump())))
    for number, config in enumerate(CONFIGS):
        for name in FORMAT_NAMES:
            state = start(config, format=name)
            for chunk, _ in EXAMPLES[name].values():
                state = reduce_chunk(state, deltas_for(name)(chunk))
            dumps.append((f"message {name}, config {number}", config, json.dumps(state.dump())))
            dumps.append((f"message {name}, config {number}, finished", config, json.dumps(finish(state).dump())))
    return dumps


def change(dumped: Any, choice: bytes, taken: Any) -> tuple[Any, Any]:
    """Walk to a place, and change what is there. Return the dump, and the piece that was there."""
    walk, more, operation, junk, wish = choice
    holder: Any = [dumped]
    target, key = holder, 0
    for turn in (walk, more, walk ^ more, walk * 7 + more, wish):
        inner = target[key]
        if not isinstance(inner, (dict, list)) or not inner or (turn & 7 == 7 and target is not holder):
            break
        target = inner
        key = sorted(inner)[turn % len(inner)] if isinstance(inner, dict) else turn % len(inner)
    piece = target[key]
    if target is holder and operation % 8:
        return dumped, piece
    match operation % 8:
        case 0 | 1:
            target[key] = copy.deepcopy(JUNK[junk % len(JUNK)])
        case 2:
            del target[key]
        case 3:
            with suppress(RecursionError):
                target[key] = copy.deepcopy(taken)
        case 4 if isinstance(target, list):
            with suppress(RecursionError):
                target.insert(junk % (len(target) + 1), copy.deepcopy(piece))
        case 5 if isinstance(piece, (int, float)):
            target[key] = piece + junk % 5 - 2 if piece == piece else 0
        case 6 if isinstance(piece, str):
            at = junk % (len(piece) + 1)
            target[key] = piece[:at] + str(JUNK[wish % len(JUNK)])[:8] + piece[at + wish % 3 :]
        case 7:
            target[key] = deep(piece if junk % 2 else [], DEEP)
        case _:
            pass
    return holder[0] if holder else None, piece


def deep(value: Any, depth: int) -> Any:
    """A value inside many containers."""
    for _ in range(depth):
        value = [value]
    return value


def seeds() -> Iterator[bytes]:
    """Each dump, as it is and with one change of each sort."""
    for number in range(len(original_dumps())):
        yield bytes([number])
        for operation in range(8):
            yield bytes([number, number * 37 % 256, operation * 31, operation, number, 255 - number % 256])


def check(data: bytes) -> None:
    """An exception other than `StateError` is a finding."""
    _, config, dumped = decode(data)
    if config is None:
        check_chunker(dumped)
    else:
        check_message(dumped, config)


def check_chunker(dumped: Any) -> None:
    """A chunker that was loaded goes on, and its own dump can be loaded."""
    try:
        chunker = SnapshotChunker.load(dumped)
    except StateError:
        return
    for snapshot in LATER:
        repr(chunker)
        if chunker.is_complete:
            assert chunker.flush() == ""
            chunker.reset()
        with suppress(SnapshotError):
            chunker.process(snapshot)
        again = SnapshotChunker.load(json.loads(json.dumps(chunker.dump())))
        assert again.dump() == chunker.dump(), "loaded again, it is another one"
    chunker.flush()


def check_message(dumped: Any, config: Config) -> None:
    """A message that was loaded goes on and ends, and its own dump can be loaded."""
    try:
        state = MessageState.load(dumped, config)
    except StateError:
        return
    known = state.dump()
    again = MessageState.load(json.loads(json.dumps(known)), config)
    assert json.dumps(again.dump(), sort_keys=True) == json.dumps(known, sort_keys=True), (
        "loaded again, it is another one"
    )
    state.as_message()
    before = state
    for name in ("openai-chat", "anthropic"):
        for chunk, _ in list(EXAMPLES[name].values())[:4]:
            before, state = state, reduce_chunk(state, deltas_for(name)(chunk))
            changes(before, state)
    last = finish(state)
    last.as_message()
    json.dumps(last.dump())

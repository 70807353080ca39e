"""A closed node as JSON text again, for whoever wants to judge a value as it was written.

Numbers are spelled as the text spelled them, and a key that comes twice is there twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._quoting import quote
from .._tree.nodes import BooleanNode, ContainerNode, NumberNode, ObjectNode, StringNode

if TYPE_CHECKING:
    from .._tree.nodes import Node

__all__ = ["json_text"]


def json_text(node: Node) -> str:
    """The text of a node, without white space."""
    if not isinstance(node, ContainerNode):
        return leaf_text(node)
    pieces: list[str] = []
    to_write: list[Node | str] = [node]  # the last one first; what is text already is written as it is
    while to_write:
        item = to_write.pop()
        if isinstance(item, str):
            pieces.append(item)
        elif isinstance(item, ObjectNode):
            pieces.append("{")
            to_write.append("}")
            members = list(zip(item.keys, item.children, strict=True))
            for index in range(len(members) - 1, -1, -1):
                key, child = members[index]
                to_write += (child, ("," if index else "") + quote(key) + ":")
        elif isinstance(item, ContainerNode):
            pieces.append("[")
            to_write.append("]")
            children = item.children
            for index in range(len(children) - 1, -1, -1):
                to_write.append(children[index])
                if index:
                    to_write.append(",")
        else:
            pieces.append(leaf_text(item))
    return "".join(pieces)


def leaf_text(node: Node) -> str:
    """The text of a string, a number, a boolean or null."""
    if isinstance(node, StringNode):
        return quote(node.text)
    if isinstance(node, NumberNode):
        return node.raw
    if isinstance(node, BooleanNode):
        return "true" if node.flag else "false"
    return "null"

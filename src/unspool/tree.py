"""The nodes of a parsed document, as `ParserState.root` shows them.

>>> from unspool import create_state, parse_chunk
>>> from unspool.tree import ObjectNode, StringNode
>>> match parse_chunk(create_state(), '{"city": "Por').root:
...     case ObjectNode(keys, [StringNode(text)]):
...         print(keys, text)
('city',) Por
"""

from ._tree.nodes import (
    ArrayNode,
    BooleanNode,
    ContainerNode,
    Node,
    NullNode,
    NumberNode,
    ObjectNode,
    StringNode,
)

__all__ = ["ArrayNode", "BooleanNode", "ContainerNode", "Node", "NullNode", "NumberNode", "ObjectNode", "StringNode"]

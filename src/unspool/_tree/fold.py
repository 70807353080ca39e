"""Events to tree: the sink that grows it.

Nothing is renewed while text is read but the branch that got a child. Nodes for what is still open, and plain values,
are made when somebody asks. A fold that was forked leaves the branches it has as they are: it copies one before it
adds to it, so both sides go on without seeing each other.

What closes without having grown in this fragment must be the object that the fold before shows, whoever is asked
first, and whenever. So the value of such a thing is asked of the fold before; and a fold that shows nothing new at all
asks it for everything.
"""

# Compiled with mypyc.
from __future__ import annotations

from _thread import RLock
from typing import TYPE_CHECKING, Final, cast, final

from .._grammar.sink import Sink
from .._missing import MISSING
from .._sharing import appended
from .branch import Branch, next_owner
from .nodes import NO_PARENT, BooleanNode, Node, NullNode, NumberNode, StringNode

if TYPE_CHECKING:
    from .._errors import JSONSyntaxError
    from .._grammar.reader import Reader
    from .._native import i64

__all__ = ["SHOWING", "TreeFold"]

# What is shown is made when it is first asked for, and remembered in places that forks share. Whoever asks a fold that
# others may know holds this. It is held for microseconds, and nothing is waited for meanwhile.
SHOWING: Final = RLock()  # reentrant: a finalizer that runs meanwhile may ask as well

UNSEEN: Final = object()


@final
class TreeFold(Sink):
    """Grows the tree of one document; with several, of the newest, and `finished` has those that closed."""

    __slots__ = (
        "_before",
        "_closed",
        "_error_count",
        "_errors",
        "_first_top",
        "_had_grown",
        "_has_grown",
        "_owner",
        "_reader",
        "_root",
        "_same_as",
        "_same_tree_as",
        "_shown",
        "_shown_branch",
        "_string_id",
        "_string_key",
        "_top",
        "_value",
        "finished",
        "in_string",
        "shown_text",
    )

    def __init__(self, reader: Reader) -> None:
        self._reader = reader  # keeps the text of the open string
        self._owner = next_owner()
        self._top: Branch | None = None  # the innermost open container
        self._closed: Node | None = None  # the root, once it has closed
        self.in_string = False
        self._string_key: str | None = None
        self._string_id: i64 = 0
        self.shown_text = ""  # what was last shown of a string: if it is as long as the open one, it is all of it
        self._errors: list[JSONSyntaxError] | None = None
        self._error_count: i64 = 0
        self._before: TreeFold | None = None  # while a fragment is read: where it started
        self._same_as: TreeFold | None = None  # the fold that shows the same value as this one
        self._first_top: Branch | None = None  # where the fragment started
        self._same_tree_as: TreeFold | None = None  # the one that shows the same tree, too
        self._has_grown = False  # in this fragment
        self._had_grown = True  # before the string that is open began; if that was in this fragment
        self._value: object = UNSEEN  # what was last shown, until something grows
        self._root: object = UNSEEN
        self._shown: list[object] | None = (
            None  # once settled: what was shown of the open containers, from the innermost
        )
        self._shown_branch: Branch | None = None  # the last one of them
        self.finished: list[Node] | None = None  # the roots that closed since it was last emptied

    def fork(self, reader: Reader) -> TreeFold:
        """A fold that goes on from here on its own. This one must not go on: it keeps its branches."""
        other = TreeFold(reader)
        other._top = self._top
        other._closed = self._closed
        other.in_string = self.in_string
        other._string_key = self._string_key
        other._string_id = self._string_id
        other.shown_text = self.shown_text
        other._errors = self._errors
        other._error_count = self._error_count
        other._before = self
        other._first_top = other._top
        return other

    def go_on(self, reader: Reader) -> TreeFold:
        """A fork with branches of its own: for a handle, whose value must not depend on what other forks show."""
        other = self.fork(reader)
        branches: list[Branch] = []
        branch = self._top
        while branch is not None:
            branches.append(branch)
            branch = branch.outer
        outer: Branch | None = None
        with SHOWING:
            for branch in reversed(branches):
                copy = branch.copy(other._owner)
                copy.outer = outer
                outer = copy
        other._top = other._first_top = outer
        other.finished = self.finished
        return other

    def settle(self) -> None:
        """The fragment is read. From now on nothing changes, and what is shown is always the same."""
        before = self._before
        if before is not None and not self._has_grown:
            self._same_as = before if before._same_as is None else before._same_as
            if self._top is self._first_top and self._closed is before._closed and self.in_string == before.in_string:
                self._same_tree_as = before if before._same_tree_as is None else before._same_tree_as
        self._before = None
        if self._value is not UNSEEN and self._top is not None:
            self._keep_shown(self._top)

    def _keep_shown(self, top: Branch) -> None:
        """What was shown while this fold went on is what it shows from now on, in each of its open containers."""
        branches = [top]
        while branches[-1].outer is not None:
            branches.append(branches[-1].outer)
        value = self._value
        shown = [value]
        for branch in reversed(branches[:-1]):
            key = branch.key
            value = cast("list[object]", value)[-1] if key is None else cast("dict[str, object]", value)[key]
            shown.append(value)
        shown.reverse()
        self._shown = shown
        self._shown_branch = branches[-1]

    @property
    def errors(self) -> tuple[JSONSyntaxError, ...]:
        return () if self._errors is None else tuple(self._errors[: self._error_count])

    @property
    def has_closed(self) -> bool:
        """There is a root, and it is closed."""
        return self._closed is not None and self._top is None and not self.in_string

    # What can be asked of a fold that goes on: as it stands now.

    def value(self) -> object:
        """The plain value of the document; the same object until something grows."""
        value = self._value
        if value is UNSEEN:
            before = self._before
            if before is not None and not self._has_grown:
                with SHOWING:
                    value = before.show_value(0)
            else:
                value = self._make_value()
            self._value = value
        return value

    def _make_value(self) -> object:
        branch = self._top
        key: str | None = None
        value: object = MISSING
        if self.in_string:
            value = self.text()
            key = self._string_key
        elif branch is None and self._closed is not None:
            value = self._closed.value
        while branch is not None:
            value = branch.value(key, value)
            key = branch.key
            branch = branch.outer
        return value

    def text(self) -> str:
        """Of the string that is open, what is known."""
        text = self.shown_text
        if len(text) != self._reader.length:  # it only grows: the same length is the same text
            text = self.shown_text = self._reader.text()
        return text

    # What can be asked of a fold that is settled: always the same object. SHOWING must be held.

    def show_value(self, level: i64) -> object:
        """The plain value of the open container at this level; 0 is the whole document."""
        if self._same_as is not None:
            return self._same_as.show_value(level)
        top = self._top
        if top is None:
            return self._make_value()
        shown = self._shown
        if shown is None:
            shown = self._shown = []
        place = top.level - level
        while len(shown) <= place:
            known = len(shown)
            if known == 0:
                branch = top
                value = branch.value(self._string_key, self.text()) if self.in_string else branch.value(None, MISSING)
            else:
                inner = cast("Branch", self._shown_branch)
                branch = cast("Branch", inner.outer)
                value = branch.value(inner.key, shown[known - 1])
            if len(shown) == known:  # or somebody else, called by the garbage collector, went ahead
                shown.append(value)
                self._shown_branch = branch
        return shown[place]

    def show_text(self) -> str:
        """Of the string that is open, what is known."""
        return self.text() if self._same_as is None else self._same_as.show_text()

    def show_root(self) -> Node | None:
        """The tree of the document."""
        if self._same_tree_as is not None:
            return self._same_tree_as.show_root()
        if self._root is UNSEEN:
            root = self._make_root()
            if self._root is UNSEEN:
                self._root = root
        return cast("Node | None", self._root)

    def glance(self, with_values: bool) -> Node | None:
        """The tree as it stands now, of a fold that goes on in place. For those who make values of their own, what is
        open in it has none.
        """
        branch = self._top
        key: str | None = None
        node: Node | None = None
        value: object = MISSING
        if self.in_string:
            text = self.text()
            node = StringNode(self._string_id, self._parent_id(), False, text)
            key, value = self._string_key, text
        elif branch is None:
            node = self._closed
        while branch is not None:
            value = branch.value(key, value) if with_values else MISSING
            node = branch.open_node(key, node, value)
            key = branch.key
            branch = branch.outer
        return node

    def _make_root(self) -> Node | None:
        branch = self._top
        key: str | None = None
        node: Node | None = None
        if self.in_string:
            node = StringNode(self._string_id, self._parent_id(), False, self.show_text())
            key = self._string_key
        elif branch is None:
            node = self._closed
        while branch is not None:
            node = branch.open_node(key, node, self.show_value(branch.level))
            key = branch.key
            branch = branch.outer
        return node

    @property
    def hidden(self) -> Node | None:
        """The document before the string that is open at the root: if that is dropped, it is shown again."""
        return self._closed if self.in_string and self._top is None else None

    # What the reader tells.

    def start_container(self, is_object: bool, key: str | None, index: i64, node_id: i64, offset: i64) -> None:
        self._grow()
        self._top = Branch(self._owner, self._top, is_object, key, node_id)

    def end_container(self, is_object: bool, node_id: i64, offset: i64) -> None:
        branch = self._top
        assert branch is not None
        before = self._before
        if before is None or self._has_grown:
            plain = branch.value(None, MISSING)
        else:
            with SHOWING:
                plain = before.show_value(branch.level)
        self._top = branch.outer
        self._add(branch.key, branch.closed_node(plain))

    def start_string(self, key: str | None, index: i64, node_id: i64, offset: i64) -> None:
        self._had_grown = self._has_grown
        self._grow()
        self.in_string = True
        self._string_key = key
        self._string_id = node_id
        self.shown_text = ""

    def grow_string(self, text: str, offset: i64) -> None:
        self._grow()  # the reader keeps the text; it is asked for when somebody wants to see it

    def end_string(self, text: str, offset: i64) -> None:
        before = self._before
        if before is not None and not self._has_grown:
            with SHOWING:
                text = before.show_text()
        elif len(text) == len(self.shown_text):
            text = self.shown_text
        self.in_string = False
        self._add(self._string_key, StringNode(self._string_id, self._parent_id(), True, text))

    def whole_string(self, key: str | None, index: i64, text: str, node_id: i64, start: i64, end: i64) -> None:
        self._grow()
        self._add(key, StringNode(node_id, self._parent_id(), True, text))

    def number(self, key: str | None, index: i64, value: object, raw: str, node_id: i64, offset: i64) -> None:
        self._grow()
        self._add(key, NumberNode(node_id, self._parent_id(), value, raw))

    def literal(self, key: str | None, index: i64, value: bool | None, node_id: i64, offset: i64) -> None:
        self._grow()
        if value is None:
            self._add(key, NullNode(node_id, self._parent_id()))
        else:
            self._add(key, BooleanNode(node_id, self._parent_id(), value))

    def error(self, error: JSONSyntaxError, node_id: i64, goes_on: bool) -> None:
        self._errors = [error] if self._errors is None else appended(self._errors, self._error_count, error)
        self._error_count += 1
        if goes_on and self.in_string:
            self._grow()
            self._has_grown = self._had_grown  # dropped by the fragment that began it: nothing has changed
            self.in_string = False

    def _grow(self) -> None:
        self._has_grown = True
        self._value = UNSEEN

    def _parent_id(self) -> i64:
        top = self._top
        return NO_PARENT if top is None else top.id

    def _own_top(self) -> Branch:
        top = self._top
        assert top is not None
        if top.owner != self._owner:
            with SHOWING:
                top = self._top = top.copy(self._owner)
        return top

    def _add(self, key: str | None, node: Node) -> None:
        if self._top is None:
            self._closed = node
            if self.finished is None:
                self.finished = []
            self.finished.append(node)
        else:
            self._own_top().add(key, node)

"""A track: one text that grows piece by piece, and every state that it went through.

States never change, so going back in time is to look at an older one. Not each is kept: every so many pieces there is
one, and those between are made again from it when they are asked for. So memory stays bounded by a number of states,
and looking costs a bounded number of pieces.
"""

from __future__ import annotations

import codecs
from bisect import bisect_right
from collections import OrderedDict
from typing import TYPE_CHECKING, Final, final

from ..._options import Options
from ..._state import create_state, finalize, parse_chunk
from .natures import Nature, told_by

if TYPE_CHECKING:
    from ..._state import ParserState
    from .inputs import Piece

__all__ = ["Track"]

MOST_KEPT: Final = 4096  # states; then every second one goes
MOST_AT_HAND: Final = 8  # states that were looked at last
LONG: Final = 64 * 1024  # characters, or bytes, of a piece


@final
class Track:
    """One text. It is JSON, or prose; what comes first in it tells, unless its `nature` is known.

    Steps count from 1; step 0 is before anything came.
    """

    __slots__ = (
        "_at_hand",
        "_decoder",
        "_ends",
        "_first",
        "_fragments",
        "_kept",
        "_nature",
        "_options",
        "_restarts",
        "_steps",
        "_stride",
        "_texts",
        "ended_at",
        "name",
        "size",
        "state",
    )

    def __init__(self, name: str, nature: Nature | None = None, options: Options | None = None) -> None:
        self.name = name
        self.ended_at: int | None = None
        """The step with which the stream ended."""
        self.size = 0
        """How many bytes came."""
        self._nature = nature
        self._options = options or Options()
        self._fragments: list[str | bytes] = []
        self._texts: list[str] = []
        self._ends: list[int] = []  # how long the text is after each piece
        self._steps: list[int] = []  # the step of each piece
        self._restarts: list[int] = []  # the pieces that began anew
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._first = ""  # how it begins, as long as that does not tell what it is
        self._stride = 1
        self.state = create_state(self._options, extract=self.extract)
        """The last state. Of prose, it is the one before anything came."""
        self._kept = [self.state]  # after 0, stride, 2 * stride ... pieces
        self._at_hand: OrderedDict[int, ParserState] = OrderedDict()

    @property
    def is_json(self) -> bool:
        """Whether the text is JSON. Prose has no states."""
        return self._nature in (Nature.JSON, Nature.WRAPPED)

    @property
    def extract(self) -> bool:
        """Whether the JSON stands in other text."""
        return self._nature is Nature.WRAPPED

    @property
    def length(self) -> int:
        """How many characters came."""
        return self._ends[-1] if self._ends else 0

    @property
    def first_step(self) -> int:
        """The step that brought the first piece."""
        return self._steps[0] if self._steps else 0

    @property
    def last_step(self) -> int:
        """The step that brought the last one."""
        return self._steps[-1] if self._steps else 0

    def add(self, step: int, piece: Piece) -> str:
        """Take one more piece; what it is as text."""
        fragment = piece.fragment
        text = fragment if isinstance(fragment, str) else self._decoder.decode(fragment)
        if piece.restarts and self._fragments:
            self._restarts.append(len(self._fragments))
        self._fragments.append(fragment)
        self._texts.append(text)
        self._ends.append(self.length + len(text))
        self.size += len(fragment.encode(errors="surrogatepass") if isinstance(fragment, str) else fragment)
        self._steps.append(step)
        if self._nature is None:
            self._first = (self._first + text).lstrip()
            self._decide(told_by(self._first))
        elif self.is_json:
            self._keep(self._after(self.state, len(self._fragments) - 1), len(self._fragments))
        return text

    def _decide(self, nature: Nature | None) -> None:
        self._nature = nature
        if self.extract:
            self.state = create_state(self._options, extract=True)
            self._kept = [self.state]
        if self.is_json:
            for count in range(len(self._fragments)):
                self._keep(self._after(self.state, count), count + 1)

    def _after(self, state: ParserState, index: int) -> ParserState:
        """The state after the piece with this index, from the one before it."""
        # There may be as many as there are pieces; where none is as early, the last one is no candidate either.
        if self._restarts and self._restarts[bisect_right(self._restarts, index) - 1] == index:
            state = create_state(self._options, extract=self.extract)
        return parse_chunk(state, self._fragments[index])

    def _keep(self, state: ParserState, count: int) -> None:
        self.state = state
        if count % self._stride == 0:
            self._kept.append(state)
        if len(self._kept) > MOST_KEPT:
            del self._kept[1::2]
            self._stride *= 2

    def end(self, step: int) -> None:
        """The stream ended with this step."""
        self.ended_at = step
        if self._nature is None:
            self._decide(told_by(self._first, is_all=True))
        if self.is_json:
            self.state = finalize(self.state)

    # Looking back.

    def count_at(self, step: int) -> int:
        """How many pieces had come with this step."""
        return bisect_right(self._steps, step)

    def length_at(self, step: int) -> int:
        """How many characters had come."""
        count = self.count_at(step)
        return self._ends[count - 1] if count else 0

    def start_at(self, step: int) -> int:
        """Where the text begins that counts at this step: behind what was taken back."""
        count = self.count_at(step)
        begun = bisect_right(self._restarts, count - 1)
        return self._ends[self._restarts[begun - 1] - 1] if begun else 0

    def text(self, start: int = 0, stop: int | None = None) -> str:
        """The characters from `start` up to `stop`."""
        stop = self.length if stop is None else min(stop, self.length)
        if start >= stop:
            return ""
        first, last = bisect_right(self._ends, start), bisect_right(self._ends, stop - 1)
        begin = self._ends[first - 1] if first else 0
        return "".join(self._texts[first : last + 1])[start - begin : stop - begin]

    def state_at(self, step: int) -> ParserState:
        """The state after this step; for prose, and before anything came, the first one."""
        if not self.is_json:
            return self._kept[0]
        if self.ended_at is not None and step >= self.ended_at:
            return self.state
        count = self.count_at(step)
        state = self._at_hand.get(count)
        if state is None:
            state = self._make(count)
        self._at_hand[count] = state
        self._at_hand.move_to_end(count)
        while len(self._at_hand) > MOST_AT_HAND:
            self._at_hand.popitem(last=False)
        return state

    def _make(self, count: int) -> ParserState:
        """Make a state again, and the one before it, for those who compare the two.

        What was once shown of a state stays with it. So those that are kept are not handed out, or memory would grow
        with each look. But a long piece is not read again.
        """
        stride = self._stride
        begin = max(count - 2, 0) // stride * stride
        long = [at for at in range(begin, count // stride * stride) if len(self._fragments[at]) > LONG]
        if long:
            begin = (long[-1] // stride + 1) * stride
        state = self._kept[begin // stride]
        nearest = max([near for near in self._at_hand if begin < near <= count], default=None)
        if nearest is not None:
            begin, state = nearest, self._at_hand[nearest]
        before = state
        for index in range(begin, count):
            before, state = state, self._after(state, index)
        if begin < count:
            self._at_hand[count - 1] = before
        return state

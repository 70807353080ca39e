"""What a message is to be read as: the type of its answer, the tools that it may call, and how it is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, cast, final

from .._errors import OptionsError
from .._options import chosen_options
from ..typed._iterate import partial
from ._document import Document

if TYPE_CHECKING:
    from typing import Any, NoReturn

    from .._options import Options
    from ..typed._iterate import Resolver

__all__ = ["OUTPUT", "Config"]

OUTPUT: Final = "output"
"""The tool that a model without structured output is given for it. No other tool can have this name."""


@final
class Config:
    """How to read messages. It is made once and never changes; any number of messages can start from it.

    `response_schema` is the type of the answer: whatever `unspool.typed.partial` takes. The answer is the content, or,
    with `emulate_structured_output`, the arguments of a tool named "output", which is then never shown as a call.
    `tools` are the tools by name, each with the type of its arguments, or None. Only the choice with number `choice`
    is followed. With `extract` the answer may stand in other text. `early` is that of `partial`; `options` say how
    JSON is read, but for what follows a value and for what is done after errors, which is settled.

    A stream that ends without a reason to finish has most likely been cut: that is an error, unless
    ``requires_finish=False`` says that the provider never gives any.
    """

    __slots__ = (
        "_answer",
        "_blank",
        "choice",
        "early",
        "emulate_structured_output",
        "extract",
        "options",
        "requires_finish",
        "tools",
    )

    choice: int
    early: bool
    emulate_structured_output: bool
    extract: bool
    options: Options
    requires_finish: bool
    tools: dict[str, Resolver[Any] | None]
    """By name, each with what resolves its arguments."""
    _answer: Document | None
    _blank: Document

    def __init__(
        self,
        response_schema: object = None,
        *,
        emulate_structured_output: bool = False,
        tools: Mapping[str, object] | None = None,
        choice: int = 0,
        extract: bool = False,
        early: bool = False,
        requires_finish: bool = True,
        options: Options | None = None,
    ) -> None:
        if emulate_structured_output and response_schema is None:
            raise OptionsError("emulate_structured_output needs a response_schema")
        if tools is not None and not _are_named(tools):
            raise OptionsError("tools must be a mapping from names to types, or None")
        if tools is not None and OUTPUT in tools:
            raise OptionsError(f"a tool cannot be named {OUTPUT!r}: that is the name of the structured output")
        if type(choice) is not int or choice < 0:
            raise OptionsError("choice must be a whole number from 0 up")
        options = chosen_options(options).replace(multiple=False, trailing="ignore", on_error="stop")
        resolver = None if response_schema is None else partial(response_schema, early=early)
        types = {} if tools is None else dict(tools)
        settled: dict[str, object] = {
            "choice": choice,
            "early": early,
            "emulate_structured_output": emulate_structured_output,
            "extract": extract,
            "options": options,
            "requires_finish": requires_finish,
            "tools": {name: None if kind is None else partial(kind, early=early) for name, kind in types.items()},
            "_blank": Document.begin(options, None),
            "_answer": None if resolver is None else Document.begin(options, resolver, extract=extract),
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)

    @property
    def answer(self) -> Document | None:
        """The structured output before any text; None if there is to be none."""
        return self._answer

    def arguments_of(self, tool: str | None) -> Document:
        """The arguments of a tool before any text."""
        answer = self._answer
        if tool == OUTPUT and self.emulate_structured_output and answer is not None:
            return Document.begin(self.options, answer.resolver)
        resolver = None if tool is None else self.tools.get(tool)
        return self._blank if resolver is None else Document.begin(self.options, resolver)

    def as_dict(self) -> dict[str, object]:
        """What a state depends on, but for the types, as plain data."""
        return {
            "structured": self._answer is not None,
            "emulated": self.emulate_structured_output,
            "tools": {name: resolver is not None for name, resolver in self.tools.items()},
            "choice": self.choice,
            "extract": self.extract,
            "early": self.early,
            "requires_finish": self.requires_finish,
            "options": self.options.as_dict(),
        }

    def __copy__(self) -> Config:
        return self

    def __deepcopy__(self, memo: object) -> Config:
        return self

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a config does not change")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a config does not change")


def _are_named(tools: object) -> bool:
    return isinstance(tools, Mapping) and all(isinstance(name, str) for name in cast("Mapping[object, object]", tools))

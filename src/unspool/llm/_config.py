"""The configuration of a message: the type of its answer, its tools, and the options of the parser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, cast, final

from .._errors import OptionsError
from .._options import chosen_options
from ..typed._iterate import partial
from ._texts import JSONDocument

if TYPE_CHECKING:
    from typing import Any, Literal, NoReturn

    from .._options import Options
    from ..typed._iterate import Resolver

__all__ = ["MAX_PARTS", "OUTPUT", "Config"]

OUTPUT: Final = "output"
"""The name of the tool that emulates structured output. No other tool can have this name."""

MAX_PARTS: Final = 10_000


@final
class Config:
    """How to read messages. A config is immutable; any number of messages can start from it.

    `response_schema` is the type of the answer: any type that `unspool.typed.partial` accepts. ``True`` stands for JSON
    of any shape: the value is plain, and grows as the others do. The answer is the content or, with
    `emulate_structured_output`, the arguments of a tool named "output", which is never shown as a call. `tools` maps
    the names of tools to the types of their arguments, or to None. `choice` is the number of the choice to follow. With
    `extract` the answer may be surrounded by other text. `early` has the same meaning as in `partial`. `options` are
    the options of the JSON parser, except `multiple`, `trailing` and `on_error`, which are fixed. `repair` is the
    option of that name: it reads broken JSON in the answer and in arguments, with a log of each change. A message with
    more than `max_parts` parts fails; None means no limit.

    A stream without a finish reason was most likely cut, which is an error. Set ``requires_finish=False`` for a
    provider that never sends one.
    """

    __slots__ = (
        "_answer",
        "_blank",
        "choice",
        "early",
        "emulate_structured_output",
        "extract",
        "max_parts",
        "options",
        "requires_finish",
        "tools",
    )

    choice: int
    early: bool
    emulate_structured_output: bool
    extract: bool
    max_parts: int | None
    options: Options
    requires_finish: bool
    tools: dict[str, Resolver[Any] | None]
    """The resolvers of the arguments by the names of the tools."""
    _answer: JSONDocument | None
    _blank: JSONDocument

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
        max_parts: int | None = MAX_PARTS,
        options: Options | None = None,
        repair: Literal["none", "spelling", "guess"] | None = None,
    ) -> None:
        if response_schema is False:
            raise OptionsError("no value fits response_schema=False: pass None for text, or True for any JSON")
        if emulate_structured_output and response_schema is None:
            raise OptionsError("emulate_structured_output needs a response_schema")
        if tools is not None and not _are_named(tools):
            raise OptionsError("tools must be a mapping from names to types, or None")
        if tools is not None and OUTPUT in tools:
            raise OptionsError(f"a tool cannot be named {OUTPUT!r}: that is the name of the structured output")
        if type(choice) is not int or choice < 0:
            raise OptionsError("choice must be a whole number from 0 up")
        if max_parts is not None and (type(max_parts) is not int or max_parts < 1):
            raise OptionsError("max_parts must be a whole number from 1 up, or None")
        options = chosen_options(options).replace(multiple=False, trailing="ignore", on_error="stop")
        if repair is not None:
            options = options.replace(repair=repair)
        resolver = None if response_schema is None else partial(response_schema, early=early)
        types = {} if tools is None else dict(tools)
        settled: dict[str, object] = {
            "choice": choice,
            "early": early,
            "emulate_structured_output": emulate_structured_output,
            "extract": extract,
            "max_parts": max_parts,
            "options": options,
            "requires_finish": requires_finish,
            "tools": {name: None if kind is None else partial(kind, early=early) for name, kind in types.items()},
            "_blank": JSONDocument.begin(options, None),
            "_answer": None if resolver is None else JSONDocument.begin(options, resolver, extract=extract),
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)

    @property
    def answer(self) -> JSONDocument | None:
        """The structured output before any text; None without a `response_schema`."""
        return self._answer

    def arguments_of(self, tool: str | None) -> JSONDocument:
        """Return the arguments of a tool before any text."""
        answer = self._answer
        if tool == OUTPUT and self.emulate_structured_output and answer is not None:
            return JSONDocument.begin(self.options, answer.resolver, unwraps=True)
        resolver = None if tool is None else self.tools.get(tool)
        return self._blank if resolver is None else JSONDocument.begin(self.options, resolver, unwraps=True)

    def for_choice(self, choice: int) -> Config:
        """Return the same config for another choice."""
        config = object.__new__(Config)
        for name in Config.__slots__:
            object.__setattr__(config, name, choice if name == "choice" else getattr(self, name))
        return config

    def as_dict(self) -> dict[str, object]:
        """Return the settings that a state depends on, without the types, as plain data."""
        return {
            "structured": self._answer is not None,
            "emulated": self.emulate_structured_output,
            "tools": {name: resolver is not None for name, resolver in self.tools.items()},
            "choice": self.choice,
            "extract": self.extract,
            "early": self.early,
            "requires_finish": self.requires_finish,
            "max_parts": self.max_parts,
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

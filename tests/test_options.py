"""_options.py: what may be asked of a reader, and what is refused by name."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from unspool import FragmentParser, Options, OptionsError, ValueParser, create_state
from unspool._options import CHOICES, FLAGS, LIMITS

WRONG: dict[tuple[str, ...], list[object]] = {
    LIMITS: [-1, 1.0, True, False, "1", []],
    tuple(CHOICES): ["", "LAST", None, True, 0, []],
    FLAGS: [0, 1, None, "", "yes", []],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for names, values in WRONG.items() for name in names for value in values]
)
def test_wrong_values_are_refused_by_name(name: str, value: object) -> None:
    """A value that an option cannot have is refused, and the message names the option and what it takes."""
    wrong: dict[str, Any] = {name: value}
    with pytest.raises(OptionsError, match=rf"^{name} must be .* or .*$"):
        Options(**wrong)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name in LIMITS for value in (None, 0, 1, 10**30)),
        *((name, value) for name, choices in CHOICES.items() for value in choices),
        *((name, value) for name in FLAGS for value in (True, False)),
    ],
)
def test_right_values_are_taken(name: str, value: object) -> None:
    """Every value that the documentation names is taken, and a parser can be made with it."""
    right: dict[str, Any] = {name: value}
    if name == "latex":
        right["repair"] = "spelling"
    options = Options(**right)
    assert getattr(options, name) == value
    assert isinstance(FragmentParser(options).feed("1"), list)


def test_every_option_is_checked() -> None:
    """Each option is a limit, a choice or a flag, and `multiple` is a flag or a word: all of them are checked."""
    assert set(Options().as_dict()) == {*LIMITS, *CHOICES, *FLAGS, "multiple"}
    assert set(inspect.signature(Options).parameters) == {*LIMITS, *CHOICES, *FLAGS, "multiple"}


def test_unknown_options_are_refused() -> None:
    """An option that there is not, and an option without its name, are refused."""
    unknown: dict[str, Any] = {"max_width": 1}
    with pytest.raises(TypeError, match="max_width"):
        Options(**unknown)
    nameless: list[Any] = [128]
    with pytest.raises(TypeError, match="positional"):
        Options(*nameless)


def test_options_are_values() -> None:
    """Options compare and hash by what they say, and survive pickling and copying."""
    options = Options(max_depth=3, multiple=True)
    assert options == Options(multiple=True, max_depth=3) != Options()
    assert options != {"max_depth": 3, "multiple": True}
    assert hash(options) == hash(Options(multiple=True, max_depth=3))
    for twin in (pickle.loads(pickle.dumps(options)), copy.copy(options), copy.deepcopy(options)):
        assert twin == options


def test_options_do_not_change() -> None:
    """Options are frozen: nothing can be set, added or deleted; `replace` makes others."""
    options = Options(max_depth=3)
    change: Any = options
    for name in ("max_depth", "max_width"):
        with pytest.raises(AttributeError):
            setattr(change, name, 4)
    with pytest.raises(AttributeError):
        del change.max_depth
    other = options.replace(max_key=7)
    assert (options, other) == (Options(max_depth=3), Options(max_depth=3, max_key=7))
    with pytest.raises(OptionsError, match="max_key"):
        options.replace(max_key=-1)
    assert Options(**other.as_dict()) == other


@pytest.mark.parametrize("make", [FragmentParser, ValueParser, create_state])
@pytest.mark.parametrize("options", [5, 0, {}, {"max_depth": 3}, "strict", Options], ids=repr)
def test_only_options_are_options(make: Callable[..., object], options: object) -> None:
    """Whoever takes options takes `Options` or None: nothing else passes for them, not even what is empty."""
    with pytest.raises(OptionsError, match=rf"^options must be Options or None, not {type(options).__name__}$"):
        make(options)


def test_repr() -> None:
    """The repr names what differs from the defaults, and can be read back."""
    assert repr(Options()) == "Options()"
    assert repr(Options(max_chars=None, surrogates="keep")) == "Options(max_chars=None, surrogates='keep')"

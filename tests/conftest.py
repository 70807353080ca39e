"""What holds for every test: how many examples hypothesis tries, and where the shared data is.

HYPOTHESIS_PROFILE chooses the number of examples: brief, quick, default, or long (`make test-long`).
"""

from __future__ import annotations

import gc
import os
import signal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import browser as browsers
from tests.support import shared as shared_folder
from tests.support.browser import browser, new_page, page, server, shared  # noqa: F401 - fixtures

if TYPE_CHECKING:
    from pathlib import Path

# No deadline: whether a reading is quick enough is for the tests that measure it, not for a busy machine.
# The same examples in each run: what fails, fails for everybody. `make test-long` and `make fuzz` try new ones.
settings.register_profile("default", deadline=None, max_examples=100, print_blob=True, derandomize=True)
settings.register_profile("quick", settings.get_profile("default"), max_examples=25)
settings.register_profile("brief", settings.get_profile("default"), max_examples=10)
settings.register_profile("long", settings.get_profile("default"), max_examples=5000, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# Whoever runs the tests in the background of a script has Ctrl-C ignored, and what they start would ignore it, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

EITHER = frozenset({"bench", "build_tools", "tools", "peers", "docs", "relay"})
"""The folders of tests about code that is never compiled. Many of them take long to start."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name in EITHER:
            item.add_marker(pytest.mark.either)


@settings(max_examples=1, database=None)
@given(st.none())
def first_property(_: None) -> None:
    """With its first examples, hypothesis makes a generator of random numbers, and asks the collector who holds it."""


def pytest_collection_finish() -> None:
    """The collector need not look at thousands of tests and imported modules again while the tests run."""
    first_property()
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    browsers.close_unless_needed(nextitem)


@pytest.fixture
def shared_data() -> Path:
    """The folder ../shared/data; a test that asks for it is skipped where it is absent."""
    folder = shared_folder.shared_data()
    if folder is None:
        pytest.skip(shared_folder.NOT_HERE)
    return folder

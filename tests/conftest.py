"""What holds for every test: how many examples hypothesis tries, and where the shared data is.

HYPOTHESIS_PROFILE chooses the number of examples: quick, default, or long (`make test-long`).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.support import browser as browsers
from tests.support import shared as shared_folder
from tests.support.browser import browser, new_page, page, server, shared  # noqa: F401 - fixtures

if TYPE_CHECKING:
    from pathlib import Path

# No deadline: whether a reading is quick enough is for the tests that measure it, not for a busy machine.
settings.register_profile("default", deadline=None, max_examples=100, print_blob=True)
settings.register_profile("quick", settings.get_profile("default"), max_examples=25)
settings.register_profile("long", settings.get_profile("default"), max_examples=5000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

EITHER = {
    "test_accumulators.py",
    "test_cli_conditions.py",
    "test_cli_record.py",
    "test_cli_replay.py",
    "test_clients.py",
    "test_coming_from.py",
    "test_comparison.py",
    "test_examples.py",
    "test_links.py",
    "test_peers.py",
    "test_provider_pages.py",
    "test_reference.py",
    "test_studio_load.py",
    "test_studio_page.py",
    "test_studio_page_panels.py",
    "test_studio_page_streams.py",
    "test_support.py",
}
"""Peers, clients, servers and pages: slow to start, and the same on both builds."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.name in EITHER:
            item.add_marker(pytest.mark.either)


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

"""The fixtures of the relay's tests."""

from tests.support.relays import make_log, redis  # noqa: F401 - fixtures

"""Fixtures of pytest. Nothing is started, nor imported, before a test asks for one."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from roost.testing import RoostServer


@pytest.fixture(scope="session")
def roost_server() -> "Iterator[RoostServer]":
    """A server for all tests; override it to start one with a catalogue, a dialect or TLS."""
    from roost.testing import RoostServer

    with RoostServer() as server:
        yield server


@pytest.fixture
def roost_cloud(roost_server: "RoostServer") -> "RoostServer":
    """The server of all tests, as if it were new: reset before the test."""
    roost_server.reset()
    return roost_server

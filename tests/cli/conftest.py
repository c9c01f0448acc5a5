"""One server for the tests that leave it running."""

from collections.abc import Iterator

import pytest

from tests.cli.process import Server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server.start(tmp_path_factory.mktemp("served") / "state")
    yield server
    server.end()

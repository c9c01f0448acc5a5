"""What a command of the tests' own process does to logs: nothing that a later test would notice."""

import sys

import pytest
import structlog
from structlog.testing import capture_logs

from roost.app.logs import configure_logs

_log = structlog.get_logger(__name__)


def test_loggers_that_commands_have_used_are_captured(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    configure_logs()
    _log.info("of_a_command")
    assert b"of_a_command" in capfdbinary.readouterr().err
    configure_logs()
    with capture_logs() as logs:
        _log.info("of_a_test")
    assert [line["event"] for line in logs] == ["of_a_test"]


@pytest.mark.parametrize("turn", [1, 2])
def test_each_test_has_logs_as_they_were(turn: int) -> None:
    """Otherwise the second would log where the first one did."""
    marked = structlog.BytesLoggerFactory(file=sys.stderr.buffer)
    assert not isinstance(structlog.get_config()["logger_factory"], type(marked)), turn
    structlog.configure(logger_factory=marked)

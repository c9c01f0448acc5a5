"""What the logs of writes that are kept beside backups have in common, whichever program wrote
them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import structlog

from roost.core.engine import EngineError

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Account:
    """What is there, and what should be."""

    oldest: datetime | None
    """The first moment (UTC) that can be reached."""
    lost: int
    spare: int


@contextmanager
def unkept() -> Iterator[None]:
    """What the block fails to keep is missed later on, and keeps nothing from going on now."""
    try:
        yield
    except EngineError as error:
        _log.warning("database_logs_not_kept", reason=str(error))


def utc_now() -> datetime:
    """UTC, in whole seconds."""
    return datetime.now(UTC).replace(tzinfo=None, microsecond=0)


def changed(path: Path) -> datetime:
    """When a file was written last (UTC)."""
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).replace(tzinfo=None)


def whole_from(backup: Path) -> datetime:
    """The first moment (UTC, in whole seconds) of which all is in a backup that is complete."""
    return changed(backup).replace(microsecond=0) + timedelta(seconds=1)

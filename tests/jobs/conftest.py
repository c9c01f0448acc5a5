"""Fixtures of the job tests."""

from collections.abc import Iterator, MutableMapping

import pytest
from structlog.testing import capture_logs

from roost.store import Store
from tests.jobs.notes import TABLE

Logs = list[MutableMapping[str, object]]


@pytest.fixture(autouse=True)
def logs() -> Iterator[Logs]:
    """What was logged; the expected failures would fill the report otherwise."""
    with capture_logs() as captured:
        yield captured


@pytest.fixture
async def noted(store: Store) -> Store:
    """A store with a table for notes."""
    await store.execute(TABLE)
    return store

"""Fixtures of the job tests."""

import pytest

from roost.store import Store
from tests.jobs.notes import TABLE


@pytest.fixture
async def noted(store: Store) -> Store:
    """A store with a table for notes."""
    await store.execute(TABLE)
    return store

"""The contract of VolumeEngine, held by RBD images of a storage cluster."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.engines.ceph_host import CephHarness, open_ceph
from tests.engines.test_volume_contract import *  # noqa: F403

pytestmark = pytest.mark.ceph


@pytest_asyncio.fixture(scope="module")
async def harness(
    ceph_conf: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[CephHarness]:
    async with open_ceph(tmp_path_factory.mktemp("engine"), ceph_conf) as harness:
        yield harness

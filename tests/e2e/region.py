"""A Roost whose only region runs real guests."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from roost.engines.qemu.images.debian12 import DEBIAN12
from roost.engines.qemu.images.mini import MINI
from roost.engines.qemu.images.store import ImageInfo
from tests.e2e.cloud import Cloud, opened
from tests.e2e.host import Host
from tests.e2e.local_catalog import write_catalog
from tests.engines.harness import Pools, claim_pools
from tests.engines.shell import Shell, make_shell
from tests.support.client import Json
from tests.support.images import ensure_debian12, ensure_mini, image_root
from tests.support.instances import PASSWORD

_ENSURE = {MINI.id: ensure_mini, DEBIAN12.id: ensure_debian12}


@dataclass(frozen=True)
class Region:
    """With a key that every instance of `body` lets in."""

    cloud: Cloud
    host: Host
    shell: Shell
    image: ImageInfo

    def body(self, label: str, **more: object) -> Json:
        """Of an instance that is to be created."""
        return {
            "region": "local",
            "type": "g1-tiny-1",
            "image": self.image.id,
            "label": label,
            "root_pass": PASSWORD,
            "authorized_keys": [self.shell.public_key],
            "swap_size": 16,
            **more,
        }


@asynccontextmanager
async def opened_region(
    folder: Path,
    image: ImageInfo,
    elsewhere: Pools | None = None,
    host_address: str | None = None,
    **options: object,
) -> AsyncIterator[Region]:
    """Not served yet; needs root. After the block nothing of it is left on this machine.

    With another region on the pools `elsewhere`. Guests of the first one reach what the host
    reaches, and databases at `host_address`, if it is given.
    """
    if os.geteuid() != 0:
        pytest.skip("virtual machines with networks need root")
    await asyncio.to_thread(_ENSURE[image.id])
    state, pools = folder / "state", claim_pools()
    catalog = folder / "catalog.toml"
    if host_address is None:
        write_catalog(catalog, pools, image, elsewhere)
    else:
        write_catalog(catalog, pools, image, elsewhere, "nat", databases=True)
        options |= {"databases_listen": host_address, "databases_host": host_address}
    host = Host(state, pools)
    region_options = {"engines": "local", "catalog": catalog, "images": image_root(), **options}
    async with opened(state, **region_options) as cloud:
        yield Region(cloud, host, make_shell(folder, host.network), image)
    assert host.remains() == []

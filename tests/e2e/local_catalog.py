"""A catalogue of one region on this machine's engines, or of two, with pools of their own."""

import json
from collections.abc import Sequence
from pathlib import Path

from roost.core.catalog.entries import Uplink
from roost.engines.qemu.images.store import ImageInfo
from tests.engines.harness import Pools

REGION = "local"
ELSEWHERE = "elsewhere"

_TYPES = (("g1-tiny-1", 128, 256), ("g1-micro-1", 512, 5120), ("g1-roomy-1", 2048, 256))
"""Id, MB of memory, MB of disk."""

_REGION = """
[[regions]]
id = "{id}"
label = "This machine"
country = "us"
engine = "local"
capabilities = {capabilities}
resolvers = {{ ipv4 = ["{pools.ipv4.ip}"], ipv6 = ["{pools.ipv6.ip}"] }}
public_ipv4 = [{{ cidr = "{pools.ipv4.network}", gateway = "{pools.ipv4.ip}" }}]
private_ipv4 = ["{private}"]
ipv6 = {{ cidr = "{pools.ipv6.network}", gateway = "{pools.ipv6.ip}" }}
uplink = "{uplink}"
host_ports = {host_ports}
"""

_CAPABILITIES = ("Computes", "Backups", "Block Storage", "Metadata", "Vlans", "VPCs")

_DATABASES = """
[[database_engines]]
id = "mysql/10.11"
server = "mariadb"
total_disk_size_gb = 15
used_disk_size_gb = 2

[[database_types]]
id = "g1-nano-1"
label = "g1-nano-1"
class = "nanode"
vcpus = 1
memory = 1024
disk = 25600
engines.mysql = [{ quantity = 1, price = { hourly = 0.01, monthly = 1.0 } }]
"""

_OBJECTS = """
[[object_clusters]]
id = "local-1"
region = "local"
domain = "local-1.objects.roost.internal"
"""

_TYPE = """
[[compute_types]]
id = "{id}"
label = "{id}"
class = "nanode"
vcpus = 1
memory = {memory}
disk = {disk}
transfer = 1000
network_out = 1000
price = {{ hourly = 0.01, monthly = 1.0 }}
addons.backups.price = {{ hourly = 0.01, monthly = 1.0 }}
"""

_IMAGE = """
[[images]]
id = "{id}"
label = "{id}"
vendor = "Roost"
size = {size}
created = 2026-01-01T00:00:00
capabilities = {capabilities}
"""


def write_catalog(
    path: Path,
    pools: Pools,
    image: ImageInfo,
    elsewhere: Pools | None = None,
    uplink: Uplink = "none",
    *,
    databases: bool = False,
    everything: bool = False,
) -> Path:
    """With one image, which must be on this host already, and a region for each of the pools.

    `databases`: the first one has them, too, and its guests reach their ports. `everything`: it has
    them, buckets and firewalls.
    """
    more = ["Managed Databases"] * (databases or everything)
    more += ["Object Storage", "Cloud Firewall"] * everything
    capabilities = '["cloud-init"]' if image.cloud_init else "[]"
    parts = [
        "kernels = []",
        _region(REGION, pools, "192.168.128.0/19", uplink, more, databases=databases),
        *([] if elsewhere is None else [_region(ELSEWHERE, elsewhere, "192.168.160.0/19")]),
        *([_DATABASES] if databases or everything else []),
        *([_OBJECTS] if everything else []),
        *(_TYPE.format(id=name, memory=memory, disk=disk) for name, memory, disk in _TYPES),
        _IMAGE.format(id=image.id, size=image.virtual_size, capabilities=capabilities),
    ]
    path.write_text("\n".join(parts))
    return path


def _region(
    region: str,
    pools: Pools,
    private: str,
    uplink: Uplink = "none",
    more: Sequence[str] = (),
    *,
    databases: bool = False,
) -> str:
    return _REGION.format(
        id=region,
        pools=pools,
        private=private,
        uplink=uplink,
        capabilities=json.dumps([*_CAPABILITIES, *more]),
        host_ports=json.dumps(["tcp/20000-31999"] if databases else []),
    )

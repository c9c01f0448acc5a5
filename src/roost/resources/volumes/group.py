"""What the group consists of."""

from roost.core.group import Group
from roost.resources.volumes import endpoints, engine_queries, fsck, fsck_slots, jobs, limits
from roost.resources.volumes.attachments import VolumeAttachments
from roost.resources.volumes.engine import VOLUME_PLANE
from roost.resources.volumes.entity import VOLUME

GROUP = Group(
    endpoints=(endpoints,),
    entities=(VOLUME,),
    jobs=jobs.KINDS,
    checks=(fsck_slots.check_slots, fsck.check_volumes),
    limits=(limits.VOLUMES,),
    neighbours=(VolumeAttachments(),),
    holders=((VOLUME_PLANE, engine_queries.engines_in_use),),
    promises=(limits.promise,),
)

"""What the group consists of."""

from roost.core.context import Context
from roost.core.endings import Ending
from roost.core.group import Group
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.images import endpoints, fsck, jobs, kept_jobs, queries, service, upload_jobs
from roost.resources.images.neighbours import PrivateImages
from roost.resources.images.queries import IMAGE


async def _end(context: Context, image_id: str) -> None:
    await service.delete(context, image_id)


GROUP = Group(
    endpoints=(endpoints,),
    entities=(IMAGE,),
    jobs=(*jobs.KINDS, *upload_jobs.KINDS, *kept_jobs.KINDS),
    schedules=(upload_jobs.EVERY_MINUTE, kept_jobs.EVERY_TEN_MINUTES),
    billables=(queries.CHARGED,),
    checks=(fsck.check_images,),
    limits=(queries.LIMIT,),
    endings=(Ending("image", queries.HELD, _end),),
    holders=((INSTANCE_PLANE, queries.engines_in_use),),
    neighbours=(PrivateImages(),),
)

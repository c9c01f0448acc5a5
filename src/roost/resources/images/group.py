"""What the group consists of."""

from roost.core.group import Group
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.images import endings, endpoints, fsck, jobs, kept_jobs, queries, upload_jobs
from roost.resources.images.neighbours import PrivateImages
from roost.resources.images.queries import IMAGE

GROUP = Group(
    endpoints=(endpoints,),
    entities=(IMAGE,),
    jobs=(*jobs.KINDS, *upload_jobs.KINDS, *kept_jobs.KINDS),
    schedules=(upload_jobs.EVERY_MINUTE, kept_jobs.EVERY_TEN_MINUTES),
    billables=(queries.CHARGED,),
    checks=(fsck.check_images,),
    limits=(queries.LIMIT,),
    endings=(endings.IMAGES,),
    holders=((INSTANCE_PLANE, queries.engines_in_use),),
    neighbours=(PrivateImages(),),
)

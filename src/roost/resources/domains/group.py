"""What the group consists of."""

from roost.core.group import Group
from roost.resources.domains import endings, endpoints, fsck, jobs, queries, record_endpoints
from roost.resources.domains.queries import DOMAIN

GROUP = Group(
    endpoints=(
        endpoints,
        record_endpoints,
    ),
    entities=(DOMAIN,),
    jobs=jobs.KINDS,
    checks=(fsck.check_zones,),
    limits=(queries.LIMIT,),
    endings=(endings.DOMAINS,),
)

"""What the group consists of."""

from roost.core.group import Group
from roost.core.public_url import PublicUrl
from roost.resources.oauth_clients import endings, endpoints, queries
from roost.resources.oauth_clients.entity import OAUTH_CLIENT

GROUP = Group(
    endpoints=(endpoints,),
    entities=(OAUTH_CLIENT,),
    limits=(queries.LIMIT,),
    endings=(endings.OAUTH_CLIENTS,),
    services=lambda settings: (PublicUrl(settings.public_url),),
)

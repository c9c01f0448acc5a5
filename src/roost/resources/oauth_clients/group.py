"""What the group consists of."""

from roost.core.group import Group
from roost.resources.oauth_clients import endings, endpoints, queries
from roost.resources.oauth_clients.queries import OAUTH_CLIENT, PublicUrl

GROUP = Group(
    endpoints=(endpoints,),
    entities=(OAUTH_CLIENT,),
    limits=(queries.LIMIT,),
    endings=(endings.OAUTH_CLIENTS,),
    services=lambda settings: (PublicUrl(settings.public_url),),
)

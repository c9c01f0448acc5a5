"""What a narrowed token may ask for: what its restrictions say, worked out from declarations.

Under a restriction of entities all is refused that is not about one entity that the path names, a
list of those that are left or of their events, the making of one, or for everybody without a token;
so that a new operation is refused until its declaration says what it is about.
"""

import orjson

from roost.core.access import left_of
from roost.core.context import Context
from roost.errors import restricted
from roost.web import spending
from roost.web.grants import Global, Listed, OnEntity, entity_number
from roost.web.registry import Endpoint
from roost.web.reply import Reply
from roost.web.routing import Params, path_params

ACCOUNT = "no narrowed token changes the account or the profile"
KEYS = "no narrowed token makes keys or links"

ALWAYS = ("explain_request", "send_batch")
"""What any narrowed token may ask, from where it may ask at all; the requests of a batch are looked
at one by one."""
MARKS = ("mark_event_read", "mark_event_seen")
"""Changes below `/account` that change nothing of it."""
EVENTS = ("list_events", "stream_events", "view_event")
"""They show events about entities that are left, and no others."""
WITHOUT_RESTRICTION = (
    *("create_object_key", "update_object_key", "create_object_url", "upload_image"),
)
"""What they answer opens something, for a while at least, to whoever has it."""

PARAMETERS = {
    "computeId": "compute",
    "domainId": "domain",
    "firewallId": "firewall",
    "imageId": "image",
    "instanceId": "database",
    "nodeBalancerId": "nodebalancer",
    "stackscriptId": "stackscript",
    "volumeId": "volume",
    "vpcId": "vpc",
}
"""The kinds of entities that parameters of paths name."""

CREATED = {
    "add_computes": "compute",
    "add_databases": "database",
    "add_domains": "domain",
    "add_firewalls": "firewall",
    "add_images": "image",
    "add_nodebalancers": "nodebalancer",
    "add_stackscripts": "stackscript",
    "add_volumes": "volume",
    "add_vpcs": "vpc",
}
"""What a right of the account is for making."""
COPIES = {"clone_domain": "domain", "clone_instance": "compute", "clone_volume": "volume"}
"""Operations on an entity that make another one."""
PRICED_AT_END = ("create_image",)
"""What they make costs by a size that is known when their job has ended."""


async def require_within(endpoint: Endpoint, context: Context, params: Params, client: str) -> None:
    """Raises 403 unless a token's restrictions leave the operation, called from this address."""
    refused = await refusal(endpoint, context, params, client)
    if refused is not None:
        raise restricted(refused)


async def refusal(endpoint: Endpoint, context: Context, params: Params, client: str) -> str | None:
    """The restriction that does not allow the operation, or why no narrowed token may."""
    narrowing = None if context.caller is None else context.caller.narrowing
    if narrowing is None:
        return None
    refused = narrowing.refuses(endpoint.name, endpoint.method, client)
    if endpoint.name in ALWAYS:
        return refused if refused == "networks" else None
    if narrowing.budgets and prices_later(endpoint):
        refused = refused or spending.NAME
    refused = refused or closed(endpoint)
    if refused is not None or context.names_only is None:
        return refused
    return None if await _leaves(endpoint, context, params) else context.names_only


def closed(endpoint: Endpoint) -> str | None:
    """Why no narrowed token may: what it would make is not restricted as it is."""
    if endpoint.name in WITHOUT_RESTRICTION:
        return KEYS
    of_account = endpoint.path.startswith(("/account", "/profile"))
    return ACCOUNT if endpoint.writes and of_account and endpoint.name not in MARKS else None


def prices_later(endpoint: Endpoint) -> bool:
    """Whether a job of it makes something dearer, when no request can be refused any more."""
    foresees = endpoint.dry_run is not None and endpoint.dry_run.later is not None
    return endpoint.name in PRICED_AT_END or (foresees and endpoint.method != "DELETE")


def named_in(endpoint: Endpoint) -> tuple[str, str] | None:
    """The kind of the entity that the path names, and the parameter that does."""
    if isinstance(endpoint.grant, OnEntity):
        return endpoint.grant.kind, endpoint.grant.parameter
    found = next(iter(path_params(endpoint.path)), "")
    return (PARAMETERS[found], found) if found in PARAMETERS else None


def created_by(endpoint: Endpoint) -> str | None:
    """The kind of the entity that it makes, whose record it answers."""
    if isinstance(endpoint.grant, Global):
        return CREATED.get(endpoint.grant.name)
    return COPIES.get(endpoint.name)


async def _leaves(endpoint: Endpoint, context: Context, params: Params) -> bool:
    if isinstance(endpoint.grant, Listed) or endpoint.name in EVENTS:
        return True
    named = named_in(endpoint)
    if named is None:
        return endpoint.public or created_by(endpoint) is not None
    kind, parameter = named
    number = entity_number(params[parameter])
    if number is None:
        return endpoint.public
    return number in await left_of(context, kind, (number,))


async def require_created(endpoint: Endpoint, context: Context, reply: Reply) -> None:
    """Raises 403 when a write has made an entity that the token may not name; the caller takes
    it back."""
    refused = context.names_only
    if refused is None or not endpoint.writes:
        return
    kind = created_by(endpoint)
    if kind is None:
        return
    made = entity_number(orjson.loads(reply.body).get("id", ""))
    if made is None or made not in await left_of(context, kind, (made,)):
        raise restricted(refused)

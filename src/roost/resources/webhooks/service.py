"""Use cases of webhooks."""

from roost.core.context import Context
from roost.core.events import change_queries, log
from roost.core.hosts import queries as host_queries
from roost.errors import invalid, not_found
from roost.resources.webhooks import queries, rules
from roost.resources.webhooks.engine import Outside
from roost.resources.webhooks.entity import WEBHOOK
from roost.resources.webhooks.queries import WebhookFacts
from roost.secrets import Box


async def lock(context: Context, webhook_id: int) -> WebhookFacts:
    """ApiError 404 for one that the account does not have."""
    found = await queries.lock(context.db, context.account_id, webhook_id)
    if found is None:
        raise not_found()
    return found


async def check_url(context: Context, url: str) -> None:
    """ApiError 400 for a receiver that no message may go to."""
    hosts = await host_queries.addresses(context.db)
    refusal = context.get(Outside).receivers.refusal(url, hosts)
    if refusal is not None:
        raise invalid(refusal, "url")


async def create(
    context: Context,
    label: str,
    url: str,
    actions: list[str],
    entity_types: list[str],
    revision: str,
) -> tuple[int, str]:
    """Its id and its secret; it is told of what comes from now on."""
    secret = rules.new_secret()
    webhook_id = await queries.insert(
        context.db,
        context.account_id,
        label,
        url,
        actions,
        entity_types,
        context.get(Box).seal(secret.encode()),
        await change_queries.last_position(context.db),
        context.clock.seconds(),
        revision,
    )
    await log.notify(context, "webhook_create", WEBHOOK.entity(webhook_id, label))
    return webhook_id, secret


async def rotate(context: Context, webhook_id: int) -> str:
    """The new secret."""
    found, now = await lock(context, webhook_id), context.clock.seconds()
    secret = rules.new_secret()
    sealed = context.get(Box).seal(secret.encode())
    await queries.rotate(context.db, found.id, sealed, now + rules.OVERLAP, now)
    await log.notify(context, "webhook_secret_rotate", WEBHOOK.entity(found.id, found.label))
    return secret


async def replay(context: Context, webhook_id: int, event_id: int) -> None:
    """Tell of an event and all after it once more; ApiError 400 for one that is not known."""
    found = await lock(context, webhook_id)
    position = await queries.position_of(context.db, context.account_id, event_id)
    if position is None:
        raise invalid("event_id is not valid", "event_id")
    now = context.clock.seconds()
    await queries.go_back(context.db, found.id, position - 1, now)
    await queries.enable(context.db, found.id, now)


async def delete(context: Context, webhook_id: int) -> None:
    """ApiError 404 for one that the account does not have."""
    found = await lock(context, webhook_id)
    await queries.delete(context.db, found.id)
    await log.notify(context, "webhook_delete", WEBHOOK.entity(found.id, found.label))

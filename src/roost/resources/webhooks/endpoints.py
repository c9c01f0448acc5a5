"""What the API offers: webhooks of an account."""

import orjson

from roost.core.events import log
from roost.core.identity import UserType
from roost.core.limits.check import check_limits
from roost.resources.webhooks import queries, service
from roost.resources.webhooks.bodies import CreateWebhook, ReplayWebhook, UpdateWebhook
from roost.resources.webhooks.entity import WEBHOOK
from roost.resources.webhooks.queries import DELIVERIES, WEBHOOKS
from roost.resources.webhooks.records import WebhookDeliveryRow, WebhookRow
from roost.web.call import Call
from roost.web.grants import Unrestricted
from roost.web.registry import Page, endpoint
from roost.web.revisions.revisions import Revisions

_READ = ("account:read_only", "events:read_only")
_WRITE = ("account:read_write", "events:read_only")
_MAY = Unrestricted()
"""Receivers are told of everything."""
_ALL = "/account/webhooks"
_ONE = f"{_ALL}/{{webhookId:int}}"
_PROXIES: tuple[UserType, ...] = ("proxy",)
"""Whom an account tells of itself is the business of its own people."""


@endpoint("GET", _ALL, scopes=_READ, grant=_MAY, returns=Page(WebhookRow), filters=WEBHOOKS.columns)
async def list_webhooks(call: Call) -> bytes:
    """List webhooks.

    URLs that are told of the account's events.
    """
    return await call.collection(WEBHOOKS, call.account_id)


@endpoint(
    "POST",
    _ALL,
    scopes=_WRITE,
    grant=_MAY,
    refuses=_PROXIES,
    body=CreateWebhook,
    returns=WebhookRow,
    events=("webhook_create",),
)
async def create_webhook(call: Call, body: CreateWebhook) -> bytes:
    """Create a webhook.

    It is told of what comes from now on, and maybe of what came some seconds before. The answer is
    the only one that shows its secret.
    """
    await service.check_url(call, body.url)
    revisions = call.get(Revisions)
    if body.revision is not None:
        revisions.check(body.revision, "revision")
    revision = body.revision or call.revision or revisions.newest
    made = await service.create(
        call, body.label, body.url, body.actions, body.entity_types, revision
    )
    await check_limits(call, queries.LIMIT)
    return await _with_secret(call, *made)


@endpoint("GET", _ONE, scopes=_READ, grant=_MAY, returns=WebhookRow)
async def view_webhook(call: Call) -> bytes:
    """View a webhook.

    Without its secret.
    """
    return await _view(call, call.number("webhookId"))


@endpoint(
    "PUT",
    _ONE,
    scopes=_WRITE,
    grant=_MAY,
    refuses=_PROXIES,
    body=UpdateWebhook,
    of=view_webhook,
    returns=WebhookRow,
    events=("webhook_update",),
)
async def update_webhook(call: Call, body: UpdateWebhook) -> bytes:
    """Update a webhook.

    Fields that are omitted stay as they are.
    """
    found, now = await service.lock(call, call.number("webhookId")), call.clock.seconds()
    if body.url is not None:
        await service.check_url(call, body.url)
    if body.revision is not None:
        call.get(Revisions).check(body.revision, "revision")
    await queries.update(
        call.db,
        found.id,
        body.label,
        body.url,
        body.actions,
        body.entity_types,
        body.revision,
        now,
    )
    if body.enabled is not None and body.enabled:
        await queries.enable(call.db, found.id, now)
    elif body.enabled is not None:
        await queries.disable(call.db, found.id, "Disabled by a user")
    await log.notify(call, "webhook_update", WEBHOOK.entity(found.id, body.label or found.label))
    return await _view(call, found.id)


@endpoint("DELETE", _ONE, scopes=_WRITE, grant=_MAY, refuses=_PROXIES, events=("webhook_delete",))
async def delete_webhook(call: Call) -> None:
    """Delete a webhook with the list of its deliveries.

    A message that is on its way may still arrive.
    """
    await service.delete(call, call.number("webhookId"))


@endpoint(
    "POST",
    f"{_ONE}/rotate-secret",
    scopes=_WRITE,
    grant=_MAY,
    refuses=_PROXIES,
    returns=WebhookRow,
    events=("webhook_secret_rotate",),
)
async def rotate_webhook_secret(call: Call) -> bytes:
    """Give a webhook a new secret.

    For 24 hours messages are signed with both. The answer is the only one that shows the new one.
    """
    webhook_id = call.number("webhookId")
    return await _with_secret(call, webhook_id, await service.rotate(call, webhook_id))


@endpoint(
    "POST",
    f"{_ONE}/replay",
    scopes=_WRITE,
    grant=_MAY,
    refuses=_PROXIES,
    body=ReplayWebhook,
    of=view_webhook,
    returns=WebhookRow,
)
async def replay_webhook(call: Call, body: ReplayWebhook) -> bytes:
    """Tell a webhook of an event, and of all after it, once more.

    It is enabled, if it was not. Events are known for 90 days.
    """
    webhook_id = call.number("webhookId")
    await service.replay(call, webhook_id, body.event_id)
    return await _view(call, webhook_id)


@endpoint(
    "GET",
    f"{_ONE}/deliveries",
    scopes=_READ,
    grant=_MAY,
    returns=Page(WebhookDeliveryRow),
    filters=DELIVERIES.columns,
)
async def list_webhook_deliveries(call: Call) -> bytes:
    """List the deliveries of a webhook, newest first.

    Each attempt of the last 30 days to hand over a message.
    """
    webhook_id = call.number("webhookId")
    await _view(call, webhook_id)
    return await call.collection(DELIVERIES, webhook_id)


async def _view(call: Call, webhook_id: int) -> bytes:
    return await call.record(webhook_id, WEBHOOKS, call.account_id)


async def _with_secret(call: Call, webhook_id: int, secret: str) -> bytes:
    row: WebhookRow = orjson.loads(await _view(call, webhook_id))
    row["secret"] = secret
    return orjson.dumps(row)

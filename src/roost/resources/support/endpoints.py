"""What the API offers: support tickets (spec A support)."""

from roost.core.account_queries import is_managed
from roost.core.limits.check import check_limits
from roost.errors import invalid, not_found
from roost.jobs.queue import JobQueue
from roost.resources.support import queries, rules, service
from roost.resources.support.attachment_service import NewAttachment, take_in
from roost.resources.support.bodies import OpenTicket, ReplyToTicket
from roost.resources.support.engine import SupportRules
from roost.resources.support.queries import BY_ID, REPLIES, TICKETS, NewReply, NewTicket, Ticket
from roost.resources.support.records import TicketReplyRow, TicketRow
from roost.resources.support.service import find_entity
from roost.resources.users.service import gravatar_of
from roost.web.call import Call
from roost.web.grants import AccountAccess
from roost.web.registry import Page, Rate, endpoint

_READ = ("account:read_only",)
_WRITE = ("account:read_write",)
_MAY_READ = AccountAccess("read_only")
_MAY_WRITE = AccountAccess("read_write")
_ALL = "/support/tickets"
_ONE = "/support/tickets/{ticketId:int}"


@endpoint(
    "GET",
    _ALL,
    scopes=_READ,
    grant=_MAY_READ,
    returns=Page(TicketRow),
    filters=TICKETS.columns,
)
async def list_tickets(call: Call) -> bytes:
    """List support tickets, open ones first.

    Open and closed ones each in the order in which they were opened.
    """
    return await call.collection(TICKETS, call.account_id)


@endpoint(
    "POST",
    _ALL,
    scopes=_WRITE,
    grant=_MAY_WRITE,
    body=OpenTicket,
    returns=TicketRow,
    events=("ticket_create",),
    rate=Rate(2, 60),
)
async def open_ticket(call: Call, body: OpenTicket) -> bytes:
    """Open a support ticket, about one entity at most.

    What it is about is named by one of the `_id` fields, or by `vlan` and `region`.
    """
    if body.managed_issue and not await is_managed(call.db, call.account_id):
        raise invalid(rules.NOT_MANAGED, "managed_issue")
    new = NewTicket(
        account_id=call.account_id,
        kind="support",
        summary=body.summary,
        description=body.description,
        entity=await find_entity(call, body.about(), body.about_vlan()),
        region=body.region,
        opened_by=call.identity.username,
        opener_id=call.identity.user_id,
        gravatar_id=await gravatar_of(call),
        closable=True,
    )
    ticket_id = await service.open_ticket(call.db, call.get(JobQueue), new)
    await check_limits(call, queries.LIMIT)
    return await _view(call, ticket_id)


@endpoint("GET", _ONE, scopes=_READ, grant=_MAY_READ, returns=TicketRow)
async def view_ticket(call: Call) -> bytes:
    """View a support ticket.

    Replies are a list of their own.
    """
    return await _view(call, call.number("ticketId"))


@endpoint(
    "POST",
    f"{_ONE}/attachments",
    scopes=_WRITE,
    grant=_MAY_WRITE,
    accepts=("multipart/form-data",),
    intake=take_in,
    max_body=rules.MAX_FILE + 64 * 1024,
    of=view_ticket,
    events=("ticket_attachment_upload",),
)
async def upload_ticket_attachment(call: Call, new: NewAttachment) -> None:
    """Attach a file to a ticket: an image, a PDF or plain text.

    As `multipart/form-data` in the field `file`; its name ends in .gif, .jpg, .jpeg, .pjpg,
    .pjpeg, .tif, .tiff, .png, .pdf or .txt.
    """
    ticket = await _lock_open(call)
    await _check_room(call, ticket, new)
    now, name = call.clock.seconds(), call.identity.username
    await queries.insert_attachment(call.db, ticket.id, new.key, new.name, new.size, name, now)
    new.kept = True
    await queries.touch(call.db, ticket.id, name, now)
    await service.notify(call.db, call.get(JobQueue), ticket, "ticket_attachment_upload", name)


@endpoint("POST", f"{_ONE}/close", scopes=_WRITE, grant=_MAY_WRITE, events=("ticket_update",))
async def close_ticket(call: Call) -> None:
    """Close a support ticket that is closable.

    Some are closed by support only; their `closable` is false.
    """
    ticket = await _lock_open(call)
    if not ticket.closable:
        raise invalid(rules.NOT_CLOSABLE)
    await service.close(call.db, call.get(JobQueue), ticket, call.identity.username)


@endpoint(
    "GET",
    f"{_ONE}/replies",
    scopes=_READ,
    grant=_MAY_READ,
    returns=Page(TicketReplyRow),
    filters=REPLIES.columns,
)
async def list_ticket_replies(call: Call) -> bytes:
    """List the replies to a support ticket.

    The oldest first.
    """
    ticket_id = call.number("ticketId")
    if not await queries.exists(call.db, call.account_id, ticket_id):
        raise not_found()
    return await call.collection(REPLIES, ticket_id)


@endpoint(
    "POST",
    f"{_ONE}/replies",
    scopes=_WRITE,
    grant=_MAY_WRITE,
    body=ReplyToTicket,
    of=view_ticket,
    returns=TicketReplyRow,
    events=("ticket_update",),
)
async def create_ticket_reply(call: Call, body: ReplyToTicket) -> bytes:
    """Reply to a support ticket.

    A closed ticket takes none.
    """
    ticket = await _lock_open(call)
    name = call.identity.username
    new = NewReply(body.description, name, await gravatar_of(call), from_staff=False)
    reply_id = await service.reply_to(call.db, call.get(JobQueue), ticket, new)
    return await call.record(reply_id, REPLIES, ticket.id)


async def _view(call: Call, ticket_id: int) -> bytes:
    return await call.record(ticket_id, BY_ID, call.account_id)


async def _lock_open(call: Call) -> Ticket:
    ticket = await queries.lock(call.db, call.account_id, call.number("ticketId"))
    if ticket is None:
        raise not_found()
    if ticket.status == "closed":
        raise invalid(rules.CLOSED)
    return ticket


async def _check_room(call: Call, ticket: Ticket, new: NewAttachment) -> None:
    if await queries.count_attachments(call.db, ticket.id) >= rules.MAX_FILES:
        raise invalid(rules.TOO_MANY_FILES)
    held = await queries.attachments_size(call.db, call.account_id)
    if held + new.size > call.get(SupportRules).quota:
        raise invalid(rules.NO_ROOM)

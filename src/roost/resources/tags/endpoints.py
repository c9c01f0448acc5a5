"""What the API offers: tags (spec B tags)."""

from roost.core.entities.registry import Entities
from roost.core.events import log
from roost.errors import not_found
from roost.resources.tags import queries
from roost.resources.tags.bodies import CreateTag
from roost.resources.tags.queries import FILTERS, TAG, TAGS, tagged_listing
from roost.resources.tags.records import TaggedRow, TagRow
from roost.resources.tags.service import put_on, take_off, use_tags
from roost.web.call import Call
from roost.web.grants import Unrestricted
from roost.web.registry import Page, endpoint

_READ = ("account:read_only",)
_WRITE = ("account:read_write",)
_ONE = "/tags/{tagLabel:path}"


@endpoint(
    "GET",
    "/tags",
    scopes=_READ,
    grant=Unrestricted(),
    returns=Page(TagRow),
    filters=TAGS.columns,
)
async def list_tags(call: Call) -> bytes:
    """List tags.

    All that anything in the account has or had, until they are deleted.
    """
    return await call.collection(TAGS, call.account_id)


@endpoint(
    "POST",
    "/tags",
    scopes=_WRITE,
    grant=Unrestricted(),
    body=CreateTag,
    returns=TagRow,
    events=("tag_create",),
)
async def create_tag(call: Call, body: CreateTag) -> TagRow:
    """Create a tag, or put one on more entities.

    All entities must be yours and be changeable by you, else nothing is made.
    """
    await use_tags(call, [body.label])
    await put_on(call, body.label, body.wanted())
    await log.notify(call, "tag_create", TAG.entity(body.label, body.label))
    return {"label": body.label}


@endpoint(
    "GET",
    _ONE,
    scopes=_READ,
    grant=Unrestricted(),
    returns=Page(TaggedRow),
    filters=FILTERS,
)
async def list_tagged(call: Call) -> bytes:
    """List what has a tag.

    Things of several kinds in one list; `type` says how to read `data`.
    """
    label = call.text("tagLabel")
    if not await queries.exists(call.db, call.account_id, label):
        raise not_found()
    listing = tagged_listing(call.get(Entities).taggable())
    return await call.collection(listing, call.account_id, label)


@endpoint("DELETE", _ONE, scopes=_WRITE, grant=Unrestricted(), events=("tag_delete",))
async def delete_tag(call: Call) -> None:
    """Delete a tag and take it off everything.

    The things themselves stay.
    """
    label = call.text("tagLabel")
    if not await queries.delete(call.db, call.account_id, label):
        raise not_found()
    await take_off(call, label)
    await log.notify(call, "tag_delete", TAG.entity(label, label))

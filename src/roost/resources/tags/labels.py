"""Tags as fields of other records; every group whose entities have tags uses these."""

from collections.abc import Collection
from typing import Annotated

from pydantic import AfterValidator, Field

from roost.core.context import Context
from roost.core.entities.kind import ResourceKind
from roost.core.limits.check import check_limits
from roost.errors import forbidden
from roost.resources.tags import queries
from roost.web.fields import Length, Pattern

MAX_TAGS = 100
"""Of one entity."""


def _once(labels: list[str]) -> list[str]:
    return list(dict.fromkeys(labels))


Label = Annotated[
    str, Length(3, 50), Pattern(r"[^\x00-\x1f\x7f]*", "Must not contain control characters")
]
Tags = Annotated[
    list[Label],
    Length(0, MAX_TAGS),
    AfterValidator(_once),
    Field(description="Labels of your own choice, a set; for unrestricted users only."),
]
"""The field `tags` of a body that creates or updates something, in the order sent."""


async def use_tags(context: Context, tags: Tags | None) -> None:
    """Make the tags of something new exist; before the row that is to have them is locked.

    Raises 403: tags need an unrestricted user (spec B tags unrestricted, B compute 1 tags).
    """
    if not tags:
        return
    if context.identity.restricted:
        raise forbidden()
    if await queries.claim(context.db, context.account_id, tags):
        await check_limits(context, queries.LIMIT)


async def change_tags(
    context: Context, kind: ResourceKind, entity_id: int, tags: Tags | None
) -> Tags | None:
    """The same for something that may have tags already: what to write, None to keep those.

    Restricted users can neither set nor clear tags, but send whole records back: tags as they are
    mean none.
    """
    if tags is None or not context.identity.restricted:
        await use_tags(context, tags)
        return tags
    held = await queries.find_held(context.db, kind, context.account_id, entity_id)
    if held is None or set(held) == set(tags):
        return None
    raise forbidden()


async def hold_tags(context: Context, tags: Collection[str]) -> None:
    """Let nobody delete tags that a copy is to have; before what is copied is locked."""
    if tags:
        await queries.claim(context.db, context.account_id, tags)

"""Tags as fields of other records; every group whose entities have tags uses these."""

from collections.abc import Collection
from typing import Annotated

from roost.errors import forbidden
from roost.resources.limits.check import check_limits
from roost.resources.tags import queries
from roost.web.call import Call
from roost.web.fields import Length

Label = Annotated[str, Length(3, 50)]
Tags = list[Label]
"""The field `tags` of a body that creates or updates something."""


async def use_tags(call: Call, tags: Tags | None) -> None:
    """Make the tags of a body exist; before the row that is to have them is locked.

    Raises 403: tags need an unrestricted user (spec B, Tags; Compute instances rule 1).
    """
    if not tags:
        return
    if call.identity.restricted:
        raise forbidden()
    if await queries.claim(call.db, call.account_id, tags):
        await check_limits(call, queries.LIMIT)


async def hold_tags(call: Call, tags: Collection[str]) -> None:
    """Let nobody delete tags that a copy is to have; before what is copied is locked."""
    if tags:
        await queries.claim(call.db, call.account_id, tags)

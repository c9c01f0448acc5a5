"""Putting a tag on entities, and taking it off all of them."""

from roost.errors import Problem, invalid_fields
from roost.resources.entities.registry import Entities
from roost.resources.tags import queries
from roost.resources.tags.bodies import CreateTag
from roost.web.call import Call


async def put_on(call: Call, body: CreateTag) -> None:
    """Raises 400 with everything that is not the account's; the tag is claimed before.

    A kind that no group has declared has no entities.
    """
    wanted = body.wanted()
    held: dict[str, set[int]] = {}
    for kind in call.get(Entities).taggable():
        field = f"{kind.name}s"
        if wanted.get(field):
            held[field] = await queries.lock(call.db, kind, call.account_id, wanted[field])
            await queries.add(call.db, kind, held[field], body.label)
    problems = [
        Problem("Not found", f"{field}[{index}]")
        for field, ids in wanted.items()
        for index, entity_id in enumerate(ids)
        if entity_id not in held.get(field, ())
    ]
    if problems:
        raise invalid_fields(problems)


async def take_off(call: Call, label: str) -> None:
    """The tag itself is gone or locked before, so that nothing new gets it meanwhile."""
    for kind in call.get(Entities).taggable():
        await queries.remove(call.db, kind, call.account_id, label)

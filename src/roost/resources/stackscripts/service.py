"""Changing and deleting StackScripts of the account."""

from roost.core.context import Context
from roost.core.events import log
from roost.errors import invalid, not_found
from roost.resources.stackscripts import queries
from roost.resources.stackscripts.queries import STACKSCRIPT, StackScriptFacts


async def lock(context: Context, stackscript_id: int) -> StackScriptFacts:
    """One that nobody else changes until the end of the transaction; 404."""
    found = await queries.lock(context.db, context.account_id, stackscript_id)
    if found is None:
        raise not_found()
    return found


async def delete(context: Context, stackscript_id: int) -> None:
    """Raises 404, and 400 for a public one."""
    found = await lock(context, stackscript_id)
    if found.is_public:
        raise invalid("A public StackScript cannot be deleted")
    await queries.delete(context.db, found.id)
    await log.notify(context, "stackscript_delete", STACKSCRIPT.of(found))

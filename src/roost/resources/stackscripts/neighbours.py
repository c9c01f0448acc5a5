"""What StackScripts are to instances: they run one at their first boot."""

from collections.abc import Collection, Mapping

from roost.core.access import require_all
from roost.core.context import Context
from roost.core.neighbours import Neighbour
from roost.errors import invalid, out_of_scope
from roost.resources.compute.neighbours import InstanceStackScripts, Question, StackScript
from roost.resources.stackscripts import queries
from roost.resources.stackscripts.queries import STACKSCRIPT, Deployable
from roost.resources.stackscripts.records import UserDefinedField
from roost.resources.stackscripts.rules import ANY_IMAGE
from roost.services import Services
from roost.store import Queries


class DeployedStackScripts(InstanceStackScripts, Neighbour):
    """Private ones need a token that may read them, and of restricted users a grant."""

    async def find(self, context: Context, ids: Collection[int]) -> Mapping[int, StackScript]:
        found = await queries.deployable(context.db, context.account_id, ids)
        private = [each for each in ids if each not in found or not found[each].is_public]
        if private:
            if not context.identity.scopes.allow(("stackscripts:read_only",)):
                raise out_of_scope()
            await require_all(context, STACKSCRIPT.name, private, "read_only")
        return {key: _stackscript(each) for key, each in found.items()}

    async def deploy(self, context: Context, compute_id: int, stackscript_id: int) -> StackScript:
        found = await self.find(context, (stackscript_id,))
        if not found or not await queries.deploy(context.db, compute_id, stackscript_id):
            raise invalid("stackscript_id is not valid", "stackscript_id")
        return found[stackscript_id]

    async def left(self, db: Queries, services: Services, compute_id: int) -> None:
        await queries.forget_instance(db, compute_id)


def _stackscript(found: Deployable) -> StackScript:
    return StackScript(
        text=found.script,
        images=None if ANY_IMAGE in found.images else frozenset(found.images),
        questions=[_question(each) for each in found.user_defined_fields],
    )


def _question(field: UserDefinedField) -> Question:
    one_of, many_of = field.get("oneOf"), field.get("manyOf")
    return Question(
        name=field["name"],
        default=field.get("default"),
        one_of=None if one_of is None else one_of.split(","),
        many_of=None if many_of is None else many_of.split(","),
    )

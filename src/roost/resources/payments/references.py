"""How bodies name payment methods."""

from collections.abc import Collection, Mapping
from typing import Annotated

from roost.core.context import Context
from roost.ids import MAX_ID
from roost.resources.payments import queries
from roost.web.checks import Refers
from roost.web.fields import Between


class _Method:
    """What the account has on file."""

    async def find(self, context: Context, ids: Collection[int]) -> Mapping[int, str]:
        return await queries.last_fours(context.db, context.account_id, ids)


MethodId = Annotated[int, Between(1, MAX_ID), Refers(_Method())]

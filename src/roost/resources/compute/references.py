"""How bodies name compute instances, and what stands before one."""

from collections.abc import Collection, Mapping
from typing import Annotated

from roost.core.context import Context
from roost.core.references import OfKind
from roost.ids import MAX_ID
from roost.resources.compute.neighbours import InstanceFirewalls, InstanceVpcs
from roost.resources.compute.queries import COMPUTE
from roost.web.checks import Refers
from roost.web.fields import Between

Id = Annotated[int, Between(1, MAX_ID)]

ComputeId = Annotated[Id, Refers(OfKind(COMPUTE, "read_write"))]
"""An instance of the account that the caller may change."""


class _Subnet:
    """A subnet that an interface is to be in."""

    async def find(self, context: Context, ids: Collection[int]) -> Mapping[int, str]:
        return await context.get(InstanceVpcs).find(context, ids)


SUBNET = _Subnet()


class _Firewall:
    """A firewall that a new instance is to be behind."""

    async def find(self, context: Context, ids: Collection[int]) -> Mapping[int, str]:
        return await context.get(InstanceFirewalls).find(context, ids)


FirewallId = Annotated[Id, Refers(_Firewall())]

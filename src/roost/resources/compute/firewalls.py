"""What compute asks of firewalls: their package rests on this one, which never imports it."""

from collections.abc import Collection, Mapping

from roost.core.context import Context
from roost.errors import invalid


class InstanceFirewalls:
    """That there are none."""

    async def find(self, context: Context, ids: Collection[int]) -> Mapping[int, str]:
        """The labels of those that the account has and the caller may change.

        Raises 401 or 403, as `Reference.find` does.
        """
        return {}

    async def put_behind(
        self, context: Context, compute_id: int, label: str, firewall_id: int
    ) -> None:
        """Put a new instance behind a firewall. Raises 400 when that is gone."""
        raise invalid("firewall_id is not valid", "firewall_id")


class _Firewall:
    """A reference to a firewall that a new instance is to be behind."""

    async def find(self, context: Context, ids: Collection[int]) -> Mapping[int, str]:
        return await context.get(InstanceFirewalls).find(context, ids)


FIREWALL = _Firewall()

"""Who uses most, account by account."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from roost.resources.account.queries import balances
from roost.resources.compute import totals_queries as instances
from roost.resources.compute.totals_queries import OfAccount
from roost.resources.object_storage import listing_queries as buckets
from roost.resources.usage.queries import traffic_by_account
from roost.resources.volumes import listing_queries as volumes
from roost.store import Queries

Use = Literal["instances", "vcpus", "memory", "disk", "volumes", "objects", "sent", "owed"]

_NOTHING = OfAccount(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class AccountUse:
    """What one account has, and has sent this month."""

    account_id: int
    instances: int
    vcpus: int
    memory: int
    """MB"""
    disk: int
    """MB"""
    volumes: int
    """GiB"""
    objects: int
    """Bytes"""
    sent: int
    """Bytes that its instances sent by public addresses."""
    owed: Decimal
    """US dollars"""


async def most(db: Queries, by: Use, now: datetime, limit: int) -> list[AccountUse]:
    """The accounts with most of it, the first first."""
    of_instances, of_volumes = await instances.by_account(db), await volumes.by_account(db)
    of_buckets = await buckets.by_account(db)
    sent = await traffic_by_account(db, now.date().replace(day=1))
    found = list[AccountUse]()
    for account_id, owed in (await balances(db)).items():
        has = of_instances.get(account_id, _NOTHING)
        found.append(
            AccountUse(
                account_id=account_id,
                instances=has.instances,
                vcpus=has.vcpus,
                memory=has.memory,
                disk=has.disk,
                volumes=of_volumes.get(account_id, 0),
                objects=of_buckets.get(account_id, 0),
                sent=sent.get(account_id, 0),
                owed=owed,
            )
        )
    return sorted(found, key=lambda each: getattr(each, by), reverse=True)[:limit]

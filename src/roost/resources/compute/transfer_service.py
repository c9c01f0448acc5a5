"""An instance that goes to another account, with its disks, configs, backups and addresses."""

from datetime import datetime

from roost.core.addresses import queries as addresses
from roost.core.grant_queries import forget_entity
from roost.core.instance_queries import InstanceFacts
from roost.resources.compute import rules, transfer_queries
from roost.resources.compute.billing_queries import charge
from roost.resources.compute.entity import COMPUTE
from roost.store import Queries


async def ties(db: Queries, facts: InstanceFacts) -> list[str]:
    """What of an instance itself is the account's alone."""
    private = await transfer_queries.has_private_networks(db, facts.id)
    return ["is in a VLAN or VPC"] if private else []


async def move(db: Queries, facts: InstanceFacts, account_id: int, now: datetime) -> None:
    """Called in a transaction that holds its row (UTC); the accounts are charged up to then, and
    from then on. A label that the other account has already becomes the default one."""
    label = facts.label
    if await transfer_queries.has_label(db, account_id, label):
        label = rules.default_label(facts.id)
    if await transfer_queries.has_label(db, account_id, label):
        label = rules.default_label(facts.id, str(account_id))
    await transfer_queries.move(db, facts.id, account_id, label, now)
    await addresses.set_account(db, facts.id, account_id)
    await forget_entity(db, COMPUTE.name, facts.id)
    await charge(db, facts.id, now)

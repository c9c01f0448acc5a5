"""What job kinds declare: what their jobs work on, and which event shows them."""

from typing import TypeVar

import pytest

from roost.app.groups import GROUPS
from roost.jobs.kinds import AnyKind, JobArgs, JobKind
from roost.resources.cancellation.jobs import CloseArgs
from roost.resources.compute import locks as compute
from roost.resources.compute.leftover_jobs import ClearArgs, left_on
from roost.resources.compute.locks import InstanceArgs
from roost.resources.compute.watch_jobs import CHECK
from roost.resources.conditions.letter_jobs import LetterArgs
from roost.resources.databases import queries as databases
from roost.resources.databases.steps import DatabaseArgs
from roost.resources.databases.upkeep_jobs import VerifyArgs
from roost.resources.domains import jobs as domains
from roost.resources.domains.jobs import ZoneArgs
from roost.resources.firewalls import locks as firewalls
from roost.resources.firewalls.jobs import FirewallArgs, HostArgs
from roost.resources.images import locks as images
from roost.resources.images.jobs import ImageArgs
from roost.resources.nodebalancers import locks as nodebalancers
from roost.resources.nodebalancers.jobs import BalancerArgs
from roost.resources.nodebalancers.move_jobs import LeftArgs as LeftBalancerArgs
from roost.resources.object_storage import locks as objects
from roost.resources.object_storage.jobs import AccountArgs
from roost.resources.object_storage.watch_jobs import COUNT
from roost.resources.payments.card_jobs import CardArgs
from roost.resources.payments.jobs import PaymentArgs
from roost.resources.reverse_dns.jobs import NAMES, RESOURCE
from roost.resources.suspension.jobs import AccountArgs as SuspendedArgs
from roost.resources.volumes import locks as volumes
from roost.resources.volumes.steps import LeftArgs, VolumeArgs
from roost.web.registry import Endpoint

Args = TypeVar("Args", bound=JobArgs)

_EVENTS = frozenset(
    action
    for module in GROUPS.endpoints
    for endpoint in vars(module).values()
    if isinstance(endpoint, Endpoint)
    for action in endpoint.events
)
_OTHER_ACTIONS = {
    *("dns_zone_sync", "dns_record_sync", "maintenance_run", "compute_rescue"),
    *("compute_power_check", "database_recover", "firewall_apply"),
    *("nodebalancer_apply", "nodebalancer_clear"),
    *("object_bucket_apply", "object_key_apply", "object_storage_count", "object_bucket_take_up"),
    *("object_bucket_bring", "object_key_bring"),
    *("firewall_apply_on_host", "compute_clear", "volume_clear"),
    *("address_apply", "account_close", "account_suspension", "operator_letter", "card_forget"),
    *("database_backup_verify", "database_disk"),
}
"""Kinds that do what several actions ask for, which `log.start` is told; one without events; and
what Roost does by itself (`database_degraded`)."""
_OTHERS = {CHECK.name: "power:8", NAMES.name: RESOURCE, COUNT.name: COUNT.name}
"""A guest's power is looked at beside jobs on its instance; all names are one resource, and so is
all that is counted."""


def _works_on(kind: JobKind[Args]) -> str | None:
    """What the kind's arguments say that a job works on."""
    if kind.name in _OTHERS:
        return _OTHERS[kind.name]
    for args, resource in (
        (LeftArgs, f"left:{compute.resource_of(8)}@b"),
        (ClearArgs, f"left:{compute.resource_of(8)}@b"),
        (VolumeArgs, volumes.resource_of(7)),
        (DatabaseArgs, databases.resource_of(9)),
        (VerifyArgs, "database-verification"),
        (InstanceArgs, compute.resource_of(8)),
        (ZoneArgs, domains.resource_of("example.com")),
        (FirewallArgs, firewalls.resource_of(9)),
        (BalancerArgs, nodebalancers.resource_of(9)),
        (LeftBalancerArgs, nodebalancers.left_on(9, "b")),
        (HostArgs, f"{firewalls.resource_of(9)}@b"),
        (AccountArgs, objects.resource_of(6)),
        (ImageArgs, images.resource_of(6)),
        (PaymentArgs, "payments:6"),
        (CardArgs, "payments:6"),
        (CloseArgs, "cancellation:6"),
        (SuspendedArgs, "suspension:6"),
        (LetterArgs, "condition:6:webhook"),
    ):
        if issubclass(kind.args, args):
            return resource
    return None


def _declared(kind: JobKind[Args]) -> str | None:
    args = kind.args.model_construct(
        account_id=6,
        volume_id=7,
        compute_id=8,
        database_id=9,
        firewall_id=9,
        nodebalancer_id=9,
        host="b",
        zone="example.com",
        number=6,
        condition_id=6,
        channel="webhook",
        left=left_on(8, "b"),
    )
    return None if kind.resource is None else kind.resource(args)


@pytest.mark.parametrize("kind", GROUPS.jobs, ids=lambda kind: kind.name)
def test_a_kind_names_the_resource_that_its_arguments_name(kind: AnyKind) -> None:
    assert _declared(kind) == _works_on(kind)


def test_the_events_of_jobs_are_those_of_endpoints() -> None:
    actions = {kind.name: kind.event or kind.name for kind in GROUPS.jobs if kind.resource}
    unknown = {name for name, action in actions.items() if action not in _EVENTS}
    assert unknown == _OTHER_ACTIONS


def test_only_kinds_with_a_resource_are_joined() -> None:
    """What is queued already is looked for among the jobs of the resource."""
    assert [kind.name for kind in GROUPS.jobs if kind.joined and kind.resource is None] == []

"""The records of firewalls (spec B firewall record; reference: Firewall)."""

from typing import Literal, NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from roost.core.entities.records import Entity
from roost.core.formats import Created, Filtered, Folded, Id, TagLabels, Updated
from roost.resources.firewalls.engine import Action, Rule, RuleSet, TransportProtocol
from roost.resources.firewalls.rules import parse_ports

FirewallStatus = Literal["enabled", "disabled", "deleted"]


class RuleAddresses(TypedDict, total=False):
    """The other sides of connections that a rule is about."""

    ipv4: list[str]
    """IPv4 addresses with their masks; `0.0.0.0/0` for all."""
    ipv6: list[str]
    """IPv6 addresses with their masks; `::/0` for all."""


class RuleRow(TypedDict):
    """One rule, as it was given."""

    protocol: TransportProtocol
    """The protocol of the packets; `ICMP` is ICMPv6 too."""
    ports: NotRequired[str]
    """Ports of the side that is connected to; all when it is left out or empty."""
    addresses: RuleAddresses
    """Where a connection comes from, of inbound rules, or goes to, of outbound ones."""
    action: Action
    """What becomes of a connection that matches."""
    label: NotRequired[str]
    """The name of the rule."""
    description: NotRequired[str]
    """What the rule is for."""


class RulesRow(TypedDict):
    """What passes: the first rule that matches decides, or else the policy."""

    inbound: list[RuleRow]
    """For connections to the services, in order."""
    inbound_policy: Action
    """For connections to the instances that no rule matches."""
    outbound: list[RuleRow]
    """For connections from the instances, in order."""
    outbound_policy: Action
    """For connections from the instances that no rule matches."""


class ShownRulesRow(RulesRow):
    """The rules, and which ones they are."""

    version: int
    """How often they were set (an extension): one more after each change."""
    fingerprint: str
    """The same for the same rules, and another for others (an extension)."""


class FirewallRow(TypedDict):
    """A firewall. What is behind it are its devices."""

    id: Filtered[Id]
    label: Folded[str]
    """The name that you gave it; unique in the account."""
    created: Created
    updated: Filtered[Updated]
    status: FirewallStatus
    """`enabled`, or `disabled`: then nothing is filtered. `deleted` is only seen in events."""
    rules: ShownRulesRow
    """What passes."""
    tags: Filtered[TagLabels]
    entities: list[Entity]
    """The services that are behind it (an extension), in the order in which they came."""


class FirewallDeviceRow(TypedDict):
    """That a service is behind a firewall."""

    id: Filtered[Id]
    created: Created
    updated: Filtered[Updated]
    entity: Entity
    """The service."""


_RULES = TypeAdapter(RulesRow)


def rules_of(column: str) -> RulesRow:
    """The record of rules that a row holds."""
    return _RULES.validate_json(column)


def rule_set(column: str) -> RuleSet:
    """What an engine is to put in force; takes a few milliseconds for the longest rules."""
    row = rules_of(column)
    return RuleSet(
        inbound=tuple(map(_rule, row["inbound"])),
        inbound_policy=row["inbound_policy"],
        outbound=tuple(map(_rule, row["outbound"])),
        outbound_policy=row["outbound_policy"],
    )


def _rule(row: RuleRow) -> Rule:
    addresses = row["addresses"]
    return Rule(
        action=row["action"],
        protocol=row["protocol"],
        ports=tuple(parse_ports(row.get("ports", ""))),
        networks=(*addresses.get("ipv4", ()), *addresses.get("ipv6", ())),
    )

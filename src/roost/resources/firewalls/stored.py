"""Rules as rows hold them, and as engines are given them."""

from collections.abc import Mapping, Sequence

import orjson
from pydantic import TypeAdapter

from roost.resources.firewalls.bodies import FirewallRule, NewRules
from roost.resources.firewalls.engine import Rule, RuleSet
from roost.resources.firewalls.records import RuleRow, RulesRow
from roost.resources.firewalls.rules import parse_ports

_STORED = TypeAdapter(RulesRow)


def rules_json(rules: NewRules) -> str:
    """What is kept and shown: what was sent."""
    return orjson.dumps(
        {
            "inbound": _rows(rules.inbound),
            "inbound_policy": rules.inbound_policy,
            "outbound": _rows(rules.outbound),
            "outbound_policy": rules.outbound_policy,
        }
    ).decode()


def _rows(rules: Sequence[FirewallRule]) -> list[Mapping[str, object]]:
    return [rule.model_dump(exclude_none=True) for rule in rules]


def record_of(stored: str) -> RulesRow:
    """The record of rules that a row holds."""
    return _STORED.validate_json(stored)


def rule_set(stored: str) -> RuleSet:
    """What an engine is to put in force."""
    row = _STORED.validate_json(stored)
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

"""Request bodies of firewalls (spec B firewalls create; reference: operations)."""

from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, JsonValue, ValidationInfo, field_validator

from roost.core.references import OfKind
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.references import Id
from roost.resources.firewalls import rules
from roost.resources.firewalls.engine import Action, TransportProtocol
from roost.resources.nodebalancers.entity import NODEBALANCER
from roost.resources.tags.bodies import Tags
from roost.web.bodies import Body
from roost.web.checks import Refers, checks_of
from roost.web.fields import Length, Pattern, ShortText, refuse

_RULES: dict[str, JsonValue] = {
    "inbound": [
        {
            "protocol": "TCP",
            "ports": "22, 8000-9000",
            "addresses": {"ipv4": ["203.0.113.0/24"], "ipv6": ["2001:db8::/32"]},
            "action": "ACCEPT",
            "label": "office",
            "description": "SSH and tests from the office",
        }
    ],
    "inbound_policy": "DROP",
    "outbound": [],
    "outbound_policy": "ACCEPT",
}

Label = Annotated[str, Length(3, 32), Pattern(rules.LABEL_PATTERN, rules.LABEL_REASON)]
_BEHIND = OfKind(COMPUTE, "read_write")
_BALANCED = OfKind(NODEBALANCER, "read_write")
_DEVICES = {"compute": _BEHIND, "nodebalancer": _BALANCED}

_Ipv4 = Annotated[
    list[Annotated[ShortText, AfterValidator(rules.check_ipv4)]], Length(1, rules.MAX_ADDRESSES)
]
_Ipv6 = Annotated[
    list[Annotated[ShortText, AfterValidator(rules.check_ipv6)]], Length(1, rules.MAX_ADDRESSES)
]


class AddressesOfRule(Body):
    """`ipv4`, `ipv6` or both; 255 addresses together at most."""

    ipv4: _Ipv4 | None = None
    """IPv4 addresses with their masks; `0.0.0.0/0` for all."""
    ipv6: _Ipv6 | None = None
    """IPv6 addresses with their masks, without a zone; `::/0` for all."""

    @field_validator("ipv6")
    @classmethod
    def _check_both(cls, value: list[str] | None, info: ValidationInfo) -> list[str] | None:
        if len(value or ()) + len(info.data.get("ipv4") or ()) > rules.MAX_ADDRESSES:
            raise refuse(rules.MANY_ADDRESSES)
        return value


class FirewallRule(Body):
    """One rule."""

    protocol: TransportProtocol
    """The protocol; `ICMP` is ICMPv6 too."""
    ports: ShortText | None = None
    """A port, a range such as `8000-9000`, or several with commas, each of which a space may
    follow; omitted or empty for all. Only for TCP and UDP; at most 15, where a range counts as
    two."""
    addresses: AddressesOfRule
    """Where connections come from, of inbound rules, or go to, of outbound ones."""
    action: Action
    """What becomes of a connection that matches."""
    label: Annotated[str, Length(3, 32)] | None = None
    """The name of the rule."""
    description: Annotated[str, Length(1, 100)] | None = None
    """What the rule is for."""

    @field_validator("addresses")
    @classmethod
    def _check_addresses(cls, value: AddressesOfRule) -> AddressesOfRule:
        if value.ipv4 is None and value.ipv6 is None:
            raise refuse("Must have ipv4, ipv6 or both")
        return value

    @field_validator("ports")
    @classmethod
    def _check_ports(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value and info.data.get("protocol", "TCP") not in ("TCP", "UDP"):
            raise refuse("Ports are for TCP and UDP only")
        rules.parse_ports(value or "")
        return value


RuleList = Annotated[list[FirewallRule], Length(0, rules.MAX_RULES)]


class _Rules(Body):
    """The lists of both directions."""

    @field_validator("outbound", check_fields=False)
    @classmethod
    def _check_number(cls, value: list[FirewallRule], info: ValidationInfo) -> list[FirewallRule]:
        if len(value) + len(info.data.get("inbound", ())) > rules.MAX_RULES:
            raise refuse(rules.MANY_RULES)
        return value


class NewRules(_Rules):
    """What passes: the first rule that matches decides, or else the policy."""

    inbound: RuleList = []
    """For connections to the devices, in order."""
    inbound_policy: Action
    """For connections to the devices that no rule matches."""
    outbound: RuleList = []
    """For connections from the devices, in order; 25 rules together at most."""
    outbound_policy: Action
    """For connections from the devices that no rule matches."""


class FirewallDevices(Body):
    """What is to be behind a new firewall."""

    computes: Annotated[list[Id], Length(0, rules.MAX_TAKEN), Refers(_BEHIND)] = []
    """Ids of instances; each has one enabled firewall at most."""
    nodebalancers: Annotated[list[Id], Length(0, 1), Refers(_BALANCED)] = []
    """The id of a NodeBalancer; only what comes to it by TCP is filtered."""


class CreateFirewall(Body):
    """POST /networking/firewalls. The order of the fields is the order of their errors."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"label": "web-servers", "rules": _RULES},
                {"label": "web-servers", "rules": _RULES, "devices": {"computes": [100001]}},
            ]
        }
    )

    label: Label
    """The name; 3 to 32 letters, digits, `-`, `_` and `.`; unique in the account."""
    rules: NewRules
    """What passes."""
    tags: Tags = []
    devices: FirewallDevices = FirewallDevices()
    """What is behind it."""


class UpdateFirewall(Body):
    """PUT /networking/firewalls/{firewallId}; what is omitted stays as it is."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"label": "web-servers", "status": "disabled"}]}
    )

    label: Label | None = None
    """The new name."""
    status: Literal["enabled", "disabled"] | None = None
    """`disabled` opens all of its devices. Each may have one enabled firewall."""
    tags: Tags | None = None
    """Labels in place of those that it has; for unrestricted users only."""


class ReplaceRules(_Rules):
    """PUT /networking/firewalls/{firewallId}/rules, in place of all rules that there are."""

    model_config = ConfigDict(json_schema_extra={"examples": [_RULES]})

    inbound: RuleList = []
    """For connections to the devices, in order; none when it is omitted."""
    inbound_policy: Action | None = None
    """For connections to the devices that no rule matches; omitted, it stays."""
    outbound: RuleList = []
    """For connections from the devices, in order; none when it is omitted. 25 rules together."""
    outbound_policy: Action | None = None
    """For connections from the devices that no rule matches; omitted, it stays."""


class AddDevice(Body):
    """POST /networking/firewalls/{firewallId}/devices."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"id": 100001, "type": "compute"}]})

    type: Literal["compute", "nodebalancer"]
    """Of a NodeBalancer only what comes to it by TCP is filtered."""
    id: Id
    """The id of the instance or of the NodeBalancer."""

    @field_validator("id")
    @classmethod
    def _check_id(cls, value: int, info: ValidationInfo) -> int:
        kind = info.data.get("type")
        if kind is not None:
            found = checks_of(info).references.find(_DEVICES[kind], (value,))
            if found is not None and value not in found:
                raise refuse("id is not valid")
        return value

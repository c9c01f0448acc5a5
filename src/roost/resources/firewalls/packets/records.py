"""What an explanation of a packet says (Roost's own)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.entities.records import Entity
from roost.resources.firewalls.engine import Action

Direction = Literal["inbound", "outbound"]
Stage = Literal["source", "spoofing", "mail", "outbound", "route", "destination", "inbound"]


class DecidingRuleRow(TypedDict):
    """A rule of a firewall."""

    direction: Direction
    """In which of the firewall's lists it is."""
    position: int
    """Where in that list; the first rule is 1."""
    label: str | None
    """The name of the rule; null when it has none."""
    action: Action
    """What it does."""


class PacketStepRow(TypedDict):
    """One of those who look at the packet on its way."""

    stage: Stage
    """Who looks: the instance that sends, its filter against spoofing, the limit of mail, its
    firewall; the region's router; the instance that gets it, and its firewall."""
    passes: bool
    """Whether the packet goes on."""
    reason: str
    """Why, in words."""
    entity: Entity | None
    """The instance or the firewall; null for what is nobody's or another customer's."""
    rule: DecidingRuleRow | None
    """The rule that decides; null for a policy, and where there are no rules."""


class PacketPathRow(TypedDict):
    """What becomes of a packet."""

    passes: bool
    """Whether it gets to its destination, as far as the account's own things decide."""
    reason: str
    """What decided, in words: the last step's."""
    steps: list[PacketStepRow]
    """Who looks at it, in order, until one drops it."""

"""Firewalls over HTTP, and what becomes of them."""

from roost.app.roost import Roost
from roost.core.planes import Engines
from roost.engines.simulated.firewalls import Packet, SimulatedFirewalls
from roost.resources.firewalls.engine import FIREWALL_PLANE
from tests.support.client import Client, Json, until

FIREWALLS = "/networking/firewalls"
ALL: Json = {"ipv4": ["0.0.0.0/0"], "ipv6": ["::/0"]}
STRANGER = "203.0.113.99"
_OPEN = ("scheduled", "started")


def rule(**changes: object) -> Json:
    row = {"protocol": "TCP", "ports": "22", "addresses": ALL, "action": "ACCEPT", **changes}
    return {name: value for name, value in row.items() if value is not None}


def rules(*inbound: Json, policy: str = "DROP", outbound: tuple[Json, ...] = ()) -> Json:
    return {
        "inbound": list(inbound),
        "inbound_policy": policy,
        "outbound": list(outbound),
        "outbound_policy": "ACCEPT",
    }


def firewall_body(**changes: object) -> Json:
    """A body that is accepted."""
    return {"label": "guard", "rules": rules(rule()), **changes}


async def guarded(client: Client, **changes: object) -> Json:
    """A new firewall, which is on its way to the engines."""
    return await client.post(FIREWALLS, firewall_body(**changes))


async def events_of(client: Client, firewall_id: int) -> list[Json]:
    """The oldest first."""
    wanted = {"entity.type": "firewall", "entity.id": firewall_id}
    rows = (await client.get("/account/events", filter=wanted))["data"]
    return list(reversed(rows))


async def in_force(client: Client, firewall: Json) -> list[tuple[str, str]]:
    """Actions and statuses of its events, when all are over."""
    rows = await until(
        lambda: events_of(client, firewall["id"]),
        lambda rows: all(row["status"] not in _OPEN for row in rows),
    )
    return [(row["action"], row["status"]) for row in rows]


def firewall_engine(roost: Roost, region: str = "us-lake") -> SimulatedFirewalls:
    engine = roost.services.get(Engines).of(FIREWALL_PLANE, region)
    assert isinstance(engine, SimulatedFirewalls)
    return engine


async def reaches(roost: Roost, instance: Json, port: int, source: str = STRANGER) -> bool:
    """Whether a stranger can connect to the instance."""
    packet = Packet(source, instance["ipv4"][0], "TCP", port)
    return await firewall_engine(roost).passes(packet)


async def filters(roost: Roost, instance: Json) -> bool:
    """Whether an engine has the instance's addresses."""
    held = await firewall_engine(roost).list()
    return any(instance["ipv4"][0] in state.addresses for state in held)

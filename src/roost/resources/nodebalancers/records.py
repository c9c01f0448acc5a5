"""Records of NodeBalancers (reference: NodeBalancer, NodeBalancer config, NodeBalancer node)."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from roost.core.formats import Created, Filtered, Folded, Id, Ipv4, TagLabels, Updated, example
from roost.resources.nodebalancers.engine import (
    Algorithm,
    Check,
    CipherSuite,
    ConfigProtocol,
    Mode,
    NodeStatus,
    ProxyProtocol,
    Stickiness,
)

Series = list[tuple[int, float]]
"""Pairs of a time, in milliseconds since 1970 (UTC), and the mean from then on."""

NodeBalancerTransfer = TypedDict(
    "NodeBalancerTransfer",
    {
        "in": Annotated[float | None, Field(description="MB from clients.")],
        "out": Annotated[float | None, Field(description="MB to clients.")],
        "total": Annotated[float | None, Field(description="MB, both together.")],
    },
)


@example(
    {
        "id": 100001,
        "label": "shop",
        "region": "us-lake",
        "hostname": "192-0-2-20.ip.example.com",
        "ipv4": "192.0.2.20",
        "ipv6": None,
        "client_conn_throttle": 0,
        "transfer": {"in": 12.5, "out": 230.1, "total": 242.6},
        "tags": ["production"],
        "created": "2030-01-31T12:00:00",
        "updated": "2030-01-31T12:00:00",
    },
)
class NodeBalancerRow(TypedDict):
    """A public address, the connections to which are shared out among nodes."""

    id: Id
    label: Folded[str]
    """The name that you gave it; unique among those of the account."""
    region: Filtered[str]
    """Where it is, and its nodes."""
    hostname: Filtered[str]
    """The name that reverse DNS has for its address."""
    ipv4: Filtered[Ipv4]
    """Its address."""
    ipv6: str | None
    """Null: it has none."""
    client_conn_throttle: int
    """New connections a second from one address of a client; 0: any number."""
    transfer: NodeBalancerTransfer
    """Of this month (UTC), read every five minutes."""
    tags: Filtered[TagLabels]
    created: Created
    updated: Updated


class NodeBalancerNodesStatus(TypedDict):
    """How many nodes serve."""

    up: int
    """Those that do."""
    down: int
    """Those that do not, by the last look."""


@example(
    {
        "id": 100004,
        "nodebalancer_id": 100001,
        "port": 443,
        "protocol": "https",
        "algorithm": "roundrobin",
        "stickiness": "table",
        "check": "http",
        "check_interval": 31,
        "check_timeout": 30,
        "check_attempts": 3,
        "check_path": "/health",
        "check_body": "",
        "check_passive": True,
        "proxy_protocol": "none",
        "cipher_suite": "recommended",
        "ssl_commonname": "shop.example.com",
        "ssl_fingerprint": "0A:1B:2C",
        "ssl_cert": "<REDACTED>",
        "ssl_key": "<REDACTED>",
        "nodes_status": {"up": 2, "down": 0},
    },
)
class NodeBalancerConfigRow(TypedDict):
    """A port of a NodeBalancer, and what becomes of connections to it."""

    id: Id
    nodebalancer_id: int
    """The NodeBalancer."""
    port: int
    """The port, which no other config of the NodeBalancer has."""
    protocol: ConfigProtocol
    """What clients speak."""
    algorithm: Algorithm
    """How nodes are chosen: in turn, the one with the fewest connections, or by the address of the
    client."""
    stickiness: Stickiness
    """Whether clients come to the same node again, by their address or by a cookie."""
    check: Check
    """How it is found out that a node serves."""
    check_interval: int
    """Seconds between two checks."""
    check_timeout: int
    """Seconds after which a check has failed."""
    check_attempts: int
    """Checks that fail one after the other, after which a node gets nothing any more."""
    check_path: str
    """What checks ask for over HTTP."""
    check_body: str
    """A text that the answer to a check of the body has in it."""
    check_passive: bool
    """Whether answers to clients tell, too, beside a check."""
    proxy_protocol: ProxyProtocol
    """How nodes are told who the client is, over TCP."""
    cipher_suite: CipherSuite
    """Of HTTPS: `legacy` is for clients that know nothing newer."""
    ssl_commonname: str
    """The name in the certificate."""
    ssl_fingerprint: str
    """The SHA-256 fingerprint of the certificate."""
    ssl_cert: str | None
    """`<REDACTED>`; null for none."""
    ssl_key: str | None
    """`<REDACTED>`; null for none."""
    nodes_status: NodeBalancerNodesStatus
    """Of the last look at the nodes."""


@example(
    {
        "id": 100009,
        "nodebalancer_id": 100001,
        "config_id": 100004,
        "address": "192.168.160.5:80",
        "label": "web-1",
        "status": "UP",
        "weight": 50,
        "mode": "accept",
    },
)
class NodeBalancerNodeRow(TypedDict):
    """Where connections to a port of a NodeBalancer go."""

    id: Id
    nodebalancer_id: int
    """The NodeBalancer."""
    config_id: int
    """The config, which says of which port."""
    address: str
    """A private IPv4 address of an instance of the region, and a port."""
    label: str
    """The name that you gave it."""
    status: NodeStatus
    """Of the last look; `Unknown` while nothing checks it."""
    weight: int
    """Its share among those of all nodes."""
    mode: Mode
    """`accept`: it gets connections; `reject`: none; `drain`: only of clients that stick to it;
    `backup`: only while no other one serves."""


_Traffic = TypedDict(
    "_Traffic",
    {
        "in": Annotated[Series, Field(description="From clients.")],
        "out": Annotated[Series, Field(description="To clients.")],
    },
)


class NodeBalancerTraffic(_Traffic):
    """Bits a second."""


class NodeBalancerSeries(TypedDict):
    """Means over five minutes."""

    connections: Series
    """New connections a second."""
    traffic: NodeBalancerTraffic
    """What went in and out."""


@example(
    {
        "title": "shop - day (5 min avg)",
        "data": {
            "connections": [[1893456000000, 12.5]],
            "traffic": {
                "in": [[1893456000000, 20000]],
                "out": [[1893456000000, 72000]],
            },
        },
    }
)
class NodeBalancerStatsRow(TypedDict):
    """What a NodeBalancer did, as series to be drawn."""

    title: str
    """Of a chart: the label, and for how long each point stands."""
    data: NodeBalancerSeries
    """The series."""

"""Records of NodeBalancers (reference: NodeBalancer, NodeBalancer config, NodeBalancer node)."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from roost.core.formats import Created, Filtered, Folded, Id, Ipv4, TagLabels, Updated
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

_Transfer = TypedDict(
    "_Transfer",
    {
        "in": Annotated[float | None, Field(description="MB from clients.")],
        "out": Annotated[float | None, Field(description="MB to clients.")],
        "total": Annotated[float | None, Field(description="MB, both together.")],
    },
)


class NodeBalancerTransfer(_Transfer):
    """What went in and out this month."""


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


class NodeBalancerStatsRow(TypedDict):
    """What a NodeBalancer did, as series to be drawn."""

    title: str
    """Of a chart: the label, and for how long each point stands."""
    data: NodeBalancerSeries
    """The series."""

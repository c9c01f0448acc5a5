"""What NodeBalancers need from a data plane.

A NodeBalancer is given whole, so that a call says how it is to be and not what changes. All methods
are idempotent. Every one may raise EngineError.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from roost.core.engine import Health
from roost.core.planes import Plane

ConfigProtocol = Literal["http", "https", "tcp"]
Algorithm = Literal["roundrobin", "leastconn", "source"]
Stickiness = Literal["none", "table", "http_cookie"]
Check = Literal["none", "connection", "http", "http_body"]
ProxyProtocol = Literal["none", "v1", "v2"]
CipherSuite = Literal["recommended", "legacy"]
Mode = Literal["accept", "reject", "drain", "backup"]
NodeStatus = Literal["Unknown", "UP", "DOWN"]


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """Where connections go."""

    id: int
    address: str
    """A private IPv4 address of the region."""
    port: int
    weight: int
    """1 to 255, a share among those of all nodes."""
    mode: Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSpec:
    """How it is found out that a node serves. Times in seconds."""

    kind: Check
    interval: int
    timeout: int
    attempts: int
    """Checks that fail one after the other, after which a node gets nothing any more."""
    path: str
    body: str
    """A text that the answer has in it."""
    passive: bool
    """Whether answers to clients tell, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigSpec:
    """A port, and what becomes of connections to it."""

    id: int
    port: int
    protocol: ConfigProtocol
    algorithm: Algorithm
    stickiness: Stickiness
    check: CheckSpec
    proxy_protocol: ProxyProtocol
    cipher_suite: CipherSuite
    certificate: str | None = None
    """PEM, the chain behind it; of HTTPS."""
    private_key: str | None = field(default=None, repr=False)
    """PEM."""
    nodes: tuple[NodeSpec, ...] = ()


@dataclass(frozen=True, slots=True)
class BalancerSpec:
    """A NodeBalancer as it should be."""

    id: int
    account_id: int
    """Whose it is: what all have together is shared out among accounts."""
    address: str
    throttle: int
    """New connections a second from one address of a client; 0: any number."""
    configs: tuple[ConfigSpec, ...]

    @property
    def digest(self) -> str:
        """Another one for anything else."""
        keys = [each.private_key for each in self.configs]
        return hashlib.sha256(repr((self, keys)).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class BalancerState:
    """A NodeBalancer as it is."""

    id: int
    digest: str | None
    """Of what is in force; None when that is not what the engine has written."""


@dataclass(frozen=True, slots=True)
class BalancerTraffic:
    """What was counted since the counters began."""

    epoch: str
    """Another one when they have begun anew."""
    connections: int
    bytes_in: int
    """From clients."""
    bytes_out: int
    """To clients."""


class BalancerEngine(Protocol):
    """One data plane that shares out connections to the addresses of a region's NodeBalancers.

    Connections that are open go on through any change of anything, as long as their node is there;
    those to a node that goes end with it.
    """

    @property
    def name(self) -> str: ...

    async def apply(self, balancer: BalancerSpec) -> None:
        """Put it in force: new connections meet it, and nothing older, when this returns; there are
        none to nodes that it no longer has."""

    async def remove(self, balancer_id: int) -> None:
        """Nobody answers at its address then. Nothing happens when there is none."""

    async def inspect(self, balancer_id: int) -> BalancerState | None:
        """None when nothing of it is there."""

    async def list(self) -> list[BalancerState]:
        """All that the engine holds, by id."""

    async def statuses(self) -> Mapping[int, NodeStatus]:
        """Of all nodes, by their ids; `Unknown` of one that nothing checks."""

    async def traffic(self) -> Mapping[int, BalancerTraffic]:
        """Of all NodeBalancers, by their ids."""

    async def keep_serving(self) -> None:
        """Whatever ended without being told to is there again, as it was."""

    async def health(self) -> Health: ...

    async def close(self) -> None:
        """Let go of the data plane, which goes on."""

    async def shut_down(self) -> None:
        """Nobody answers any more, until all is applied again."""


BALANCER_PLANE: Plane[BalancerEngine] = Plane("nodebalancers")

"""Request bodies of NodeBalancers (reference: operations, NodeBalancers)."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, JsonValue, ValidationInfo, field_validator

from roost.resources.compute.references import FirewallId, Id
from roost.resources.nodebalancers import rules
from roost.resources.nodebalancers.engine import (
    Algorithm,
    Check,
    CipherSuite,
    ConfigProtocol,
    Mode,
    ProxyProtocol,
    Stickiness,
)
from roost.resources.object_storage.certificate_rules import MAX_CERTIFICATE, MAX_KEY
from roost.resources.tags.bodies import Tags
from roost.web.bodies import Body
from roost.web.checks import RegionId, catalog_of
from roost.web.fields import Between, Length, Pattern, ShortText, refuse

Label = Annotated[str, Length(3, 32), Pattern(rules.LABEL_PATTERN, rules.LABEL_REASON)]
Throttle = Annotated[int, Between(0, rules.MAX_THROTTLE)]
NodeAddress = Annotated[ShortText, AfterValidator(rules.check_address)]
Weight = Annotated[int, Between(1, 255)]
_Port = Annotated[int, Between(1, rules.LAST_PORT)]
_Interval = Annotated[int, Between(2, 3600)]
_Few = Annotated[int, Between(1, 30)]
_Path = Annotated[str, Length(0, 255), Pattern(f"(?:{rules.PATH_PATTERN})?", rules.PATH_REASON)]
_Text = Annotated[str, Length(0, 255), Pattern(rules.BODY_PATTERN, rules.BODY_REASON)]

_NODE: dict[str, JsonValue] = {"label": "web-1", "address": "192.168.160.5:80", "weight": 50}
_CONFIG: dict[str, JsonValue] = {"port": 80, "protocol": "http", "check": "connection"}


class NodeBalancerConfigFields(Body):
    """What can be said of a config. The order of the fields is the order of their errors."""

    port: _Port | None = None
    """The port, which no other config of the NodeBalancer has; 80 for a new one."""
    protocol: ConfigProtocol | None = None
    """What clients speak; `http` for a new one. `https` needs a certificate and its key."""
    algorithm: Algorithm | None = None
    """How nodes are chosen; `roundrobin` for a new one."""
    stickiness: Stickiness | None = None
    """Whether clients come to the same node again; `none` for a new one. `http_cookie` is not for
    `tcp`."""
    check: Check | None = None
    """How it is found out that a node serves; `none` for a new one."""
    check_interval: _Interval | None = None
    """Seconds between two checks, more than `check_timeout`; 31 for a new one."""
    check_timeout: _Few | None = None
    """Seconds after which a check has failed; 30 for a new one."""
    check_attempts: _Few | None = None
    """Checks that fail one after the other, after which a node gets nothing any more; 3 for a new
    one."""
    check_path: _Path | None = None
    """What checks ask for by HTTP."""
    check_body: _Text | None = None
    """A text that the answer to a check of the body has in it."""
    check_passive: bool | None = None
    """Whether answers to clients tell, too, beside a check; true for a new one."""
    proxy_protocol: ProxyProtocol | None = None
    """How nodes are told who the client is, for `tcp` only; `none` for a new one."""
    cipher_suite: CipherSuite | None = None
    """Of HTTPS; `recommended` for a new one."""
    ssl_cert: Annotated[str, Length(1, MAX_CERTIFICATE)] | None = None
    """The certificate in PEM, with its chain behind it, together with its key. `<REDACTED>` means
    what there is."""
    ssl_key: Annotated[str, Length(1, MAX_KEY)] | None = None
    """The private key in PEM, without a password: RSA of 2048 bits at least, or EC."""

    @field_validator("ssl_cert", "ssl_key")
    @classmethod
    def _check_redacted(cls, value: str) -> str | None:
        return None if value == rules.REDACTED else value

    @field_validator("ssl_key")
    @classmethod
    def _check_both(cls, value: str | None, info: ValidationInfo) -> str | None:
        if (value is None) != (info.data.get("ssl_cert") is None):
            raise refuse("A certificate and its key are sent together")
        return value

    @property
    def pair(self) -> tuple[str, str] | None:
        """A certificate and its key."""
        if self.ssl_cert is None or self.ssl_key is None:
            return None
        return self.ssl_cert, self.ssl_key

    def given(self) -> Mapping[str, object]:
        """What is said of the fields that depend on each other."""
        found = {name: getattr(self, name) for name in rules.COLUMNS}
        return {name: value for name, value in found.items() if value is not None}


class CreateNodeBalancerNode(Body):
    """POST /nodebalancers/{nodeBalancerId}/configs/{configId}/nodes."""

    model_config = ConfigDict(json_schema_extra={"examples": [_NODE]})

    address: NodeAddress
    """The private IPv4 address of an instance of the region, and a port: `192.168.160.5:80`."""
    label: Label
    """3 to 32 letters, digits, `-` and `_`."""
    weight: Weight = 50
    """Its share among those of all nodes."""
    mode: Mode = "accept"
    """`accept`: it gets connections; `reject`: none; `drain`: only of clients that stick to it;
    `backup`: only while no other one serves."""


class UpdateNodeBalancerNode(Body):
    """PUT /nodebalancers/{nodeBalancerId}/configs/{configId}/nodes/{nodeId}; what is omitted stays
    as it is."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"mode": "drain"}]})

    address: NodeAddress | None = None
    """The private IPv4 address of an instance of the region, and a port."""
    label: Label | None = None
    """The new name."""
    weight: Weight | None = None
    """Its share among those of all nodes."""
    mode: Mode | None = None
    """What it gets."""


class RebuildNodeBalancerNode(CreateNodeBalancerNode):
    """A node that a config is to have."""

    model_config = ConfigDict(json_schema_extra={"examples": [_NODE]})

    id: Id | None = None
    """That of a node which the config has: it stays, and becomes so. Omitted, it is a new one."""


class CreateNodeBalancerConfig(NodeBalancerConfigFields):
    """POST /nodebalancers/{nodeBalancerId}/configs."""

    model_config = ConfigDict(json_schema_extra={"examples": [_CONFIG]})


class UpdateNodeBalancerConfig(NodeBalancerConfigFields):
    """PUT /nodebalancers/{nodeBalancerId}/configs/{configId}; what is omitted stays as it is."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"algorithm": "leastconn"}]})


class RebuildNodeBalancerConfig(NodeBalancerConfigFields):
    """POST /nodebalancers/{nodeBalancerId}/configs/{configId}/rebuild; what is omitted stays as it
    is, but nodes that are not named go."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"algorithm": "leastconn", "nodes": [_NODE]}]}
    )

    nodes: Annotated[list[RebuildNodeBalancerNode], Length(1, rules.MAX_NODES)]
    """All nodes that it is to have, one at least."""


class NewNodeBalancerConfig(NodeBalancerConfigFields):
    """A config of a new NodeBalancer, with its nodes."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**_CONFIG, "nodes": [_NODE]}]})

    nodes: Annotated[list[CreateNodeBalancerNode], Length(1, rules.MAX_NODES)] | None = None
    """Its nodes, one at least; omitted, it has none yet."""


class CreateNodeBalancer(Body):
    """POST /nodebalancers. The order of the fields is the order of their errors."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"region": "us-lake", "label": "shop"},
                {"region": "us-lake", "label": "shop-2", "configs": [_CONFIG]},
            ]
        }
    )

    region: RegionId
    """Where it is, and its nodes."""
    label: Label | None = None
    """3 to 32 letters, digits, `-` and `_`; unique among those of the account. Omitted, it is
    `balancer` and its id."""
    client_conn_throttle: Throttle = 0
    """New connections a second from one address of a client; 0: any number."""
    firewall_id: FirewallId | None = None
    """The firewall that it is to be behind."""
    tags: Tags = []
    configs: Annotated[list[NewNodeBalancerConfig], Length(0, rules.MAX_CONFIGS)] = []
    """Its first ports."""

    @field_validator("region")
    @classmethod
    def _check_region(cls, value: str, info: ValidationInfo) -> str:
        region = catalog_of(info).find_region(value)
        if region is not None and "NodeBalancers" not in region.capabilities:
            raise refuse("The region does not offer NodeBalancers")
        return value


class UpdateNodeBalancer(Body):
    """PUT /nodebalancers/{nodeBalancerId}; what is omitted stays as it is."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"client_conn_throttle": 5}]})

    label: Label | None = None
    """The new name."""
    client_conn_throttle: Throttle | None = None
    """New connections a second from one address of a client; 0: any number."""
    tags: Tags | None = None
    """Labels in place of those that it has; for unrestricted users only."""

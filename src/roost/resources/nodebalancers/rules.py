"""The rules of NodeBalancers as pure functions (reference: NodeBalancer config)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address

from roost.errors import Problem
from roost.resources.nodebalancers.engine import (
    Algorithm,
    Check,
    CipherSuite,
    ConfigProtocol,
    ProxyProtocol,
    Stickiness,
)
from roost.web.fields import refuse

MAX_CONFIGS = 25
"""Of a NodeBalancer."""
MAX_NODES = 100
"""Of a config."""
MAX_THROTTLE = 20
LAST_PORT = 65535

LABEL_PATTERN = r"[A-Za-z0-9_-]*"
LABEL_REASON = "Must hold only letters, digits, hyphens and underscores"
PATH_PATTERN = r"/[!-~]*"
PATH_REASON = "Must begin with / and hold only printable ASCII characters without spaces"
BODY_PATTERN = r"[ -~]*"
BODY_REASON = "Must hold only printable ASCII characters"
REDACTED = "<REDACTED>"
"""What is shown of a certificate and its key; sent back, it means what there is."""

PORT_TAKEN = "Another config of the NodeBalancer has this port"
NODE_TAKEN = "Another node of the config has this address"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigValues:
    """What a config is to be, as far as its fields depend on each other."""

    port: int = 80
    protocol: ConfigProtocol = "http"
    algorithm: Algorithm = "roundrobin"
    stickiness: Stickiness = "none"
    check: Check = "none"
    check_interval: int = 31
    check_timeout: int = 30
    check_attempts: int = 3
    check_path: str = ""
    check_body: str = ""
    check_passive: bool = True
    proxy_protocol: ProxyProtocol = "none"
    cipher_suite: CipherSuite = "recommended"


COLUMNS = tuple(ConfigValues.__dataclass_fields__)


def objections(values: ConfigValues, has_certificate: bool, prefix: str = "") -> Iterator[Problem]:
    """Why a config cannot be so, in the order of the fields."""
    if values.protocol == "tcp" and values.stickiness == "http_cookie":
        yield Problem("Cookies are for http and https only", f"{prefix}stickiness")
    if values.check_interval <= values.check_timeout:
        yield Problem("Must be greater than check_timeout", f"{prefix}check_interval")
    if values.check in ("http", "http_body") and not values.check_path:
        yield Problem("A check by HTTP needs a check_path", f"{prefix}check_path")
    if values.check == "http_body" and not values.check_body:
        yield Problem("A check of the body needs a check_body", f"{prefix}check_body")
    if values.protocol != "tcp" and values.proxy_protocol != "none":
        yield Problem("The PROXY protocol is for tcp only", f"{prefix}proxy_protocol")
    if values.protocol == "https" and not has_certificate:
        yield Problem("A config of protocol https needs a certificate", f"{prefix}ssl_cert")


def parse_address(text: str) -> tuple[str, int]:
    """Of such as `192.168.160.5:80`. Raises what a validator may."""
    host, _, port = text.partition(":")
    try:
        address = str(IPv4Address(host))
    except AddressValueError:
        raise refuse("Must be a private IPv4 address and a port, as ip:port") from None
    if not (port.isascii() and port.isdigit() and len(port) <= 5 and 1 <= int(port) <= LAST_PORT):
        raise refuse("Must be a private IPv4 address and a port, as ip:port")
    return address, int(port)


def check_address(text: str) -> str:
    """The text, unless it is no address with a port."""
    host, port = parse_address(text)
    return f"{host}:{port}"


def repeated(values: Sequence[object]) -> int | None:
    """The position of the first that was there before."""
    seen = set[object]()
    for position, value in enumerate(values):
        if value in seen:
            return position
        seen.add(value)
    return None

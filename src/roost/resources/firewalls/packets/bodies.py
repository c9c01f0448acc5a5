"""Which packet is asked about."""

from ipaddress import ip_address
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, model_validator

from roost.core.references import OfKind
from roost.ids import MAX_ID
from roost.resources.compute.entity import COMPUTE
from roost.resources.firewalls.engine import TransportProtocol
from roost.resources.vpcs.entity import VPC
from roost.web.bodies import Body
from roost.web.checks import Refers
from roost.web.fields import Between, ShortText, refuse


def _address(text: str) -> str:
    """In its shortest form, without a zone."""
    try:
        if "%" in text:
            raise ValueError
        return str(ip_address(text))
    except ValueError:
        raise refuse("Must be an IPv4 or IPv6 address") from None


Address = Annotated[ShortText, AfterValidator(_address)]


class ExplainPacket(Body):
    """POST /networking/explain: the first packet of a connection."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "source": "198.51.100.7",
                    "destination": "192.0.2.10",
                    "protocol": "TCP",
                    "port": 443,
                }
            ]
        }
    )

    source: Address
    """The address that the packet says it comes from."""
    destination: Address
    """Where it is to go; of the same family. One of the two is an instance's of yours."""
    protocol: TransportProtocol
    """`ICMP` is ICMPv6 too."""
    port: Annotated[int, Between(1, 65535)] | None = None
    """That of the destination, of TCP and UDP."""
    compute_id: Annotated[int, Between(1, MAX_ID), Refers(OfKind(COMPUTE, "read_only"))] | None = (
        None
    )
    """The instance that sends it; whichever has the source address when it is omitted."""
    vpc_id: Annotated[int, Between(1, MAX_ID), Refers(OfKind(VPC, "read_only"))] | None = None
    """The VPC in which it is sent; outside of all when it is omitted."""

    @model_validator(mode="after")
    def _check_family(self) -> "ExplainPacket":
        if ip_address(self.source).version != ip_address(self.destination).version:
            raise refuse("Must be of the same family as the source", "destination")
        return self

    @model_validator(mode="after")
    def _check_port(self) -> "ExplainPacket":
        if (self.protocol in ("TCP", "UDP")) != (self.port is not None):
            raise refuse("Is given with TCP and UDP, and with nothing else", "port")
        return self

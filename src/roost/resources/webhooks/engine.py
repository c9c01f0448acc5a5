"""What webhooks need from outside: somebody who hands messages over."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Protocol

from roost.core.engine import EngineError


class DeliveryError(EngineError):
    """The message was not handed over. The text is for the webhook's owner."""

    def __init__(self, reason: str, code: int | None = None) -> None:
        super().__init__(reason)
        self.code = code


Address = IPv4Address | IPv6Address


class Receivers(Protocol):
    """The receivers of all accounts, none of which is trusted; `hosts` are those of the cloud."""

    def refusal(self, url: str, hosts: Collection[Address]) -> str | None:
        """Why no message may go there, as far as the URL alone says it."""

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, hosts: Collection[Address]
    ) -> int:
        """The status of the receiver's answer, 200 to 299; DeliveryError for everything else."""


@dataclass(frozen=True, slots=True)
class Outside:
    """The way to them."""

    receivers: Receivers

"""Messages to URLs of accounts, whose receivers may be anybody.

Where a connection goes is looked at when it is made, by its address: whatever a name means by then,
and however often it means something else, nothing is sent to the cloud or its hosts.
"""

import socket
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from roost.resources.webhooks.engine import Address, DeliveryError

Network = IPv4Network | IPv6Network
_AddressInfo = tuple[
    int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[object, ...]
]

_SECONDS = 10.0
"""For a message and its answer."""
_MOST = 4096
"""Bytes of an answer that are read; what they say does not matter."""
_LONGEST_LINE = 8190
_TRANSLATED = tuple(map(ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32")))
"""IPv6 networks that lead to IPv4 addresses."""
_INSIDE = "The receiver's address is one of this cloud, its hosts or a private network"


class _InsideError(OSError):
    """A connection would go where none may."""


class HttpReceivers:
    """Receivers. Redirects are not followed, and no proxy of the environment is used."""

    def __init__(self, allowed: Sequence[Network], cloud: Callable[[], Sequence[Network]]) -> None:
        """`allowed`: where messages may go besides, by http too; `cloud`: the addresses of all
        instances."""
        self._allowed = allowed
        self._cloud = cloud

    def refusal(self, url: str, hosts: Collection[Address]) -> str | None:
        parts = urlsplit(url)
        try:
            address = ip_address(parts.hostname or "")
        except ValueError:
            address = None
        if parts.scheme != "https" and not (address is not None and self._is_allowed(address)):
            return "Must begin with https://"
        if address is not None and not self._may_reach(address, hosts):
            return _INSIDE
        return None

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, hosts: Collection[Address]
    ) -> int:
        refusal = self.refusal(url, hosts)
        if refusal is not None:
            raise DeliveryError(refusal)
        import aiohttp

        from roost.engines.webhook.names import Names

        connector = aiohttp.TCPConnector(
            socket_factory=partial(self._open, hosts),
            resolver=Names(),
            force_close=True,
            use_dns_cache=False,
        )
        try:
            async with (
                aiohttp.ClientSession(
                    connector=connector,
                    timeout=aiohttp.ClientTimeout(total=_SECONDS),
                    max_line_size=_LONGEST_LINE,
                    cookie_jar=aiohttp.DummyCookieJar(),
                    auto_decompress=False,
                ) as session,
                session.post(url, data=body, headers=headers, allow_redirects=False) as response,
            ):
                await response.content.read(_MOST)
                code = response.status
        except TimeoutError:
            raise DeliveryError("The receiver did not answer within 10 seconds") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise DeliveryError(_said(error)) from None
        if not 200 <= code < 300:
            raise DeliveryError(f"The receiver answered {code}", code)
        return code

    def _open(self, hosts: Collection[Address], info: _AddressInfo) -> socket.socket:
        """For one address that the name means now, to which the connection then goes."""
        family, kind, protocol, _, address = info
        if not self._may_reach(ip_address(str(address[0]).partition("%")[0]), hosts):
            raise _InsideError(_INSIDE)
        return socket.socket(family, kind, protocol)

    def _may_reach(self, address: Address, hosts: Collection[Address]) -> bool:
        if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        if self._is_allowed(address):
            return True
        if not address.is_global or address.is_multicast or address.is_reserved:
            return False
        if isinstance(address, IPv6Address) and address.is_site_local:
            return False
        if address in hosts:
            return False
        refused = (*_TRANSLATED, *self._cloud())
        return not any(address in network for network in refused) and not _is_own(address)

    def _is_allowed(self, address: Address) -> bool:
        return any(address in network for network in self._allowed)


def _is_own(address: Address) -> bool:
    """Whether it is this host's: others cannot be bound."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as trial:
        try:
            trial.bind((str(address), 0))
        except OSError:
            return False
    return True


def _said(error: Exception) -> str:
    """What the owner is told, without addresses: they would tell what is in a private network."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, _InsideError):
            return _INSIDE
        cause = getattr(cause, "os_error", None) or cause.__cause__
    import aiohttp

    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "The receiver's name is not known"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return "The receiver's certificate is not valid"
    if isinstance(error, aiohttp.ClientConnectorError):
        return "The receiver could not be reached"
    return f"The receiver's answer could not be read: {type(error).__name__}"

"""Transfers from other servers, and notices to them."""

import asyncio
import time
from contextlib import suppress
from ipaddress import ip_address

from dns import asyncquery, flags, message, opcode
from dns.exception import DNSException
from dns.name import from_text
from dns.zone import Zone as DnsZone

from roost.engines.listeners import LOOPBACK
from roost.engines.simulated.nameserver.content import Content
from roost.engines.simulated.nameserver.state import Following, Zones
from roost.resources.domains.engine import Master, Zone

_PORT = 53
_SECONDS = 10.0
_POLL_SECONDS = 0.2


async def notify(zone: Zone, source: str) -> None:
    """Once, to those that may transfer the zone and have an address of their own."""
    if not zone.active or not isinstance(zone.content, Master):
        return
    notice = message.make_query(zone.name, "SOA")
    notice.set_opcode(opcode.NOTIFY)
    notice.flags = (notice.flags & ~flags.RD) | flags.AA
    wire = notice.to_wire()
    loop = asyncio.get_running_loop()
    for each in zone.axfr_ips:
        with suppress(ValueError, OSError):
            remote = (str(ip_address(each)), _PORT)
            local = None if source == LOOPBACK else (source, 0)
            transport, _ = await loop.create_datagram_endpoint(
                asyncio.DatagramProtocol, remote_addr=remote, local_addr=local
            )
            transport.sendto(wire)
            transport.close()


class Follower:
    """Keeps the slaves as new as their masters."""

    def __init__(self, zones: Zones, source: str) -> None:
        self._zones = zones
        self._source = None if source == LOOPBACK else source
        self._next: dict[str, float] = {}

    async def run(self) -> None:
        while True:
            for name, following in (await self._zones.following()).items():
                if following.due or self._next.get(name, 0.0) <= time.monotonic():
                    await self._ask(name, following)
            await asyncio.sleep(_POLL_SECONDS)

    async def _ask(self, name: str, following: Following) -> None:
        await self._zones.set_due(name, due=False)
        content = await self._transfer(name, following)
        if content is not None:
            await self._zones.set_copy(name, content.to_text())
        copy = await self._zones.copy(name)
        soa = None if copy is None else Content.of_text(name, copy.text).soa[0]
        pause = _SECONDS if soa is None else soa.retry if content is None else soa.refresh
        self._next[name] = time.monotonic() + pause

    async def _transfer(self, name: str, following: Following) -> Content | None:
        """From the first master that gives it."""
        for master in following.masters:
            zone = DnsZone(from_text(name), relativize=False)
            with suppress(DNSException, OSError, EOFError):
                await asyncquery.inbound_xfr(
                    master, zone, port=_PORT, lifetime=_SECONDS, source=self._source
                )
                return Content.of_transfer(zone)
        return None

"""Making a zone of PowerDNS into the slave that is wanted.

An inactive one is Native and without records; it keeps its masters.
"""

from roost.engines.powerdns.messages import Head
from roost.engines.powerdns.zones import Zones
from roost.resources.domains.engine import Slave, Zone


class Slaves:
    def __init__(self, zones: Zones) -> None:
        self._zones = zones

    async def make(self, zone: Zone, content: Slave, account: str) -> None:
        """A zone that does not exist."""
        await self._zones.make_slave(zone.name, account, content.masters if zone.active else ())
        if zone.active:
            await self._zones.retrieve(zone.name)
        else:
            await self._zones.follow(zone.name, "Native", content.masters)
        if zone.axfr_ips:
            await self._zones.set_axfr_ips(zone.name, zone.axfr_ips, notify=False)

    async def adapt(self, zone: Zone, content: Slave, held: Head) -> None:
        """A slave that exists and is as active as is wanted."""
        await self._zones.set_axfr_ips(zone.name, zone.axfr_ips, notify=False)
        if tuple(held["masters"]) != content.masters:
            await self._zones.follow(zone.name, held["kind"], content.masters)
            if zone.active:
                await self._zones.retrieve(zone.name)


def is_slave(held: Head, active: bool) -> bool:
    """Whether it is one, active or not."""
    if active:
        return held["kind"] == "Slave"
    return held["kind"] == "Native" and bool(held["masters"])

"""Making a zone of PowerDNS into the master that is wanted, in few calls and from any state.

An inactive zone is kept with all its records disabled, the SOA too: the server then answers as if
it had no such zone, but keeps its keys.
"""

from roost.engines.powerdns.api import Api
from roost.engines.powerdns.messages import (
    Head,
    RecordsChange,
    Whole,
    differences,
    edit,
    stored,
    zone_path,
)
from roost.engines.powerdns.zones import Zones
from roost.resources.domains.engine import (
    Master,
    NoZoneError,
    Zone,
    ZoneChange,
)

_NSEC3 = "1 0 0 -"
"""Without iterations and salt (RFC 9276); names cannot be listed."""
_RENEWED_WEEKLY = "INCREMENT-WEEKS"
"""What is added to the serial, so that secondaries fetch new signatures in time. It stays when
signing ends, as the serial would fall."""


class Masters:
    def __init__(self, api: Api, zones: Zones) -> None:
        self._api = api
        self._zones = zones

    async def make(self, zone: Zone, content: Master, account: str) -> None:
        """A zone that does not exist."""
        await self._api.change(
            "POST",
            # All of it in the answer would take the server half as long again.
            "/zones?rrsets=false",
            {
                "name": zone.name,
                "kind": "Master" if zone.active else "Native",
                "account": account,
                "soa_edit_api": "",
                # It fails where no record is enabled.
                "api_rectify": zone.active,
                "rrsets": list(stored(zone.name, content, zone.active).values()),
            },
        )
        if content.dnssec:
            await self._sign(zone)
        if zone.axfr_ips:
            await self._zones.set_axfr_ips(zone.name, zone.axfr_ips, notify=True)

    async def adapt(self, zone: Zone, content: Master, held: Whole) -> None:
        """A master that exists."""
        await self._zones.set_axfr_ips(zone.name, zone.axfr_ips, notify=True)
        # Records that are enabled again are put in the order of DNSSEC by the change itself.
        kind, orders = ("Master", True) if zone.active else ("Native", False)
        if (held["kind"], held["api_rectify"]) != (kind, orders):
            await self._set(zone.name, {"kind": kind, "api_rectify": orders})
        wanted = stored(zone.name, content, zone.active)
        await self._patch(zone.name, differences(wanted, held["rrsets"]))
        if content.dnssec:
            await self._sign(zone)
        elif held["dnssec"]:
            await self._unsign(held)

    async def edit(self, change: ZoneChange) -> None:
        await self._patch(change.zone, edit(change))

    async def _patch(self, name: str, changes: list[RecordsChange]) -> None:
        if changes:
            await self._api.change("PATCH", zone_path(name), {"rrsets": changes})

    async def _set(self, name: str, settings: dict[str, str | bool]) -> None:
        await self._api.change("PUT", zone_path(name), settings)

    async def _sign(self, zone: Zone) -> None:
        head = await self._zones.head(zone.name)
        if head is None:
            raise NoZoneError("The name server does not hold the zone")
        if head["soa_edit"] != _RENEWED_WEEKLY:
            await self._set(zone.name, {"soa_edit": _RENEWED_WEEKLY})
        if not await self._zones.keys(zone.name):
            await self._zones.make_key(zone.name)
        if zone.active and head["nsec3param"] != _NSEC3:
            await self._set(zone.name, {"nsec3param": _NSEC3, "api_rectify": True})

    async def _unsign(self, held: Head) -> None:
        if held["nsec3param"]:
            await self._set(held["name"], {"nsec3param": ""})
        for key in await self._zones.keys(held["name"]):
            await self._zones.drop_key(held["name"], key["id"])


def is_master(held: Head) -> bool:
    return held["kind"] != "Slave" and not held["masters"]

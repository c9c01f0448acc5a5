"""Zones that PowerDNS answers: an engine for domains."""

from typing import Protocol

from roost.core.engine import EngineError, Health
from roost.engines.listeners import Listener
from roost.engines.powerdns.api import Api, ConflictError, MissingError, Server
from roost.engines.powerdns.masters import Masters, is_master
from roost.engines.powerdns.messages import (
    OWNED,
    SERVER,
    Head,
    Key,
    Listed,
    read_master,
    read_soa,
)
from roost.engines.powerdns.slaves import Slaves, is_slave
from roost.engines.powerdns.zones import Zones
from roost.resources.domains.engine import (
    DsRecord,
    Master,
    NoZoneError,
    RejectedError,
    Slave,
    TransferStatus,
    Zone,
    ZoneChange,
    ZoneHead,
)

_WEAK_DIGESTS = (1, 3)
"""SHA-1 and GOST (RFC 8624)."""


class Host(Server, Protocol):
    """The server, and its life as far as it is ours."""

    @property
    def listeners(self) -> tuple[Listener, ...]: ...

    @property
    def restarts(self) -> int:
        """How often we had to start it again."""

    async def start(self) -> None:
        """See to it that it answers from now on."""

    async def stop(self) -> None:
        """End it."""

    async def release(self) -> None:
        """Leave it to itself."""


class PowerDns:
    """A DomainEngine."""

    name = "powerdns"
    underscored_hosts = False

    def __init__(self, host: Host) -> None:
        self._host = host
        self._api = Api(host)
        self._zones = Zones(self._api)
        self._masters = Masters(self._api, self._zones)
        self._slaves = Slaves(self._zones)

    @property
    def listening(self) -> tuple[tuple[str, int], ...]:
        return tuple((each.host, each.port) for each in self._host.listeners)

    @property
    def restarts(self) -> int:
        return self._host.restarts

    async def start(self) -> None:
        """See to it that the server runs and goes on running. Raises EngineError."""
        await self._host.start()

    async def put_zone(self, zone: Zone) -> None:
        try:
            await self._put_zone(zone)
        except ConflictError:
            # Made by a call whose answer was lost; what it lacks is added now.
            await self._put_zone(zone)

    async def put_rrsets(self, change: ZoneChange) -> None:
        if not change.known:
            head = await self._zones.find(change.zone)
            if head is None or head["kind"] != "Master" or not _is_ours(head):
                raise NoZoneError("The name server holds no such master zone")
        try:
            await self._masters.edit(change)
        except MissingError as error:
            raise NoZoneError(str(error)) from error

    async def delete_zone(self, name: str, owner: str | None = None) -> None:
        head = await self._zones.find(name)
        if head is None or not _is_ours(head) or owner not in (None, _owner(head)):
            return
        await self._zones.delete(name)

    async def zones(self) -> list[ZoneHead]:
        listed = await self._zones.all()
        heads = (ZoneHead(each["name"], each["account"].removeprefix(OWNED)) for each in listed)
        return sorted(heads)

    async def inspect(self, name: str) -> Zone | None:
        head = await self._zones.head(name)
        if head is None or not _is_ours(head):
            return None
        axfr_ips = await self._zones.axfr_ips(name)
        if not is_master(head):
            slave = Slave(tuple(head["masters"]))
            return Zone(name, _owner(head), slave, axfr_ips, head["kind"] == "Slave")
        whole = await self._zones.whole(name)
        if whole is None:
            return None
        master, active = read_master(whole)
        return Zone(name, _owner(head), master, axfr_ips, active)

    async def ds_records(self, name: str) -> list[DsRecord]:
        try:
            keys = await self._zones.keys(name)
        except MissingError as error:
            raise NoZoneError(str(error)) from error
        return [record for key in keys if key["active"] for record in _ds_records(key)]

    async def transfer_status(self, name: str) -> TransferStatus:
        try:
            zone = await self._zones.start_of_authority(name)
        except MissingError as error:
            raise NoZoneError(str(error)) from error
        if zone["kind"] != "Slave":
            raise NoZoneError("The name server holds no such active slave zone")
        return TransferStatus(read_soa(zone["rrsets"][0]).serial if zone["rrsets"] else None)

    async def retrieve(self, name: str) -> None:
        head = await self._zones.find(name)
        if head is None or head["kind"] != "Slave":
            raise NoZoneError("The name server holds no such active slave zone")
        await self._zones.retrieve(name)

    async def health(self) -> Health:
        try:
            version = SERVER.validate_json(await self._api.read(""))["version"]
        except EngineError as error:
            return Health(False, str(error))
        return Health(True, f"PowerDNS {version}")

    async def shut_down(self) -> None:
        await self._host.stop()

    async def close(self) -> None:
        await self._host.release()
        await self._api.close()

    async def _put_zone(self, zone: Zone) -> None:
        held = await self._zones.head(zone.name)
        if held is not None and not _is_ours(held):
            raise RejectedError("The name server holds a zone of this name that is not Roost's")
        if held is not None and not _can_become(held, zone):
            await self._zones.delete(zone.name)
            held = None
        account = f"{OWNED}{zone.owner}"
        if isinstance(zone.content, Slave):
            if held is None:
                await self._slaves.make(zone, zone.content, account)
            else:
                await self._slaves.adapt(zone, zone.content, held)
            return
        whole = None if held is None else await self._zones.whole(zone.name)
        if whole is None:
            await self._masters.make(zone, zone.content, account)
        else:
            await self._masters.adapt(zone, zone.content, whole)


def _can_become(held: Head, zone: Zone) -> bool:
    if _owner(held) != zone.owner:
        return False
    if isinstance(zone.content, Master):
        return is_master(held)
    return is_slave(held, zone.active)


def _is_ours(head: Listed) -> bool:
    return head["account"].startswith(OWNED)


def _owner(head: Listed) -> str:
    return head["account"].removeprefix(OWNED)


def _ds_records(key: Key) -> list[DsRecord]:
    found = []
    for text in key.get("ds", ()):
        tag, algorithm, kind, digest = text.split(maxsplit=3)
        if int(kind) not in _WEAK_DIGESTS:
            compact = digest.replace(" ", "").lower()
            record = DsRecord(int(tag), int(algorithm), int(kind), compact, key["dnskey"])
            found.append(record)
    return found

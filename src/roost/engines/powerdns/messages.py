"""What the API of PowerDNS is told and answers, and zones in these words."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from roost.resources.domains.engine import (
    Master,
    RRKey,
    RRset,
    Soa,
    ZoneChange,
)

Kind = Literal["Master", "Slave", "Native"]
OWNED = "roost:"
"""How the accounts of zones begin that Roost has made."""


class Record(TypedDict):
    content: str
    disabled: bool


class Records(TypedDict):
    """An RRset; names are absolute."""

    name: str
    type: str
    ttl: int
    records: list[Record]


class RecordsChange(TypedDict):
    name: str
    type: str
    changetype: Literal["REPLACE", "DELETE"]
    ttl: NotRequired[int]
    records: NotRequired[list[Record]]


class Listed(TypedDict):
    """A zone in a list. A slave that Roost has disabled is Native with masters."""

    name: str
    kind: Kind
    account: str
    masters: list[str]


class Head(Listed):
    """A zone without its records."""

    dnssec: bool
    nsec3param: str
    soa_edit: str
    api_rectify: bool


class Whole(Head):
    rrsets: list[Records]


class Key(TypedDict):
    id: int
    active: bool
    dnskey: str
    ds: NotRequired[list[str]]


class Metadata(TypedDict):
    kind: str
    metadata: list[str]


class ServerInfo(TypedDict):
    version: str


class Setting(TypedDict):
    name: str
    value: str


HEAD = TypeAdapter(Head)
WHOLE = TypeAdapter(Whole)
LISTED = TypeAdapter(list[Listed])
KEYS = TypeAdapter(list[Key])
METADATA = TypeAdapter(list[Metadata])
SERVER = TypeAdapter(ServerInfo)
SETTINGS = TypeAdapter(list[Setting])

_NO_SOA = Soa(".", ".", 0, 0, 0, 0, 0, 0)


def zone_path(name: str) -> str:
    """The path of a zone's own pages; characters that paths do not carry are `=2F` and so on."""
    plain = (c if c.isalnum() or c in ".-_" else f"={ord(c):02X}" for c in name)
    return f"/zones/{''.join(plain)}"


def stored(name: str, content: Master, active: bool) -> dict[RRKey, Records]:
    """All records of a master as the server is to hold them."""
    soa = _soa(name, content.soa, active)
    sets = [soa, *(_records(rrset, active) for rrset in content.rrsets)]
    return {RRKey(each["name"], each["type"]): each for each in sets}


def differences(wanted: Mapping[RRKey, Records], held: Iterable[Records]) -> list[RecordsChange]:
    """What makes `held` into `wanted`."""
    before = {RRKey(each["name"], each["type"]): each for each in held}
    gone = (_dropped(key) for key in before.keys() - wanted.keys())
    new = (each for key, each in wanted.items() if not _same(before.get(key), each))
    return [*gone, *map(_replaced, new)]


def edit(change: ZoneChange) -> list[RecordsChange]:
    """Removals come first: what is put may not stand beside what goes, such as a CNAME."""
    sets = [_soa(change.zone, change.soa, True), *(_records(put, True) for put in change.put)]
    return [*map(_dropped, change.drop), *map(_replaced, sets)]


def read_master(zone: Whole) -> tuple[Master, bool]:
    """What the server holds, and whether any of it answers."""
    soa, rrsets = _NO_SOA, []
    for each in zone["rrsets"]:
        if each["type"] == "SOA":
            soa = read_soa(each)
        else:
            rrsets.append(_rrset(each))
    active = any(not record["disabled"] for record in _each_record(zone))
    return Master(soa, tuple(sorted(rrsets, key=lambda rrset: rrset.key)), zone["dnssec"]), active


def read_soa(records: Records) -> Soa:
    primary, mailbox, *numbers = records["records"][0]["content"].split()
    serial, refresh, retry, expire, minimum = map(int, numbers)
    return Soa(primary, mailbox, serial, refresh, retry, expire, minimum, records["ttl"])


def _each_record(zone: Whole) -> Iterator[Record]:
    for each in zone["rrsets"]:
        yield from each["records"]


def _soa(name: str, soa: Soa, active: bool) -> Records:
    record: Record = {"content": soa.content, "disabled": not active}
    return {"name": name, "type": "SOA", "ttl": soa.ttl, "records": [record]}


def _records(rrset: RRset, active: bool) -> Records:
    records: list[Record] = [
        {"content": content, "disabled": not active} for content in sorted(rrset.contents)
    ]
    return {"name": rrset.name, "type": rrset.type, "ttl": rrset.ttl, "records": records}


def _rrset(records: Records) -> RRset:
    contents = frozenset(record["content"] for record in records["records"])
    return RRset(records["name"], records["type"], records["ttl"], contents)


def _replaced(records: Records) -> RecordsChange:
    return {
        "name": records["name"],
        "type": records["type"],
        "changetype": "REPLACE",
        "ttl": records["ttl"],
        "records": records["records"],
    }


def _dropped(key: RRKey) -> RecordsChange:
    return {"name": key.name, "type": key.type, "changetype": "DELETE"}


def _same(held: Records | None, wanted: Records) -> bool:
    if held is None or held["ttl"] != wanted["ttl"]:
        return False
    return _contents(held) == _contents(wanted)


def _contents(records: Records) -> list[tuple[str, bool]]:
    return sorted((record["content"], record["disabled"]) for record in records["records"])

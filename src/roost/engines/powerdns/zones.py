"""The zones of one PowerDNS, over its API."""

from ipaddress import ip_address
from urllib.parse import quote

from roost.engines.powerdns.api import Api, MissingError
from roost.engines.powerdns.messages import (
    HEAD,
    KEYS,
    LISTED,
    METADATA,
    OWNED,
    WHOLE,
    Head,
    Key,
    Kind,
    Listed,
    Whole,
    zone_path,
)

_ALLOW = "ALLOW-AXFR-FROM"
_NOTIFY = "ALSO-NOTIFY"


class Zones:
    """Single calls; each is what it is named for."""

    def __init__(self, api: Api) -> None:
        self._api = api

    async def all(self) -> list[Listed]:
        """Those of Roost."""
        listed = LISTED.validate_json(await self._api.read("/zones?dnssec=false"))
        return [each for each in listed if each["account"].startswith(OWNED)]

    async def find(self, name: str) -> Listed | None:
        """What the list of zones says of one; quicker than its head."""
        path = f"/zones?zone={quote(name)}&dnssec=false"
        return next(iter(LISTED.validate_json(await self._api.read(path))), None)

    async def head(self, name: str) -> Head | None:
        try:
            answer = await self._api.read(f"{zone_path(name)}?rrsets=false")
        except MissingError:
            return None
        return HEAD.validate_json(answer)

    async def whole(self, name: str) -> Whole | None:
        try:
            return WHOLE.validate_json(await self._api.read(zone_path(name)))
        except MissingError:
            return None

    async def start_of_authority(self, name: str) -> Whole:
        """The zone with no other record. Raises MissingError."""
        path = f"{zone_path(name)}?rrset_name={quote(name)}&rrset_type=SOA"
        return WHOLE.validate_json(await self._api.read(path))

    async def delete(self, name: str) -> None:
        try:
            await self._api.change("DELETE", zone_path(name))
        except MissingError:
            return

    async def axfr_ips(self, name: str) -> tuple[str, ...]:
        return (await self._metadata(name)).get(_ALLOW, ())

    async def set_axfr_ips(self, name: str, axfr_ips: tuple[str, ...], notify: bool) -> None:
        """Who may transfer the zone; those with an address of their own are notified."""
        addresses = tuple(filter(_is_address, axfr_ips)) if notify else ()
        held = await self._metadata(name)
        for kind, values in {_ALLOW: axfr_ips, _NOTIFY: addresses}.items():
            if held.get(kind, ()) != values:
                await self._set_metadata(name, kind, values)

    async def keys(self, name: str) -> list[Key]:
        return KEYS.validate_json(await self._api.read(f"{zone_path(name)}/cryptokeys"))

    async def make_key(self, name: str) -> None:
        """One that signs all. The answer holds its private part and goes nowhere."""
        await self._api.change(
            "POST", f"{zone_path(name)}/cryptokeys", {"keytype": "csk", "active": True}
        )

    async def drop_key(self, name: str, key_id: int) -> None:
        await self._api.change("DELETE", f"{zone_path(name)}/cryptokeys/{key_id}")

    async def retrieve(self, name: str) -> None:
        await self._api.change("PUT", f"{zone_path(name)}/axfr-retrieve")

    async def follow(self, name: str, kind: Kind, masters: tuple[str, ...]) -> None:
        await self._api.change("PUT", zone_path(name), {"kind": kind, "masters": list(masters)})

    async def make_slave(self, name: str, account: str, masters: tuple[str, ...]) -> None:
        await self._api.change(
            "POST",
            "/zones",
            {"name": name, "kind": "Slave", "account": account, "masters": list(masters)},
        )

    async def _metadata(self, name: str) -> dict[str, tuple[str, ...]]:
        answer = METADATA.validate_json(await self._api.read(f"{zone_path(name)}/metadata"))
        return {each["kind"]: tuple(each["metadata"]) for each in answer}

    async def _set_metadata(self, name: str, kind: str, values: tuple[str, ...]) -> None:
        path = f"{zone_path(name)}/metadata/{kind}"
        if values:
            await self._api.change("PUT", path, {"kind": kind, "metadata": list(values)})
        else:
            await self._api.change("DELETE", path)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True

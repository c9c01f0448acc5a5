"""What a simulated name server remembers: zones, their keys, and what slaves have transferred."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from dns.exception import DNSException
from dns.name import Name
from dns.rdatatype import RdataType
from pydantic import TypeAdapter

from roost.clock import Clock
from roost.engines.simulated.nameserver.content import Content
from roost.engines.simulated.nameserver.signing import Signer, load_key
from roost.engines.simulated.state import StateFile
from roost.resources.domains.engine import Master, Zone

_ZONE = TypeAdapter(Zone)


@dataclass(frozen=True, slots=True)
class Copy:
    """What a slave has transferred, and when."""

    text: str
    fetched: datetime


@dataclass(frozen=True, slots=True)
class Following:
    """An active slave; `due`: it asks its masters now, not when the SOA says."""

    masters: tuple[str, ...]
    due: bool = True


_COPY = TypeAdapter(Copy)
_FOLLOWING = TypeAdapter(Following)


@dataclass(frozen=True, slots=True)
class Served:
    """A zone that answers."""

    zone: Zone
    content: Content
    signer: Signer | None


class Zones:
    """The state file in these words."""

    def __init__(self, state: StateFile, clock: Clock) -> None:
        self._state = state
        self._clock = clock
        self._parsed: dict[str, tuple[tuple[str | None, ...], Served | None]] = {}

    async def read(self, name: str) -> Zone | None:
        body = await self._state.read("zone", name)
        return None if body is None else _ZONE.validate_json(body)

    async def all(self) -> list[Zone]:
        bodies = await self._state.read_all("zone")
        return [_ZONE.validate_json(bodies[name]) for name in sorted(bodies)]

    async def change(self, name: str, change: Callable[[Zone | None], Zone | None]) -> None:
        def change_body(body: str | None) -> str | None:
            zone = change(None if body is None else _ZONE.validate_json(body))
            return None if zone is None else _ZONE.dump_json(zone).decode()

        await self._state.change("zone", name, change_body)

    async def key(self, name: str) -> str | None:
        return await self._state.read("key", name)

    async def set_key(self, name: str, make: Callable[[], str] | None) -> None:
        """None drops it; a key that is there is kept."""
        await self._state.change("key", name, lambda held: make and (held or make()))

    async def copy(self, name: str) -> Copy | None:
        """None also when it has expired."""
        body = await self._state.read("copy", name)
        if body is None:
            return None
        copy = _COPY.validate_json(body)
        expire = timedelta(seconds=Content.of_text(name, copy.text).soa[0].expire)
        return copy if self._clock.now() < copy.fetched + expire else None

    async def set_copy(self, name: str, text: str | None) -> None:
        copy = None if text is None else Copy(text, self._clock.now())
        body = None if copy is None else _COPY.dump_json(copy).decode()
        await self._state.change("copy", name, lambda _: body)

    async def following(self) -> dict[str, Following]:
        bodies = await self._state.read_all("following")
        return {name: _FOLLOWING.validate_json(body) for name, body in bodies.items()}

    async def follow(self, name: str, masters: tuple[str, ...] | None) -> None:
        """None ends it. Masters that are new are asked at once."""

        def change(body: str | None) -> str | None:
            if masters is None:
                return None
            held = None if body is None else _FOLLOWING.validate_json(body)
            same = held is not None and held.masters == masters
            return body if same else _FOLLOWING.dump_json(Following(masters)).decode()

        await self._state.change("following", name, change)

    async def set_due(self, name: str, due: bool, sender: str | None = None) -> None:
        """With a `sender` only if that is one of the masters."""

        def change(body: str | None) -> str | None:
            held = None if body is None else _FOLLOWING.validate_json(body)
            if held is None or (sender is not None and sender not in held.masters):
                return body
            return _FOLLOWING.dump_json(replace(held, due=due)).decode()

        await self._state.change("following", name, change)

    async def serving(self, name: Name) -> Served | None:
        """The zone of exactly this name, if it answers."""
        text = name.to_text().lower()
        body = await self._state.read("zone", text)
        if body is None:
            return None
        sources = (body, await self._state.read("copy", text), await self._state.read("key", text))
        before = self._parsed.get(text)
        if before is None or before[0] != sources:
            before = (sources, await self._parse(text, body))
            self._parsed[text] = before
        return before[1]

    async def _parse(self, name: str, body: str) -> Served | None:
        zone = _ZONE.validate_json(body)
        if not zone.active:
            return None
        if isinstance(zone.content, Master):
            content = Content.of_master(name, zone.content)
            key = await self.key(name)
            return Served(zone, content, Signer(content, load_key(key)) if key else None)
        copy = await self.copy(name)
        return None if copy is None else Served(zone, Content.of_text(name, copy.text), None)


def refuse_unreadable(zone: Zone) -> None:
    """Raises ValueError when no name server could serve the zone."""
    if isinstance(zone.content, Master):
        try:
            content = Content.of_master(zone.name, zone.content)
        except (DNSException, ValueError) as error:
            raise ValueError(str(error)) from error
        for name, sets in content.nodes.items():
            if not name.is_subdomain(content.origin):
                raise ValueError(f"{name} is out of the zone")
            if RdataType.CNAME in sets and len(sets) > 1:
                raise ValueError(f"{name} has other records beside a CNAME record")

"""What a simulated name server remembers: zones, their keys, and what slaves have transferred."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from secrets import token_hex

from dns.exception import DNSException
from dns.name import Name
from dns.rdatatype import RdataType
from pydantic import TypeAdapter

from roost.clock import Clock
from roost.engines.simulated.nameserver.content import Content
from roost.engines.simulated.nameserver.signing import Signer, load_key
from roost.engines.simulated.state import Documents, StateFile
from roost.resources.domains.engine import Master, Zone
from roost.threads import COMPUTING

_ZONE = TypeAdapter(Zone)
_VERSION = "version"
_CACHED = 16 * 2**20
"""Characters of the zones that are kept parsed, which takes many times as much."""
_LEAST = 4096
"""Characters that even an empty zone counts for."""


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
    expires: datetime | None = None


class Zones:
    """The state file in these words."""

    def __init__(self, state: StateFile, clock: Clock) -> None:
        self._state = state
        self._clock = clock
        self._cache = _Cache()
        self._parsing = asyncio.Lock()

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

        await self._change("zone", name, change_body)

    async def _change(
        self, kind: str, name: str, change: Callable[[str | None], str | None]
    ) -> None:
        """Whoever answers from the zone sees by its version that it is another one."""

        def work(documents: Documents) -> None:
            before = documents.read(kind, name)
            after = change(before)
            if after == before:
                return
            documents.write(kind, name, after)
            if documents.read("zone", name) is None:
                documents.write(_VERSION, name, None)
            else:
                _renew(documents, name)

        await self._state.transact(work)

    async def key(self, name: str) -> str | None:
        return await self._state.read("key", name)

    async def set_key(self, name: str, make: Callable[[], str] | None) -> None:
        """None drops it; a key that is there is kept."""
        await self._change("key", name, lambda held: make and (held or make()))

    async def copy(self, name: str) -> Copy | None:
        """None also when it has expired."""
        body = await self._state.read("copy", name)
        if body is None:
            return None
        copy = _COPY.validate_json(body)
        content = await COMPUTING.run(Content.of_text, name, copy.text)
        return copy if self._clock.now() < copy.fetched + _life(content) else None

    async def set_copy(self, name: str, text: str | None) -> None:
        copy = None if text is None else Copy(text, self._clock.now())
        body = None if copy is None else _COPY.dump_json(copy).decode()
        await self._change("copy", name, lambda _: body)

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

    async def serving(self, names: Sequence[Name]) -> Served | None:
        """The first zone of exactly one of these names that answers."""
        texts = [name.to_text().lower() for name in names]
        for text, version in (await self._state.transact(partial(_versions, texts))).items():
            served = await self._parsed_zone(text, version)
            if served is not None and (
                served.expires is None or self._clock.now() < served.expires
            ):
                return served
        return None

    async def _parsed_zone(self, name: str, version: str) -> Served | None:
        """One zone is read and parsed at a time, however many queries wait for it."""
        if (known := self._cache.find(name, version)) is not None:
            return known.served
        async with self._parsing:
            if (known := self._cache.find(name, version)) is not None:
                return known.served
            sources = await self._state.transact(partial(_sources, name))
            served = await COMPUTING.run(_parse, name, sources)
            self._cache.keep(name, _Parsed(sources.version, served, sources.size))
            return served


@dataclass(frozen=True, slots=True)
class _Sources:
    """All that a zone is answered from."""

    version: str | None
    zone: str | None
    copy: str | None
    key: str | None

    @property
    def size(self) -> int:
        """Characters."""
        return len(self.zone or "") + len(self.copy or "")


def _sources(name: str, documents: Documents) -> _Sources:
    return _Sources(*(documents.read(kind, name) for kind in (_VERSION, "zone", "copy", "key")))


def _versions(names: Iterable[str], documents: Documents) -> dict[str, str]:
    """The versions of those that are zones; zones of former releases have none."""
    found = {}
    for name in names:
        version = documents.read(_VERSION, name)
        if version is None and documents.read("zone", name) is not None:
            version = _renew(documents, name)
        if version is not None:
            found[name] = version
    return found


def _renew(documents: Documents, name: str) -> str:
    version = token_hex(8)
    documents.write(_VERSION, name, version)
    return version


def _parse(name: str, sources: _Sources) -> Served | None:
    """Slow, for a thread."""
    if sources.zone is None:
        return None
    zone = _ZONE.validate_json(sources.zone)
    if not zone.active:
        return None
    if isinstance(zone.content, Master):
        content = Content.of_master(name, zone.content)
        return Served(
            zone, content, Signer(content, load_key(sources.key)) if sources.key else None
        )
    if sources.copy is None:
        return None
    copy = _COPY.validate_json(sources.copy)
    content = Content.of_text(name, copy.text)
    return Served(zone, content, None, copy.fetched + _life(content))


def _life(content: Content) -> timedelta:
    """For how long a copy answers while its masters do not."""
    return timedelta(seconds=content.soa[0].expire)


@dataclass(frozen=True, slots=True)
class _Parsed:
    version: str | None
    served: Served | None
    size: int


class _Cache:
    """The zones that were asked for last, up to a size of them all together."""

    def __init__(self) -> None:
        self._zones: OrderedDict[str, _Parsed] = OrderedDict()
        self._size = 0

    def find(self, name: str, version: str) -> _Parsed | None:
        known = self._zones.get(name)
        if known is None or known.version != version:
            return None
        self._zones.move_to_end(name)
        return known

    def keep(self, name: str, parsed: _Parsed) -> None:
        self._drop(name)
        self._zones[name] = parsed
        self._size += parsed.size + _LEAST
        while self._size > _CACHED and len(self._zones) > 1:
            self._drop(next(iter(self._zones)))

    def _drop(self, name: str) -> None:
        parsed = self._zones.pop(name, None)
        if parsed is not None:
            self._size -= parsed.size + _LEAST


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

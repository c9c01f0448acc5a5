"""The revisions that a process speaks."""

import asyncio
from collections.abc import Sequence

from roost.core.identity import Identity
from roost.errors import ApiError, invalid
from roost.threads import COMPUTING
from roost.web.openapi.schemas import build_schemas
from roost.web.registry import Registry
from roost.web.revisions.fields import Schemas
from roost.web.revisions.revision import Revision, Step, step_back
from roost.web.revisions.spoken import HEADER, Spoken


class Revisions:
    """All that are kept; whoever asks for the newest pays nothing for the others."""

    def __init__(self, registry: Registry, released: Sequence[Revision]) -> None:
        """`released`: the oldest first; the last one is what `registry` declares."""
        self.released = tuple(released)
        self.known = tuple(each.date for each in released)
        self.registry = registry
        self._spoken: dict[str, Spoken] = {}
        self._compiling = asyncio.Lock()

    @property
    def newest(self) -> str:
        return self.known[-1]

    def wanted(self, header: str | None, identity: Identity | None) -> str | None:
        """The former revision that a request is in, or None for the newest: its header says so,
        else its token. ApiError 400 for a header that names none."""
        if header is not None:
            self.check(header, HEADER)
            date: str | None = header
        else:
            # A token may have been set by a later release, which another process runs.
            date = None if identity is None else identity.revision
        return date if date != self.newest and date in self.known else None

    def check(self, date: str, field: str) -> None:
        """ApiError 400 for what is no revision."""
        if date not in self.known:
            raise self.unknown(field)

    def unknown(self, field: str) -> ApiError:
        return invalid(f"Must be one of {', '.join(self.known)}", field)

    async def spoken(self, date: str) -> Spoken:
        """A former revision, compiled when it is first asked for."""
        found = self._spoken.get(date)
        if found is None:
            async with self._compiling:
                if date not in self._spoken:
                    steps, _ = await COMPUTING.run(lambda: self.steps(date))
                    self._spoken[date] = Spoken(date, steps)
            found = self._spoken[date]
        return found

    def steps(self, date: str) -> tuple[Sequence[Step], Schemas]:
        """The steps from a revision to the newest, and its schemas. Takes tenths of a second."""
        schemas: Schemas = build_schemas(self.registry)  # type: ignore[assignment]
        steps: list[Step] = []
        for revision in reversed(self.released[self.known.index(date) + 1 :]):
            step = step_back(revision, self.registry, schemas)
            steps.append(step)
            schemas = step.schemas
        return tuple(reversed(steps)), schemas

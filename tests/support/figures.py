"""What `/metrics` of a server shows, as a scrape finds it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from roost.core.engine import Folder, Host
from roost.engines.simulated.instances import SimulatedInstances
from roost.jobs.kinds import JobArgs
from roost.resources.conditions.jobs import WATCH
from tests.support.lab import Lab, running_lab
from tests.support.server import RunningRoost


@dataclass(frozen=True, slots=True)
class Scrape:
    """Samples by name and labels."""

    samples: Mapping[tuple[str, frozenset[tuple[str, str]]], float]

    @classmethod
    def of(cls, text: str) -> "Scrape":
        return cls(
            {
                (sample.name, frozenset(sample.labels.items())): sample.value
                for family in text_string_to_metric_families(text)
                for sample in family.samples
            }
        )

    def value(self, name: str, **labels: str) -> float | None:
        return self.samples.get((name, frozenset(labels.items())))

    def values(self, name: str) -> list[float]:
        return [value for (found, _), value in self.samples.items() if found == name]

    @property
    def labels(self) -> dict[str, set[str]]:
        """The labels of each name; a sample of a histogram has those of its buckets too."""
        found = dict[str, set[str]]()
        for name, labels in self.samples:
            found.setdefault(name, set()).update(label for label, _ in labels)
        return found


async def scrape(running: RunningRoost) -> Scrape:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{running.url}/metrics") as response,
    ):
        assert response.status == 200
        return Scrape.of(await response.text())


@asynccontextmanager
async def busy_lab(
    state: Path, url: str, patch: pytest.MonkeyPatch, **settings: object
) -> AsyncIterator[Lab]:
    """A Roost of whose figures each has a value: an engine failed once, a job for good, a limit was
    used up, and hosts have folders. It looks at everything all the time."""
    patch.setattr("roost.app.monitoring._SECONDS", 0.2)
    patch.setattr(SimulatedInstances, "host", _host)
    async with running_lab(state, url, **{"rate_limit_scale": 1, **settings}) as lab:
        await lab.post("/faults/engines", {"region": "local", "operation": "start", "times": 1})
        await lab.settled(await lab.create())
        store = lab.running.roost.store
        await store.execute("update job set status = 'failed' where kind = 'compute_create'")
        await lab.running.roost.queue.enqueue(store, WATCH, JobArgs())
        anonymous = lab.api.as_user(None)
        for _ in range(101):
            answer = await anonymous.send("GET", "/account")
        assert answer.status == 429
        yield lab


async def _host(engine: SimulatedInstances) -> Host:
    return Host((Folder("/srv/qemu", 600 << 30, 900 << 30),), 1 << 30, 4 << 30)

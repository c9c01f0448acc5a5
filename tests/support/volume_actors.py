"""Users, guests and a data plane that do things with volumes; what they were told is checked."""

import asyncio
import itertools
import re
from collections import Counter
from dataclasses import dataclass
from typing import ClassVar, cast

from roost.app.roost import Roost
from roost.core.engine import EngineError
from roost.core.planes import Engines
from roost.engines.simulated.instances import SimulatedInstances
from roost.engines.simulated.plane import Operation
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.watch_jobs import WATCH, WatchArgs
from tests.support.client import Answer, Client, Json, until
from tests.support.instances import INSTANCES
from tests.support.volume_invariants import check_always, check_at_rest
from tests.support.volumes import VOLUMES, volume_engine

ACTIONS = (
    "create instance",
    "delete instance",
    "boot",
    "shutdown",
    "reboot",
    "create",
    "create attached",
    "attach",
    "attach",
    "attach",
    "detach",
    "detach",
    "clone",
    "resize",
    "update",
    "delete",
)
FAULTS: tuple[Operation, ...] = (
    "volume_create",
    "volume_copy",
    "volume_resize",
    "volume_delete",
    "volume_plug",
    "volume_unplug",
    "start",
    "stop",
)
PLANS = ("g1-nano-1", "g1-standard-1", "g1-standard-6")
REGIONS = ("us-lake", "us-lake", "us-lake", "us-lake", "us-lake", "br-south")

REFUSALS = re.compile(
    r"Compute busy\.|Volume busy\.|Volume is not active\.|Volume is not attached\."
    r"|Volume \d+ is already attached to Compute \d+\.|Compute is not running\."
    r"|Compute is already running\.|Volume and Compute must be in the same region\."
    r"|Compute cannot have more than \d+ volumes?( with its memory| that persist across boots)\."
    r"|Storage volumes can only be resized up|compute_id is not valid"
    r"|Volume must be detached before it can be deleted\."
    r"|The config has no free device slot|Label must be unique among your volumes"
)
MOST_INSTANCES, MOST_VOLUMES = 3, 8


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that a user asks for; the numbers choose among what there is."""

    action: str
    volume: int
    instance: int
    number: int
    flag: bool


class Actors:
    """One account, from nothing to nothing."""

    tally: ClassVar[Counter[str]] = Counter()

    def __init__(self, roost: Roost, client: Client) -> None:
        self._roost = roost
        self._client = client
        self._instances: list[int] = []
        self._volumes: list[int] = []
        self._contents: dict[int, str] = {}
        self._sources: dict[int, int] = {}
        self._labels = itertools.count()
        self._marks = itertools.count()

    async def begin(self, plans: list[int]) -> None:
        """Instances that run, and some volumes."""
        new = [Deed("create instance", plan, 0, 1, True) for plan in plans]
        await self.do_all([*new, *[Deed("create", 0, 0, 1, True)] * 3])
        await self._drain()

    async def do_all(self, deeds: list[Deed]) -> None:
        await asyncio.gather(*(self.do(deed) for deed in deeds))

    async def do(self, deed: Deed) -> None:
        request = self._request(deed)
        if request is None:
            return
        method, path, body = request
        answer = await self._client.send(method, path, body)
        self.tally[f"{deed.action} {answer.status}"] += 1
        if answer.status == 200:
            self._note(deed, path, answer)
        elif answer.status == 400:
            for _, reason in answer.problems:
                assert REFUSALS.fullmatch(reason), (deed, reason)
        else:
            assert answer.status == 404, (deed, answer.status, answer.body)

    def _request(self, deed: Deed) -> tuple[str, str, Json] | None:
        match deed.action:
            case "create instance":
                return self._new_instance(deed)
            case "create":
                region = REGIONS[deed.number]
                return self._new_volume({"region": region})
            case "create attached":
                return self._with_instance(deed)
        if deed.action in ("boot", "shutdown", "reboot", "delete instance"):
            if not self._instances:
                return None
            path = f"{INSTANCES}/{_pick(self._instances, deed.instance)}"
            if deed.action == "delete instance":
                return ("DELETE", path, None) if deed.number == 0 else None
            return "POST", f"{path}/{deed.action}", None if deed.action == "shutdown" else {}
        return self._volume_request(deed) if self._volumes else None

    def _new_instance(self, deed: Deed) -> tuple[str, str, Json] | None:
        if len(self._instances) >= MOST_INSTANCES:
            return None
        body = {
            "type": PLANS[deed.volume % len(PLANS)],
            "region": REGIONS[deed.number],
            "image": "roost/debian12",
            "root_pass": "correct-Horse7battery",
            "booted": deed.flag or deed.number > 0,
        }
        return "POST", INSTANCES, body

    def _new_volume(self, place: Json) -> tuple[str, str, Json] | None:
        if len(self._volumes) >= MOST_VOLUMES:
            return None
        return "POST", VOLUMES, {"label": self._label(), "size": 10, **place}

    def _with_instance(self, deed: Deed) -> tuple[str, str, Json] | None:
        if not self._instances:
            return None
        return self._new_volume({"compute_id": _pick(self._instances, deed.instance)})

    def _volume_request(self, deed: Deed) -> tuple[str, str, Json] | None:
        path = f"{VOLUMES}/{_pick(self._volumes, deed.volume)}"
        match deed.action:
            case "attach":
                return self._attach(deed, path)
            case "clone" if len(self._volumes) < MOST_VOLUMES:
                return "POST", f"{path}/clone", {"label": self._label()}
            case "detach":
                return "POST", f"{path}/detach", None
            case "resize":
                return "POST", f"{path}/resize", {"size": 10 + 10 * deed.number}
            case "update":
                return "PUT", path, {"label": self._label() if deed.flag else "same"}
            case "delete" if deed.number < 3:
                return "DELETE", path, None
        return None

    def _attach(self, deed: Deed, path: str) -> tuple[str, str, Json] | None:
        if not self._instances:
            return None
        compute_id = _pick(self._instances, deed.instance)
        body = {"compute_id": compute_id, "persist_across_boots": deed.flag}
        return "POST", f"{path}/attach", body

    def _label(self) -> str:
        return f"label{next(self._labels)}"

    def _note(self, deed: Deed, path: str, answer: Answer) -> None:
        """What came of it is remembered until it is gone."""
        if deed.action == "create instance":
            self._instances.append(answer.body["id"])
        elif deed.action in ("create", "create attached", "clone"):
            self._volumes.append(answer.body["id"])
            if deed.action == "clone":
                self._sources[answer.body["id"]] = int(path.split("/")[2])

    async def let_fail(self, operation: str, calls: int) -> None:
        """Once, so that another attempt helps, or for good.

        Deletion fails only once, as it is also what takes back a creation that failed.
        """
        if operation == "volume_delete":
            calls = 1
        await self._guests.plan.fail(cast(Operation, operation), "as planned", calls)

    async def crash(self, instance: int) -> None:
        if self._instances:
            await self._guests.crash(_pick(self._instances, instance))

    async def mount(self, volume: int, mounted: bool) -> None:
        """Or not, if no guest has it."""
        if not self._volumes:
            return
        try:
            await volume_engine(self._roost).mount(_pick(self._volumes, volume), mounted)
        except EngineError:
            return

    async def write(self, volume: int) -> None:
        """While no job copies it."""
        await self.rest()
        if not self._volumes:
            return
        volume_id = _pick(self._volumes, volume)
        row = await self._client.get(f"{VOLUMES}/{volume_id}")
        mark = f"mark {next(self._marks)}"
        await volume_engine(self._roost, row["region"]).write(volume_id, mark)
        self._contents[volume_id] = mark

    async def watch(self) -> None:
        await self._roost.queue.enqueue(self._roost.store, WATCH, WatchArgs())

    async def check(self) -> None:
        await check_always(self._roost)

    async def rest(self) -> None:
        """Until no job is left; then rows, engine and what was written agree."""
        await self._drain()
        for operation in FAULTS:
            await self._guests.plan.mend(operation)
        await self.watch()
        await self._drain()
        await check_at_rest(self._roost)
        await self._forget_the_gone()
        await self._check_contents()

    async def _drain(self) -> None:
        unfinished = "select count(*) from job where finished is null"
        await until(lambda: self._roost.store.fetchval(unfinished), lambda count: count == 0)

    async def _forget_the_gone(self) -> None:
        for path, known in ((INSTANCES, self._instances), (VOLUMES, self._volumes)):
            rows = (await self._client.get(f"{path}?page_size=500"))["data"]
            known[:] = [row["id"] for row in rows]

    async def _check_contents(self) -> None:
        for volume_id in self._volumes:
            row = await self._client.get(f"{VOLUMES}/{volume_id}")
            if volume_id in self._sources:
                source = self._sources.pop(volume_id)
                self._contents[volume_id] = self._contents.get(source, "")
            held = await volume_engine(self._roost, row["region"]).read(volume_id)
            assert held == self._contents.get(volume_id, ""), volume_id

    async def clear(self) -> None:
        """Everything can be deleted, and nothing is left."""
        await self.rest()
        engine = volume_engine(self._roost)
        for path in (INSTANCES, VOLUMES):
            for row in (await self._client.get(f"{path}?page_size=500"))["data"]:
                await self._client.delete(f"{path}/{row['id']}")
            await self._drain()
        await self.rest()
        assert (self._instances, self._volumes) == ([], [])
        assert await engine.list() == []

    @property
    def _guests(self) -> SimulatedInstances:
        engine = self._roost.services.get(Engines).of(INSTANCE_PLANE, "us-lake")
        assert isinstance(engine, SimulatedInstances)
        return engine


def _pick(ids: list[int], number: int) -> int:
    return ids[number % len(ids)]

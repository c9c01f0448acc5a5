"""What volumes are to the instances that they are attached to."""

from collections.abc import Collection

from roost.core import instance_queries
from roost.core.billing.ledger import record
from roost.core.catalog.entries import RegionEntry
from roost.core.events import log
from roost.core.hosts.links import Links, Parcel
from roost.core.instance_queries import InstanceFacts
from roost.core.neighbours import Neighbour
from roost.core.planes import Engines
from roost.core.turns import Turn
from roost.errors import invalid
from roost.jobs.queue import JobQueue
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.neighbours import AttachedVolume, InstanceVolumes
from roost.resources.volumes import jobs, locks, queries, rules
from roost.resources.volumes.bring_jobs import BRING
from roost.resources.volumes.engine import VOLUME_PLANE
from roost.resources.volumes.queries import VOLUME, VolumeFacts
from roost.resources.volumes.release_service import release, take_from_deleted
from roost.resources.volumes.steps import AttachmentArgs, LeftArgs
from roost.services import Services
from roost.store import Queries


class VolumeAttachments(InstanceVolumes, Neighbour):
    """What volumes are to an instance."""

    async def resources(self, db: Queries, compute_id: int) -> list[str]:
        """Under which names jobs work on volumes of the instance, and on clones of these."""
        held = await queries.of_instance(db, compute_id)
        return await locks.resources(db, *(volume.id for volume in held))

    async def objection(self, db: Queries, compute_id: int, memory: int) -> str | None:
        held, most = len(await queries.of_instance(db, compute_id)), rules.most_volumes(memory)
        if held <= most:
            return None
        return (
            f"Compute has {held} volumes, but the new service plan allows {most}."
            " Detach some first."
        )

    async def ties(self, db: Queries, compute_id: int) -> list[str]:
        return ["has volumes"] if await queries.of_instance(db, compute_id) else []

    async def anchors(
        self, db: Queries, services: Services, compute_id: int, region: RegionEntry
    ) -> list[str]:
        held = await queries.of_instance(db, compute_id)
        if not held:
            return []
        if "Block Storage" not in region.capabilities:
            return ["has volumes, which the region does not offer"]
        engine = services.get(Engines).of(VOLUME_PLANE, region.id)
        if all(volume.engine == engine.name for volume in held):
            return []
        return ["has volumes that the region cannot take over"]

    async def carry(
        self, db: Queries, services: Services, compute_id: int, source: str, target: str
    ) -> None:
        engines = services.get(Engines)
        taker, holder = engines.of(VOLUME_PLANE, target), engines.of(VOLUME_PLANE, source)
        for volume in await queries.of_instance(db, compute_id):
            await taker.take(volume.id, holder)

    async def convey(self, db: Queries, services: Services, compute_id: int, address: str) -> None:
        for volume in await queries.of_instance(db, compute_id):
            if volume.made:
                engine = services.get(Engines).on_host(VOLUME_PLANE, volume)
                parcel = Parcel(
                    plane="volumes", region=volume.region, id=volume.id, compute_id=compute_id
                )
                await services.get(Links).send(address, parcel, engine.pack(volume.id))

    async def rehosted(self, db: Queries, services: Services, compute_id: int, host: str) -> None:
        for volume in await queries.of_instance(db, compute_id):
            await queries.set_host(db, volume.id, host)
            await services.get(JobQueue).move(db, locks.resource_of(volume.id), host)

    async def expect(self, db: Queries, services: Services, compute_id: int) -> None:
        for volume in await queries.of_instance(db, compute_id):
            if volume.made:
                engine = services.get(Engines).of(VOLUME_PLANE, volume.region)
                await engine.create(volume.spec)

    async def clear(
        self, db: Queries, services: Services, compute_id: int, host: str, left: str
    ) -> None:
        for volume in await queries.of_instance(db, compute_id):
            args = LeftArgs(volume_id=volume.id, region=volume.region, host=host, left=left)
            await services.get(JobQueue).enqueue(db, jobs.CLEAR, args, host=host)

    async def moved(self, db: Queries, services: Services, compute_id: int, region: str) -> None:
        now = services.get(JobQueue).clock.now()
        for volume in await queries.of_instance(db, compute_id):
            await queries.set_region(db, volume.id, region, now)
            await record(db, queries.CHARGED, volume.id, now)

    async def went_off(self, db: Queries, services: Services, compute_id: int) -> None:
        """Detach those that were attached for one boot only."""
        for volume in await queries.of_instance(db, compute_id):
            if not volume.persist_across_boots:
                await release(db, services.get(JobQueue), volume, compute_id)

    async def left(self, db: Queries, services: Services, compute_id: int) -> None:
        """Detach all (spec A volume freed)."""
        for volume in await queries.of_instance(db, compute_id):
            await release(db, services.get(JobQueue), volume, compute_id)

    async def attached(self, db: Queries, compute_id: int) -> list[AttachedVolume]:
        return [
            AttachedVolume(volume.id, volume.label, volume.persist_across_boots)
            for volume in await queries.of_instance(db, compute_id)
            if volume.made
        ]

    async def bootable(
        self, db: Queries, services: Services, compute_id: int
    ) -> list[AttachedVolume]:
        """Not one whose attaching is unfinished: that waits for this boot, and for other jobs.

        A boot that was asked for later would wait for it.
        """
        volumes = await self.attached(db, compute_id)
        names = [locks.resource_of(volume.id) for volume in volumes]
        found = await services.get(JobQueue).unfinished(db, *names)
        waiting = {job.resource for job in found if job.kind in (jobs.ATTACH.name, BRING.name)}
        return [each for each in volumes if locks.resource_of(each.id) not in waiting]

    async def claim(
        self, db: Queries, services: Services, compute_id: int, volume_ids: Collection[int]
    ) -> None:
        instance = await instance_queries.lock_any(db, compute_id)
        assert instance is not None
        for volume_id in sorted(set(volume_ids)):
            volume = await queries.lock(db, instance.account_id, volume_id)
            if volume is None:
                raise invalid(f"Volume {volume_id} does not exist", "devices")
            if not (volume.compute_id == compute_id and volume.persist_across_boots):
                await _claim(db, services.get(JobQueue), instance, volume)


async def _claim(
    db: Queries, queue: JobQueue, instance: InstanceFacts, volume: VolumeFacts
) -> None:
    now = queue.clock.now()
    locks.check_takes_volumes(instance)
    locks.check_place(volume, instance, "devices")
    volume, former = await take_from_deleted(db, queue, volume)
    turn = await locks.find_turn(db, queue, volume.id, instance.id, former)
    if volume.compute_id != instance.id:
        locks.check_free(volume, turn)
    await locks.check_room(db, instance, True, volume.id)
    await queries.attach(db, volume.id, instance.id, True, now)
    if volume.compute_id is None:
        await _plug_or_notify(db, queue, instance, volume, turn)


async def _plug_or_notify(
    db: Queries, queue: JobQueue, instance: InstanceFacts, volume: VolumeFacts, turn: Turn
) -> None:
    """A guest that runs with that config gets the volume now, any other when it boots."""
    by = log.Starter(queue, db, volume.account_id)
    if instance.status != "running" and not turn.queued:
        await log.notify(by, "volume_attach", VOLUME.of(volume))
        return
    args = AttachmentArgs(volume_id=volume.id, compute_id=instance.id, after=turn.after)
    await log.start(by, jobs.ATTACH, args, VOLUME.of(volume), COMPUTE.of(instance))

"""Steps of cloning, and what takes them back."""

from roost.jobs.run import Run
from roost.jobs.verdicts import Fatal, Verdict, next_step, writing
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.lifecycle.args import CloneArgs
from roost.resources.compute.making import part_of
from roost.resources.compute.steps import engine_of, facts_of


async def copy(run: Run[CloneArgs]) -> Verdict:
    """Make the target's disks with what those of the source hold, each as of one moment."""
    facts, places = await facts_of(run), run.args.disks
    owned = {d.id: d for d in await disks.of_instance(run.store, run.args.source_id)}
    new = {d.id: d for d in await disks.of_instance(run.store, facts.id)}
    for number, (source_id, disk_id) in enumerate(sorted(places.items())):
        if source_id not in owned:
            raise Fatal("A disk that was to be copied is gone.")
        part = part_of(run.progress, number, len(places))
        await engine_of(run, facts).disks.copy(owned[source_id].spec, new[disk_id].spec, part)
    setups = {disk_id: new[disk_id].setup for disk_id in places.values()}
    return next_step(writing(disks.set_made, setups, run.clock.now()))


async def uncopy(run: Run[CloneArgs]) -> Verdict:
    """Remove the new disks, whole or begun, and with a new target all that there is of it."""
    facts = await facts_of(run)
    engine = engine_of(run, facts)
    if run.args.new:
        await engine.delete(facts.id)
        return next_step()
    for disk_id in run.args.disks.values():
        await engine.disks.delete(facts.id, disk_id)
    return next_step()

"""Long-running work on whole instances, as tables of steps.

kind              while it runs         done                      failed
compute_rebuild   rebuilding            offline, then booted      offline, with the disks it has
compute_rescue    booting, rebooting    running                   offline
compute_resize    resizing              offline, booted if it ran as before, with the former plan
                                        (and offline until then)
compute_clone     cloning (both)        both as before            as before; a new target gone
"""

from functools import partial

from roost.jobs.kinds import JobKind, Retry, Step
from roost.jobs.model import Job
from roost.resources.compute import queries as instances
from roost.resources.compute.jobs import becomes, settle
from roost.resources.compute.lifecycle import queries
from roost.resources.compute.lifecycle.steps import (
    CloneArgs,
    RebuildArgs,
    RescueArgs,
    ResizeArgs,
    abandon_clone,
    change_back,
    change_plan,
    clear,
    copy,
    grow,
    keep_rest,
    restore_rows,
    shrink_back,
    start_again,
    start_rescue,
    uncopy,
)
from roost.resources.compute.locks import on_instance
from roost.resources.compute.records import InstanceStatus
from roost.resources.compute.steps import GRACE, cut, make, stop, unmake
from roost.store import Queries

_RETRY = Retry(attempts=3)
"""What an engine refuses it seldom does later."""

_COPY_SECONDS = 3600


async def _begin_rescue(db: Queries, job: Job, args: RescueArgs) -> None:
    await instances.begin_boot(db, args.compute_id, args.status, None, job.created)
    await queries.set_rescued(db, args.compute_id)


async def _not_resized(db: Queries, job: Job, args: ResizeArgs) -> None:
    status: InstanceStatus = "running" if args.booted else "offline"
    await instances.set_status(db, args.compute_id, status, job.finished or job.created)


async def _begin_clone(db: Queries, job: Job, args: CloneArgs) -> None:
    former = await instances.find(db, args.compute_id)
    assert former is not None
    status: InstanceStatus = "offline" if args.new else former.status
    await queries.begin_clone(db, args.source_id, args.compute_id, status, job.created)


async def _end_clone(db: Queries, job: Job, args: CloneArgs) -> None:
    await queries.lock_both(db, args.source_id, args.compute_id)
    now = job.finished or job.created
    await queries.end_clone(db, args.source_id, args.compute_id, now)


REBUILD = JobKind(
    "compute_rebuild",
    RebuildArgs,
    resource=on_instance,
    steps=(
        Step("stop", stop, undo=cut, timeout=2 * GRACE),
        Step("clear", clear, undo=keep_rest, timeout=120),
        Step("make", make, undo=unmake, timeout=900),
        Step("settle", settle),
    ),
    retry=_RETRY,
    on_enqueued=becomes("rebuilding"),
    on_failed=restore_rows,
)

RESCUE = JobKind(
    "compute_rescue",
    RescueArgs,
    resource=on_instance,
    steps=(
        Step("stop", stop, undo=cut, timeout=2 * GRACE),
        Step("start", start_rescue, undo=cut, timeout=120),
    ),
    retry=_RETRY,
    on_enqueued=_begin_rescue,
    on_done=becomes("running"),
    on_failed=becomes("offline"),
)

RESIZE = JobKind(
    "compute_resize",
    ResizeArgs,
    resource=on_instance,
    steps=(
        Step("stop", stop, undo=start_again, timeout=2 * GRACE),
        Step("grow", grow, undo=shrink_back, timeout=900),
        Step("change_plan", change_plan, undo=change_back),
        Step("settle", partial(settle, shown="offline")),
    ),
    retry=_RETRY,
    on_enqueued=becomes("resizing"),
    on_failed=_not_resized,
)

CLONE = JobKind(
    "compute_clone",
    CloneArgs,
    resource=on_instance,  # The target, so that several clones are made at the same time.
    steps=(Step("copy", copy, undo=uncopy, timeout=_COPY_SECONDS),),
    retry=_RETRY,
    on_enqueued=_begin_clone,
    on_done=_end_clone,
    on_failed=abandon_clone,
)

KINDS = (REBUILD, RESCUE, RESIZE, CLONE)

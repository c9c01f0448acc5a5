"""Long-running work on disks, as tables of steps.

kind             while it runs    done         failed
disk_create      not ready        ready        gone
disk_delete      deleting         gone         ready; not ready when nothing of it is left
disk_resize      not ready        ready        ready, of its former size
disk_duplicate   not ready        ready        gone; its source stays ready all the time
"""

from roost.jobs.kinds import JobKind, Retry, Step
from roost.jobs.model import Job
from roost.jobs.turns import in_turn
from roost.resources.compute.disks import queries
from roost.resources.compute.disks.steps import (
    CloneArgs,
    DiskArgs,
    ResizeArgs,
    begin_resize,
    copy,
    discard,
    inspect,
    make,
    remove,
    resize,
    shrink_back,
)
from roost.resources.compute.locks import on_instance
from roost.store import Queries

_RETRY = Retry(attempts=3, base=0.25)
"""What an engine refuses it seldom does later."""


async def _begin_delete(db: Queries, job: Job, args: DiskArgs) -> None:
    await queries.set_status(db, args.disk_id, "deleting", job.created)


async def _begin_resize(db: Queries, job: Job, args: DiskArgs) -> None:
    await queries.set_status(db, args.disk_id, "not ready", job.created)


async def _forget(db: Queries, job: Job, args: DiskArgs) -> None:
    await queries.delete(db, args.disk_id)


async def _settle(db: Queries, job: Job, args: DiskArgs) -> None:
    await queries.settle(db, args.compute_id)


CREATE = JobKind(
    "disk_create",
    DiskArgs,
    resource=on_instance,
    steps=(Step("make", in_turn(make), undo=discard, timeout=900),),
    retry=_RETRY,
    on_failed=_forget,
)

DELETE = JobKind(
    "disk_delete",
    DiskArgs,
    resource=on_instance,
    steps=(Step("remove", in_turn(remove), undo=inspect),),
    retry=_RETRY,
    on_enqueued=_begin_delete,
    on_done=_forget,
    on_failed=_settle,
)

RESIZE = JobKind(
    "disk_resize",
    ResizeArgs,
    resource=on_instance,
    steps=(
        Step("begin", begin_resize),
        Step("resize", resize, undo=shrink_back, timeout=900),
    ),
    retry=_RETRY,
    on_enqueued=_begin_resize,
    on_done=_settle,
    on_failed=_settle,
)

DUPLICATE = JobKind(
    "disk_duplicate",
    CloneArgs,
    resource=on_instance,
    steps=(Step("copy", in_turn(copy), undo=discard, timeout=3600),),
    retry=_RETRY,
    on_failed=_forget,
)

KINDS = (CREATE, DELETE, RESIZE, DUPLICATE)

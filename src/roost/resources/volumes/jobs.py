"""Long-running work on volumes, as tables of steps.

A job that waits for others on its volume or its instance shows nothing until its turn comes.

kind           while it runs    done       failed
volume_create  creating         active     gone, as nothing was on it
volume_clone   creating         active     gone
volume_attach  active           attached   detached
volume_detach  active           detached   still attached
volume_resize  resizing         active     active, with the size that it has; the new one until then
volume_delete  not shown        gone       active again
"""

from typing import TypeVar

from roost.core.entities.records import Entity
from roost.core.events import log
from roost.jobs.kinds import JobKind, Retry, Step
from roost.jobs.queue import JobQueue
from roost.jobs.turns import in_turn
from roost.resources.compute.engine import MountedError
from roost.resources.volumes import effects, steps
from roost.resources.volumes.args import (
    AttachmentArgs,
    CloneArgs,
    CreateArgs,
    ResizeArgs,
    VolumeArgs,
)
from roost.resources.volumes.entity import VOLUME, resource_of
from roost.store import Queries

Args = TypeVar("Args", bound=VolumeArgs)

_RETRY = Retry(attempts=4)
"""What a data plane refuses four times it will refuse again; the user waits for an answer."""

_COPY_SECONDS = 24 * 3600.0

CREATE = JobKind(
    "volume_create",
    CreateArgs,
    steps=(Step("make", steps.make, undo=steps.unmake),),
    retry=_RETRY,
    on_done=effects.is_made,
    on_failed=effects.vanishes,
)

CLONE = JobKind(
    "volume_clone",
    CloneArgs,
    steps=(Step("copy", in_turn(steps.copy), undo=steps.unmake, timeout=_COPY_SECONDS),),
    deadline=_COPY_SECONDS,
    retry=_RETRY,
    on_done=effects.is_made,
    on_failed=effects.vanishes,
)

ATTACH = JobKind(
    "volume_attach",
    AttachmentArgs,
    steps=(Step("plug", in_turn(steps.plug), undo=steps.unplug),),
    retry=_RETRY,
    on_failed=effects.is_detached,
)

DETACH = JobKind(
    "volume_detach",
    AttachmentArgs,
    steps=(Step("unplug", in_turn(steps.unplug), undo=steps.plug_again),),
    retry=_RETRY,
    permanent=(MountedError,),
    on_done=effects.is_detached,
)

RESIZE = JobKind(
    "volume_resize",
    ResizeArgs,
    steps=(
        Step("begin", steps.begin_resize, undo=steps.keep_size),
        Step("grow", steps.grow),
    ),
    retry=_RETRY,
    on_enqueued=effects.will_grow,
    on_done=effects.is_active,
    on_failed=effects.is_active,
)

DELETE = JobKind(
    "volume_delete",
    VolumeArgs,
    steps=(Step("remove", in_turn(steps.remove), undo=steps.keep),),
    retry=_RETRY,
    on_failed=effects.reappears,
)

KINDS = (CREATE, CLONE, ATTACH, DETACH, RESIZE, DELETE)


async def enqueue(
    queue: JobQueue,
    db: Queries,
    kind: JobKind[Args],
    args: Args,
    label: str,
    actor: log.Actor,
    secondary: Entity | None = None,
) -> None:
    """Enqueue a job on the volume of `args` and `label`, with its event."""
    entity = VOLUME.entity(args.volume_id, label)
    await enqueue_about(queue, db, kind, args, actor, entity, secondary)


async def enqueue_about(
    queue: JobQueue,
    db: Queries,
    kind: JobKind[Args],
    args: Args,
    actor: log.Actor,
    entity: Entity,
    secondary: Entity | None,
    size: int | None = None,
) -> None:
    """The same with an event that is about another entity; `size`: MB that are copied."""
    event = log.Event(kind.name, entity, secondary, size=size)
    resource = resource_of(args.volume_id)
    await log.start(queue, db, kind, args, resource=resource, actor=actor, event=event)

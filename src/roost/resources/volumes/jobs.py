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

from roost.jobs.kinds import JobKind, Retry, Step
from roost.jobs.turns import in_turn
from roost.resources.compute.engine import MountedError
from roost.resources.volumes import effects, steps
from roost.resources.volumes.args import (
    AttachmentArgs,
    CloneArgs,
    CreateArgs,
    ResizeArgs,
    VolumeArgs,
    on_volume,
)

_RETRY = Retry(attempts=4)
"""What a data plane refuses four times it will refuse again; the user waits for an answer."""

_COPY_SECONDS = 24 * 3600.0

CREATE = JobKind(
    "volume_create",
    CreateArgs,
    resource=on_volume,
    steps=(Step("make", steps.make, undo=steps.unmake),),
    retry=_RETRY,
    on_done=effects.is_made,
    on_failed=effects.vanishes,
)

CLONE = JobKind(
    "volume_clone",
    CloneArgs,
    resource=on_volume,
    steps=(Step("copy", in_turn(steps.copy), undo=steps.unmake, timeout=_COPY_SECONDS),),
    deadline=_COPY_SECONDS,
    retry=_RETRY,
    on_done=effects.is_made,
    on_failed=effects.vanishes,
)

ATTACH = JobKind(
    "volume_attach",
    AttachmentArgs,
    resource=on_volume,
    steps=(Step("plug", in_turn(steps.plug), undo=steps.unplug),),
    retry=_RETRY,
    on_failed=effects.is_detached,
)

DETACH = JobKind(
    "volume_detach",
    AttachmentArgs,
    resource=on_volume,
    steps=(Step("unplug", in_turn(steps.unplug), undo=steps.plug_again),),
    retry=_RETRY,
    permanent=(MountedError,),
    on_done=effects.is_detached,
)

RESIZE = JobKind(
    "volume_resize",
    ResizeArgs,
    resource=on_volume,
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
    resource=on_volume,
    steps=(Step("remove", in_turn(steps.remove), undo=steps.keep),),
    retry=_RETRY,
    on_failed=effects.reappears,
)

KINDS = (CREATE, CLONE, ATTACH, DETACH, RESIZE, DELETE)

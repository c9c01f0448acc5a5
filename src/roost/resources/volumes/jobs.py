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
from roost.resources.volumes.steps import (
    AttachmentArgs,
    CloneArgs,
    CreateArgs,
    LeftArgs,
    ResizeArgs,
    VolumeArgs,
    begin_resize,
    clear,
    copy,
    drop_row,
    grow,
    keep,
    keep_size,
    make,
    on_left,
    on_volume,
    plug,
    plug_again,
    remove,
    set_active,
    set_detached,
    set_made,
    show_new_size,
    undelete,
    undo_make,
    unplug,
)

_RETRY = Retry(attempts=4)
"""What a data plane refuses four times it will refuse again; the user waits for an answer."""

_COPY_SECONDS = 24 * 3600.0

CREATE = JobKind(
    "volume_create",
    CreateArgs,
    resource=on_volume,
    steps=(Step("make", make, undo=undo_make),),
    retry=_RETRY,
    on_done=set_made,
    on_failed=drop_row,
)

CLONE = JobKind(
    "volume_clone",
    CloneArgs,
    resource=on_volume,
    steps=(Step("copy", in_turn(copy), undo=undo_make, timeout=_COPY_SECONDS),),
    deadline=_COPY_SECONDS,
    retry=_RETRY,
    on_done=set_made,
    on_failed=drop_row,
)

ATTACH = JobKind(
    "volume_attach",
    AttachmentArgs,
    resource=on_volume,
    steps=(Step("plug", in_turn(plug), undo=unplug),),
    retry=_RETRY,
    on_failed=set_detached,
)

DETACH = JobKind(
    "volume_detach",
    AttachmentArgs,
    resource=on_volume,
    steps=(Step("unplug", in_turn(unplug), undo=plug_again),),
    retry=_RETRY,
    permanent=(MountedError,),
    on_done=set_detached,
)

RESIZE = JobKind(
    "volume_resize",
    ResizeArgs,
    resource=on_volume,
    steps=(
        Step("begin", begin_resize, undo=keep_size),
        Step("grow", grow),
    ),
    retry=_RETRY,
    on_enqueued=show_new_size,
    on_done=set_active,
    on_failed=set_active,
)

DELETE = JobKind(
    "volume_delete",
    VolumeArgs,
    resource=on_volume,
    steps=(Step("remove", in_turn(remove), undo=keep),),
    retry=_RETRY,
    on_failed=undelete,
)


CLEAR = JobKind("volume_clear", LeftArgs, resource=on_left, steps=(Step("clear", clear),))

KINDS = (CLEAR, CREATE, CLONE, ATTACH, DETACH, RESIZE, DELETE)

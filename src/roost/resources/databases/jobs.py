"""Long-running work on managed databases, as tables of steps.

kind                         while it runs   done      failed
database_create              provisioning    active    failed, with nothing of it on the host
database_fork                provisioning    active    failed, with nothing of it on the host
database_update              updating        active    active, with allow list and plan as before
database_patch               updating        active    active; the watch says so if it is down
database_credentials_reset   updating        active    active, with the password as before
database_recover             degraded        active    degraded, and tried again every minute
database_suspend             suspending      suspended as before, and tried again
database_resume              resuming        active    suspended, and tried again
database_backup_create       backing_up      active    active, without the backup
database_backup_delete       as before       gone      shown again
database_backup_restore      restoring       active    as before, with the data as before
database_delete              not shown       gone      failed

What failed and could not be taken back leaves a database degraded, until the watch mends it.
"""

from roost.jobs.kinds import JobKind, Retry, Step
from roost.resources.databases import steps
from roost.resources.databases.steps import (
    DatabaseArgs,
    DatabaseBackupArgs,
    RestoreDatabaseArgs,
    SaveArgs,
    UpdateArgs,
    on_database,
)

_RETRY = Retry(attempts=3)
_BRIEF = Retry(attempts=2)
"""The next minute is the next attempt."""
_COPY_SECONDS = 6 * 3600.0

CREATE = JobKind(
    "database_create",
    DatabaseArgs,
    resource=on_database,
    steps=(Step("provision", steps.provision, undo=steps.unmake, timeout=120),),
    retry=_RETRY,
    on_done=steps.is_active,
    on_failed=steps.is_not_made,
)

FORK = JobKind(
    "database_fork",
    DatabaseArgs,
    resource=on_database,
    event="database_create",
    steps=(Step("provision", steps.provision, undo=steps.unmake, timeout=_COPY_SECONDS),),
    deadline=_COPY_SECONDS,
    retry=_RETRY,
    on_done=steps.is_active,
    on_failed=steps.is_not_made,
    per_account=2,
)

UPDATE = JobKind(
    "database_update",
    UpdateArgs,
    resource=on_database,
    steps=(
        Step("admit", steps.admit, undo=steps.admit_as_before),
        Step("resize", steps.resize, undo=steps.keep_plan, timeout=120),
    ),
    retry=_RETRY,
    on_enqueued=steps.becomes("updating"),
    on_done=steps.is_active,
    on_failed=steps.is_not_updated,
)

PATCH = JobKind(
    "database_patch",
    DatabaseArgs,
    resource=on_database,
    event="database_update",
    steps=(Step("patch", steps.patch, undo=steps.ensure, timeout=120),),
    retry=_RETRY,
    on_enqueued=steps.becomes("updating"),
    on_done=steps.is_active,
    on_failed=steps.settles,
)

RESET = JobKind(
    "database_credentials_reset",
    DatabaseArgs,
    resource=on_database,
    steps=(Step("reset", steps.reset_password, undo=steps.keep_password),),
    retry=_RETRY,
    on_enqueued=steps.becomes("updating"),
    on_done=steps.has_new_password,
    on_failed=steps.keeps_password,
)

RECOVER = JobKind(
    "database_recover",
    DatabaseArgs,
    resource=on_database,
    event="database_degraded",
    steps=(
        Step("ensure", steps.ensure, timeout=180),
        Step("rebuild", steps.rebuild, timeout=_COPY_SECONDS),
    ),
    deadline=_COPY_SECONDS,
    retry=_BRIEF,
    on_enqueued=steps.becomes("degraded"),
    on_done=steps.is_active,
)

SUSPEND = JobKind(
    "database_suspend",
    DatabaseArgs,
    resource=on_database,
    event="database_update",
    steps=(Step("rest", steps.rest, undo=steps.ensure, timeout=180),),
    retry=_RETRY,
    on_enqueued=steps.becomes("suspending"),
    on_done=steps.becomes("suspended"),
    on_failed=steps.settles,
)

RESUME = JobKind(
    "database_resume",
    DatabaseArgs,
    resource=on_database,
    event="database_update",
    steps=(
        Step("ensure", steps.ensure, undo=steps.rest, timeout=180),
        Step("rebuild", steps.rebuild, timeout=_COPY_SECONDS),
    ),
    deadline=_COPY_SECONDS,
    retry=_RETRY,
    on_enqueued=steps.becomes("resuming"),
    on_done=steps.is_active,
    on_failed=steps.becomes("suspended"),
)

SAVE = JobKind(
    "database_backup_create",
    SaveArgs,
    resource=on_database,
    steps=(Step("save", steps.save, undo=steps.discard, timeout=_COPY_SECONDS),),
    deadline=_COPY_SECONDS,
    retry=_RETRY,
    on_enqueued=steps.becomes("backing_up"),
    on_done=steps.is_backed_up,
    on_failed=steps.is_not_backed_up,
    per_account=2,
)

DISCARD = JobKind(
    "database_backup_delete",
    DatabaseBackupArgs,
    resource=on_database,
    steps=(Step("discard", steps.discard_for_good, undo=steps.keep_backup),),
    retry=_RETRY,
    on_enqueued=steps.hide_backup,
    on_done=steps.drop_backup,
    on_failed=steps.show_backup,
)

RESTORE = JobKind(
    "database_backup_restore",
    RestoreDatabaseArgs,
    resource=on_database,
    steps=(Step("restore", steps.restore, undo=steps.ensure, timeout=_COPY_SECONDS),),
    deadline=_COPY_SECONDS,
    retry=_RETRY,
    on_enqueued=steps.becomes("restoring"),
    on_done=steps.is_active,
    on_failed=steps.is_as_before,
    per_account=2,
)

DELETE = JobKind(
    "database_delete",
    DatabaseArgs,
    resource=on_database,
    steps=(Step("remove", steps.remove, undo=steps.keep),),
    retry=_RETRY,
    on_done=steps.vanishes,
    on_failed=steps.reappears,
)

KINDS = (
    CREATE,
    FORK,
    UPDATE,
    PATCH,
    RESET,
    RECOVER,
    SUSPEND,
    RESUME,
    SAVE,
    DISCARD,
    RESTORE,
    DELETE,
)

"""The resource groups of the API; a new group is added here."""

from roost.jobs.schedules import AnySchedule
from roost.resources.compute import endpoints as compute
from roost.resources.compute import fsck as compute_fsck
from roost.resources.compute import fsck_addresses
from roost.resources.compute import jobs as compute_jobs
from roost.resources.compute import watch as compute_watch
from roost.resources.compute_types import endpoints as compute_types
from roost.resources.events import endpoints as events
from roost.resources.events import jobs as event_jobs
from roost.resources.fsck import Check
from roost.resources.images import endpoints as images
from roost.resources.kernels import endpoints as kernels
from roost.resources.regions import endpoints as regions
from roost.web import jobs as web_jobs

ENDPOINT_MODULES = (compute, compute_types, events, images, kernels, regions)

JOB_KINDS = (
    *compute_jobs.KINDS,
    compute_watch.WATCH,
    event_jobs.RETENTION,
    web_jobs.RETENTION,
)

SCHEDULES: tuple[AnySchedule, ...] = (
    compute_watch.EVERY_MINUTE,
    event_jobs.NIGHTLY,
    web_jobs.NIGHTLY,
)

AT_START: tuple[AnySchedule, ...] = (compute_watch.EVERY_MINUTE,)
"""Run also when a worker starts, as nobody knows what happened before."""

CHECKS: tuple[Check, ...] = (compute_fsck.check_instances, fsck_addresses.check_addresses)
"""Of `roost fsck`."""

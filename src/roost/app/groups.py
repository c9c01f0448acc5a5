"""The resource groups of the API; a new group is added here."""

from roost.jobs.schedules import AnySchedule
from roost.resources.compute import endpoints as compute
from roost.resources.compute import jobs as compute_jobs
from roost.resources.compute_types import endpoints as compute_types
from roost.resources.events import endpoints as events
from roost.resources.images import endpoints as images
from roost.resources.kernels import endpoints as kernels
from roost.resources.regions import endpoints as regions

ENDPOINT_MODULES = (compute, compute_types, events, images, kernels, regions)

JOB_KINDS = (*compute_jobs.KINDS,)

SCHEDULES: tuple[AnySchedule, ...] = ()

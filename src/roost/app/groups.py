"""The resource groups of the API; a new group is added here."""

from roost.resources.compute import endpoints as compute
from roost.resources.compute import jobs as compute_jobs
from roost.resources.events import endpoints as events

ENDPOINT_MODULES = (compute, events)

JOB_KINDS = (*compute_jobs.KINDS,)

SCHEDULES = ()

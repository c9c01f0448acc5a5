"""The resource groups of the API; a new group is added here."""

from roost.jobs.schedules import AnySchedule
from roost.oauth import retention as oauth_retention
from roost.resources.account import endpoints as account
from roost.resources.account import notices as account_notices
from roost.resources.account.entity import ACCOUNT
from roost.resources.apps import endpoints as apps
from roost.resources.betas import endpoints as betas
from roost.resources.child_accounts import endpoints as child_accounts
from roost.resources.compute import capacity as compute_capacity
from roost.resources.compute import endpoints as compute
from roost.resources.compute import fsck as compute_fsck
from roost.resources.compute import fsck_addresses
from roost.resources.compute import jobs as compute_jobs
from roost.resources.compute import limits as compute_limits
from roost.resources.compute import notices as compute_notices
from roost.resources.compute import watch as compute_watch
from roost.resources.compute.backups import endpoints as backups
from roost.resources.compute.backups import fsck as backup_fsck
from roost.resources.compute.backups import jobs as backup_jobs
from roost.resources.compute.backups import schedule as backup_schedule
from roost.resources.compute.configs import endpoints as configs
from roost.resources.compute.configs import interface_endpoints as interfaces
from roost.resources.compute.disks import endpoints as disks
from roost.resources.compute.disks import jobs as disk_jobs
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.lifecycle import endpoints as lifecycle
from roost.resources.compute.lifecycle import jobs as lifecycle_jobs
from roost.resources.compute_types import endpoints as compute_types
from roost.resources.devices import endpoints as devices
from roost.resources.domains import endpoints as domains
from roost.resources.domains import fsck as domains_fsck
from roost.resources.domains import jobs as domain_jobs
from roost.resources.domains import queries as domain_queries
from roost.resources.domains import record_endpoints as domain_records
from roost.resources.domains.entity import DOMAIN
from roost.resources.entities import jobs as entity_jobs
from roost.resources.entities.kind import EntityKind
from roost.resources.events import endpoints as events
from roost.resources.events import jobs as event_jobs
from roost.resources.explain import endpoints as explain
from roost.resources.fsck import Check
from roost.resources.images import endpoints as images
from roost.resources.images.entity import IMAGE
from roost.resources.kernels import endpoints as kernels
from roost.resources.limits.capacity import Promise
from roost.resources.limits.kinds import LimitGroup
from roost.resources.logins import endpoints as logins
from roost.resources.logins import jobs as login_jobs
from roost.resources.maintenance import endpoints as maintenance
from roost.resources.maintenance import jobs as maintenance_jobs
from roost.resources.maintenance import notices as maintenance_notices
from roost.resources.notifications import endpoints as notifications
from roost.resources.notifications.causes import Cause
from roost.resources.oauth_clients import endpoints as oauth_clients
from roost.resources.oauth_clients import queries as oauth_client_queries
from roost.resources.oauth_clients.entity import OAUTH_CLIENT
from roost.resources.phone import endpoints as phone
from roost.resources.profile import endpoints as profile
from roost.resources.profile.entity import PROFILE
from roost.resources.regions import endpoints as regions
from roost.resources.reverse_dns import endpoints as reverse_dns
from roost.resources.reverse_dns import fsck as reverse_fsck
from roost.resources.reverse_dns import jobs as reverse_jobs
from roost.resources.reverse_dns.entity import IP_ADDRESS
from roost.resources.security_questions import endpoints as security_questions
from roost.resources.ssh_keys import endpoints as ssh_keys
from roost.resources.ssh_keys import queries as ssh_key_queries
from roost.resources.ssh_keys.entity import SSH_KEY
from roost.resources.support import endpoints as support
from roost.resources.support import fsck as support_fsck
from roost.resources.support import jobs as support_jobs
from roost.resources.support import notices as support_notices
from roost.resources.support import queries as support_queries
from roost.resources.support.entity import TICKET
from roost.resources.tags import endpoints as tags
from roost.resources.tags import queries as tag_queries
from roost.resources.tags.entity import TAG
from roost.resources.tokens import endpoints as tokens
from roost.resources.tokens import jobs as token_jobs
from roost.resources.tokens.entity import TOKEN
from roost.resources.transfer import endpoints as transfer
from roost.resources.two_factor import endpoints as two_factor
from roost.resources.users import endpoints as users
from roost.resources.users import queries as user_queries
from roost.resources.users.entity import USER
from roost.resources.volumes import endpoints as volumes
from roost.resources.volumes import fsck as volume_fsck
from roost.resources.volumes import fsck_slots
from roost.resources.volumes import jobs as volume_jobs
from roost.resources.volumes import limits as volume_limits
from roost.resources.volumes.entity import VOLUME
from roost.web import jobs as web_jobs

ENDPOINT_MODULES = (
    account,
    apps,
    backups,
    betas,
    child_accounts,
    compute,
    compute_types,
    configs,
    devices,
    disks,
    domain_records,
    domains,
    events,
    explain,
    images,
    interfaces,
    kernels,
    lifecycle,
    logins,
    maintenance,
    notifications,
    oauth_clients,
    phone,
    profile,
    regions,
    reverse_dns,
    security_questions,
    ssh_keys,
    support,
    tags,
    tokens,
    transfer,
    two_factor,
    users,
    volumes,
)

ENTITY_KINDS: tuple[EntityKind, ...] = (
    ACCOUNT,
    COMPUTE,
    DOMAIN,
    IMAGE,
    IP_ADDRESS,
    OAUTH_CLIENT,
    PROFILE,
    SSH_KEY,
    TAG,
    TICKET,
    TOKEN,
    USER,
    VOLUME,
)

JOB_KINDS = (
    *compute_jobs.KINDS,
    *domain_jobs.KINDS,
    compute_capacity.CAPACITY,
    *compute_watch.KINDS,
    *backup_jobs.KINDS,
    backup_schedule.DUE,
    *disk_jobs.KINDS,
    entity_jobs.FOLD,
    event_jobs.RETENTION,
    *lifecycle_jobs.KINDS,
    login_jobs.RETENTION,
    maintenance_jobs.DUE,
    maintenance_jobs.RUN,
    oauth_retention.RETENTION,
    support_jobs.SEND,
    reverse_jobs.SYNC,
    reverse_jobs.NAMES,
    token_jobs.RETENTION,
    *volume_jobs.KINDS,
    web_jobs.RETENTION,
)

SCHEDULES: tuple[AnySchedule, ...] = (
    backup_schedule.EVERY_TEN_MINUTES,
    compute_capacity.EVERY_MINUTE,
    compute_watch.EVERY_MINUTE,
    entity_jobs.EVERY_TEN_MINUTES,
    event_jobs.NIGHTLY,
    login_jobs.NIGHTLY,
    maintenance_jobs.EVERY_MINUTE,
    oauth_retention.NIGHTLY,
    reverse_jobs.EVERY_MINUTE,
    token_jobs.NIGHTLY,
    web_jobs.NIGHTLY,
)

AT_START: tuple[AnySchedule, ...] = (
    compute_capacity.EVERY_MINUTE,
    compute_watch.EVERY_MINUTE,
    reverse_jobs.EVERY_MINUTE,
)
"""Run also when a worker starts, as nobody knows what happened before."""

CHECKS: tuple[Check, ...] = (
    compute_fsck.check_instances,
    backup_fsck.check_backups,
    fsck_addresses.check_addresses,
    fsck_slots.check_slots,
    volume_fsck.check_volumes,
    support_fsck.check_attachments,
    domains_fsck.check_zones,
    reverse_fsck.check_reverse_zones,
)
"""Of `roost fsck`."""

CAUSES: tuple[Cause, ...] = (
    compute_notices.outages,
    support_notices.tickets,
    maintenance_notices.maintenance,
    account_notices.missing_email,
)
"""Of notifications, the most pressing first."""

LIMITS: tuple[LimitGroup, ...] = (
    compute_limits.COMPUTES,
    volume_limits.VOLUMES,
    domain_queries.LIMIT,
    ssh_key_queries.LIMIT,
    oauth_client_queries.LIMIT,
    user_queries.LIMIT,
    tag_queries.LIMIT,
    support_queries.LIMIT,
)
"""What is counted for each account."""

PROMISES: tuple[Promise, ...] = (compute_limits.promise, volume_limits.promise)
"""What takes memory and storage of the hosts of regions."""

"""The resource groups of Roost; a new one is added here."""

from roost.core.entities import jobs as entities
from roost.core.group import Group, Groups
from roost.core.hosts import missing_jobs
from roost.core.retention import Old, retention
from roost.oauth.group import GROUP as OAUTH
from roost.resources.account.group import GROUP as ACCOUNT
from roost.resources.apps.group import GROUP as APPS
from roost.resources.batch.group import GROUP as BATCH
from roost.resources.betas.group import GROUP as BETAS
from roost.resources.billing.group import GROUP as BILLING
from roost.resources.cancellation.group import GROUP as CANCELLATION
from roost.resources.child_accounts.group import GROUP as CHILD_ACCOUNTS
from roost.resources.compute.group import GROUP as COMPUTE
from roost.resources.compute_types.group import GROUP as COMPUTE_TYPES
from roost.resources.conditions.group import GROUP as CONDITIONS
from roost.resources.databases.group import GROUP as DATABASES
from roost.resources.devices.group import GROUP as DEVICES
from roost.resources.domains.group import GROUP as DOMAINS
from roost.resources.events.group import GROUP as EVENTS
from roost.resources.explain.group import GROUP as EXPLAIN
from roost.resources.firewalls.group import GROUP as FIREWALLS
from roost.resources.images.group import GROUP as IMAGES
from roost.resources.kernels.group import GROUP as KERNELS
from roost.resources.logins.group import GROUP as LOGINS
from roost.resources.maintenance.group import GROUP as MAINTENANCE
from roost.resources.networking.group import GROUP as NETWORKING
from roost.resources.nodebalancers.group import GROUP as NODEBALANCERS
from roost.resources.notifications.group import GROUP as NOTIFICATIONS
from roost.resources.oauth_clients.group import GROUP as OAUTH_CLIENTS
from roost.resources.object_storage.group import GROUP as OBJECT_STORAGE
from roost.resources.payments.group import GROUP as PAYMENTS
from roost.resources.phone.group import GROUP as PHONE
from roost.resources.profile.group import GROUP as PROFILE
from roost.resources.promotions.group import GROUP as PROMOTIONS
from roost.resources.regions.group import GROUP as REGIONS
from roost.resources.reverse_dns.group import GROUP as REVERSE_DNS
from roost.resources.security_questions.group import GROUP as SECURITY_QUESTIONS
from roost.resources.ssh_keys.group import GROUP as SSH_KEYS
from roost.resources.stackscripts.group import GROUP as STACKSCRIPTS
from roost.resources.support.group import GROUP as SUPPORT
from roost.resources.suspension.group import GROUP as SUSPENSION
from roost.resources.tags.group import GROUP as TAGS
from roost.resources.tokens.group import GROUP as TOKENS
from roost.resources.transfers.group import GROUP as TRANSFERS
from roost.resources.two_factor.group import GROUP as TWO_FACTOR
from roost.resources.usage.group import GROUP as USAGE
from roost.resources.users.group import GROUP as USERS
from roost.resources.vlans.group import GROUP as VLANS
from roost.resources.volumes.group import GROUP as VOLUMES
from roost.resources.vpcs.group import GROUP as VPCS
from roost.resources.webhooks.group import GROUP as WEBHOOKS
from roost.web import queries as web

IDEMPOTENCY = Group(
    retention=(
        retention("idempotency_retention", "27 3 * * *", Old(web.delete_old_answers, web.KEPT)),
    ),
)
"""Answers kept for `Idempotency-Key`."""

ENTITIES = Group(jobs=(entities.FOLD,), schedules=(entities.EVERY_TEN_MINUTES,))
"""How many of them accounts have."""

HOSTS = Group(jobs=(missing_jobs.MISSING,))
"""What hosts have of others."""

GROUPS = Groups(
    ACCOUNT,
    APPS,
    BATCH,
    BETAS,
    BILLING,
    CANCELLATION,
    CHILD_ACCOUNTS,
    COMPUTE,
    COMPUTE_TYPES,
    CONDITIONS,
    DATABASES,
    DEVICES,
    DOMAINS,
    ENTITIES,
    EVENTS,
    EXPLAIN,
    FIREWALLS,
    HOSTS,
    IDEMPOTENCY,
    IMAGES,
    KERNELS,
    LOGINS,
    MAINTENANCE,
    NETWORKING,
    NODEBALANCERS,
    NOTIFICATIONS,
    OAUTH,
    OAUTH_CLIENTS,
    OBJECT_STORAGE,
    PAYMENTS,
    PHONE,
    PROFILE,
    PROMOTIONS,
    REGIONS,
    REVERSE_DNS,
    SECURITY_QUESTIONS,
    SSH_KEYS,
    STACKSCRIPTS,
    SUPPORT,
    SUSPENSION,
    TAGS,
    TOKENS,
    TRANSFERS,
    TWO_FACTOR,
    USAGE,
    USERS,
    VLANS,
    VOLUMES,
    VPCS,
    WEBHOOKS,
)

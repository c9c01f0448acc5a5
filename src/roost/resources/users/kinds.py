"""The kinds of entities on which grants can be given; a new kind is added here."""

from collections.abc import Mapping

from roost.resources.compute import grants as compute

KINDS = (
    "compute",
    "database",
    "domain",
    "firewall",
    "image",
    "longview",
    "nodebalancer",
    "stackscript",
    "volume",
    "vpc",
)
"""Of the record, in its order (reference: Grants)."""

ENTITIES: Mapping[str, str] = {"compute": compute.ENTITIES}
"""SQL of `id` and `label` of all entities of the account $1; other kinds have none yet."""

RIGHTS = (
    "add_computes",
    "add_longview",
    "add_domains",
    "add_stackscripts",
    "add_nodebalancers",
    "add_images",
    "add_volumes",
    "add_firewalls",
    "add_databases",
    "add_vpcs",
    "longview_subscription",
    "cancel_account",
)
"""Global grants that are true or false for users of any type."""

CHILD_ACCESS = "child_account_access"
"""The one that only users of a parent account have; null for all others."""

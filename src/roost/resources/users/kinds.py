"""What the record of grants speaks of (reference: Grants)."""

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
"""Of entities, in the order of the record; those that no group declares yet have none."""

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

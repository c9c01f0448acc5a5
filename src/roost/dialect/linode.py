"""The words of the Linode API v4, for which SDKs, command lines and plugins exist.

This is the whole table; `docs/clients.md` says what was run through it. Rows that only later
revisions have carry their reason, as everything that the API itself does not say.
"""

from collections.abc import Mapping

from roost.dialect.table import (
    Added,
    Copied,
    Dialect,
    Dropped,
    Lists,
    Missing,
    Unfiltered,
    Value,
)
from roost.resources.vpcs.rules import LABEL_REASON as VPC_LABEL
from roost.resources.vpcs.rules import NETWORK_REASON as VPC_NETWORK

_COMPUTES = ("computes:read_only",)
_ACCOUNT = ("account:read_only",)
_OBJECTS = ("object_storage:read_only",)
_DATABASES = ("databases:read_only",)
_FIREWALL = ("firewall:read_only",)
_LATER = "later revisions have it"
_INSTANCES = (
    "/databases/mysql/instances",
    "/databases/postgresql/instances",
    "/databases/instances",
)
_NO_IPV6: Mapping[str, object] = {
    "ipv6_addresses": [],
    "ipv6_is_public": None,
    "ipv6_range": None,
    "nodebalancer_id": None,
}
_NAMING = frozenset({"Entity", "TaggedRow"})
_WITH_IDS = frozenset({"Entity", "ImageRow", "KernelRow"})

LINODE = Dialect(
    name="linode",
    product=("compute", "linode"),
    vendor=("roost", "linode"),
    vendor_paths=("/images/", "/compute/kernels/"),
    keys={
        "add_computes": "add_linodes",
        "compute": "linode",
        "compute_id": "linode_id",
        "compute_label": "linode_label",
        "computes": "linodes",
        "from_compute": "from_linode",
    },
    values=(
        Value("image", "roost/", "linode/"),
        Value("images", "roost/", "linode/", many=True),
        Value("kernel", "roost/", "linode/"),
        Value("id", "roost/", "linode/", records=_WITH_IDS),
        Value("created_by", "roost", "linode", whole=True, records=frozenset({"ImageRow"})),
        Value("type", "compute", "linode", whole=True, records=_NAMING),
        Value("type", "compute_config", "linode_config", whole=True, records=_NAMING),
        Value("action", "compute_", "linode_"),
        # Later revisions name these events so; clients wait for the later names.
        Value("action", "dns_record_", "domain_record_"),
        Value("action", "dns_zone_", "domain_"),
        Value("capabilities", "Computes", "Linodes", whole=True, many=True),
        Value("capabilities", "GPU Computes", "GPU Linodes", whole=True, many=True),
        Value("available", "Computes", "Linodes", whole=True, many=True),
        Value("unavailable", "Computes", "Linodes", whole=True, many=True),
        Value("billing_source", "platform", "linode", whole=True),
        Value("service_type", "compute", "linode"),
    ),
    scope_fields=frozenset({"scopes", "missing_scopes"}),
    path_fields=frozenset({"url", "path"}),
    words={"dns_zone_": "domain_", "dns_record_": "domain_record_"},
    reasons={
        ("label", VPC_LABEL): "Label must include only ASCII letters, numbers, and dashes",
        ("ipv4", VPC_NETWORK): "ipv4 must be an IPv4 network",
    },
    opaque_fields=frozenset({"stackscript_data"}),
    opaque_paths=frozenset({"/profile/preferences"}),
    added=(
        Added(
            ("/compute/instances",),
            "image",
            {
                "capabilities": [],
                "disk_encryption": "disabled",
                "interface_generation": "legacy_config",
                "lke_cluster_id": None,
                "locks": [],
                "maintenance_policy": None,
                "placement_group": None,
                "site_type": "core",
            },
            _LATER,
        ),
        Added(("/compute/instances",), "gpus", {"accelerated_devices": 0}, _LATER),
        Added(("/compute/instances/{}/transfer",), "quota", {"region_transfers": []}, _LATER),
        Added(("/compute/types",), "network_out", {"accelerated_devices": 0}, _LATER),
        Added(
            ("/compute/instances/{}/disks",),
            "filesystem",
            {"disk_encryption": "disabled"},
            "later revisions have it; what an operator encrypts lies below",
        ),
        Added(
            ("/volumes", "/compute/instances/{}/volumes"),
            "filesystem_path",
            {"encryption": "disabled", "io_ready": True},
            _LATER,
        ),
        Added(("/images",), "eol", {"is_shared": False, "regions": [], "tags": []}, _LATER),
        Added(
            ("/regions",),
            "resolvers",
            {
                "placement_group_limits": {
                    "maximum_linodes_per_pg": 0,
                    "maximum_pgs_per_customer": 0,
                }
            },
            _LATER,
        ),
        Added(("/networking/ips",), "gateway", {"interface_id": None, "reserved": False}, _LATER),
        Added(
            ("/account/settings",),
            "managed",
            {"interfaces_for_new_linodes": "legacy_config_only", "maintenance_policy": None},
            _LATER,
        ),
        Added(("/support/tickets",), "summary", {"severity": None}, _LATER),
        Added(
            _INSTANCES,
            "cluster_size",
            {
                "connection_strings": [],
                "engine_config": {},
                "members": {},
                "platform": "rdbms-default",
                "private_network": None,
            },
            "later revisions have it; the platform is that whose databases are forked by time",
        ),
        Added(
            _INSTANCES,
            "primary",
            {"endpoints": []},
            _LATER,
        ),
        Added(
            ("/networking/firewalls", "/compute/instances/{}/firewalls"),
            "url",
            {"parent_entity": None},
            "later revisions have it of parts of instances",
        ),
        Added(
            ("/account/users/{}/grants", "/profile/grants"),
            "add_volumes",
            {"add_kubernetes": False, "add_lkes": False},
            _LATER,
        ),
        Added(
            ("/account/users/{}/grants", "/profile/grants"),
            "nodebalancer",
            {"lkecluster": []},
            _LATER,
        ),
        Added(
            ("/account/maintenance",),
            "reason",
            {
                "complete_time": None,
                "description": "scheduled",
                "maintenance_policy_set": None,
                "source": "platform",
            },
            _LATER,
        ),
        Added(("/vpcs/ips", "/vpcs/{}/ips"), "gateway", _NO_IPV6, _LATER),
        Added(("/vpcs",), "ipv4", {"nodebalancers": []}, _LATER),
    ),
    copied=(
        Copied(("/images",), "size", "total_size"),
        Copied(("/account/maintenance",), "when", "not_before"),
        Copied(("/account/maintenance",), "when", "start_time"),
    ),
    doubled_paths=frozenset(
        {
            "/compute/instances/{}/stats",
            "/compute/instances/{}/stats/{}/{}",
        }
    ),
    dropped=(
        Dropped(
            "/domains/{}/records",
            "weight",
            {"type": "SRV"},
            "clients send a weight of 0 with records of every type",
        ),
        Dropped("/domains/{}/records", "port", {"type": "SRV"}, "the same"),
        Dropped("/domains/{}/records", "service", {"type": "SRV"}, "the same, empty"),
        Dropped("/domains/{}/records", "protocol", {"type": "SRV"}, "the same, empty"),
    ),
    unfiltered=(
        Unfiltered("/databases/types", "platform", "all are of one"),
        Unfiltered("/databases/engines", "platform", "all are of one"),
    ),
    missing=(Missing("/images", "disk_id", "disk_id is not valid"),),
    any_redirect_query=True,
    lists=(
        Lists("/account/tfa-optional-users", _ACCOUNT, "Users who need no second factor"),
        Lists("/compute/types-legacy", (), "Plans that are offered no more"),
        Lists("/images/sharegroups", ("images:read_only",), "Images shared with others"),
        Lists("/lke/clusters", ("lke:read_only",), "Kubernetes clusters"),
        Lists("/lke/types", (), "Kinds of Kubernetes clusters"),
        Lists("/lke/versions", ("lke:read_only",), "Versions of Kubernetes"),
        Lists("/locks", _ACCOUNT, "Locks against deletion"),
        Lists("/longview/clients", ("longview:read_only",), "Longview clients"),
        Lists("/longview/subscriptions", (), "Plans of Longview"),
        Lists("/longview/types", (), "Kinds of Longview"),
        Lists("/maintenance/policies", (), "What becomes of an instance in a maintenance"),
        Lists("/managed/contacts", _ACCOUNT, "Contacts of managed services"),
        Lists("/managed/credentials", _ACCOUNT, "Credentials of managed services"),
        Lists("/managed/issues", _ACCOUNT, "Issues of managed services"),
        Lists("/managed/linode-settings", _ACCOUNT, "How managed services reach instances"),
        Lists("/managed/services", _ACCOUNT, "Managed services"),
        Lists("/monitor/alert-definitions", _ACCOUNT, "Alerts of the monitor"),
        Lists("/monitor/dashboards", _ACCOUNT, "Dashboards of the monitor"),
        Lists("/monitor/services", _ACCOUNT, "What the monitor watches"),
        Lists("/networking/firewalls/rulesets", _FIREWALL, "Rules that firewalls share"),
        Lists("/networking/firewalls/templates", _FIREWALL, "Firewalls to begin with"),
        Lists("/networking/prefixlists", _FIREWALL, "Named lists of addresses"),
        Lists("/networking/reserved/ips", ("ips:read_only",), "Addresses that are reserved"),
        Lists("/object-storage/quotas", _OBJECTS, "Quotas of object storage"),
        Lists("/placement/groups", _COMPUTES, "Placement groups"),
        Lists("/vpcs/ipv6s", ("vpc:read_only",), "IPv6 addresses in VPCs"),
    ),
)

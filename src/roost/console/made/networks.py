"""Firewalls with their rules and devices; VPCs and VLANs as who is where; addresses; statistics."""

from roost.console.pages import Page, Read, read

_FIREWALL = "/networking/firewalls/{firewallId:int}"
_VPC = "/vpcs/{vpcId:int}"
_EVENTS = '{"entity.type": "firewall", "entity.id": "{firewallId}"}'

PAGES = (
    Page(
        "/networking/firewalls",
        "Firewalls",
        "list.html",
        {"list": Read("list_firewalls", listed=True)},
        lead="Which connections reach instances, and which leave them.",
        columns=("label", "status", "tags", "created", "updated"),
    ),
    Page(
        "/networking/firewalls",
        "Create a firewall",
        "firewalls/create.html",
        form="create_firewall",
    ),
    Page(
        _FIREWALL,
        "{label}",
        "firewalls/firewall.html",
        {
            "firewall": read("view_firewall"),
            "devices": read("list_firewall_devices", page_size="100"),
            "events": Read("list_events", {"page_size": "25"}, wanted=_EVENTS),
        },
    ),
    Page(
        "/nodebalancers/{nodeBalancerId:int}/stats",
        "Statistics of {label}",
        "nodebalancers/stats.html",
        {"balancer": read("view_nodebalancer"), "stats": read("view_nodebalancer_stats")},
    ),
    Page(
        "/vpcs",
        "VPCs",
        "list.html",
        {"list": Read("list_vpcs", listed=True)},
        lead="Private networks of your own, in which instances reach each other and nobody else.",
        columns=("label", "region", "description", "created"),
    ),
    Page(
        _VPC,
        "{label}",
        "vpcs/vpc.html",
        {"vpc": read("view_vpc"), "addresses": read("list_addresses_of_vpc", page_size="500")},
    ),
    Page(
        "/networking/vlans",
        "VLANs",
        "vlans/vlans.html",
        {"list": Read("list_vlans", listed=True)},
        lead="Wires between instances of a region, without addresses of ours. One is made when an "
        "interface of an instance's config names it, and goes with the last one.",
    ),
    Page(
        "/networking/ips",
        "Addresses",
        "list.html",
        {"list": Read("list_addresses", listed=True)},
        columns=("address", "type", "public", "rdns", "region"),
    ),
)

"""Instances: what they are, have and do; making one; their console and statistics."""

from roost.console.pages import Page, Read, read

_ONE = "/compute/instances/{computeId:int}"
_EVENTS = '{"entity.type": "compute", "entity.id": "{computeId}"}'

PAGES = (
    Page(
        "/compute/instances",
        "Instances",
        "list.html",
        {"list": Read("list_instances", listed=True)},
        columns=("label", "status", "region", "type", "image", "ipv4", "tags", "created"),
        bulk=("boot_instance", "shutdown_instance", "reboot_instance"),
    ),
    Page(
        "/compute/stackscripts",
        "StackScripts",
        "list.html",
        {"list": Read("list_stackscripts", listed=True)},
        lead="What sets up an instance at its first boot: public ones, and your own.",
        columns=("label", "username", "images", "deployments_total", "is_public", "updated"),
    ),
    Page(
        "/compute/instances",
        "Create an instance",
        "instances/create.html",
        form="create_instance",
        lead="A machine of its own, which runs in less than a minute. Begin with a region, a plan "
        "and an image, and a password or a key to get in by; all else can wait.",
    ),
    Page(
        _ONE,
        "{label}",
        "instances/instance.html",
        {
            "instance": read("view_instance"),
            "disks": read("list_disks"),
            "volumes": read("list_volumes_of_instance"),
            "firewalls": read("list_firewalls_of_instance"),
            "traffic": read("view_instance_transfer"),
            "events": Read("list_events", {"page_size": "25"}, wanted=_EVENTS),
        },
    ),
    Page(
        _ONE,
        "Delete an instance",
        "instances/delete.html",
        {
            "instance": read("view_instance"),
            "disks": read("list_disks"),
            "volumes": read("list_volumes_of_instance"),
        },
        form="delete_instance",
    ),
    Page(
        f"{_ONE}/ips",
        "Addresses of {label}",
        "instances/addresses.html",
        {"addresses": read("view_addresses"), "instance": read("view_instance")},
        leads=(
            "view_address_of_instance",
            "update_address_of_instance",
            "delete_address_of_instance",
        ),
    ),
    Page(
        f"{_ONE}/backups",
        "Backups of {label}",
        "instances/backups.html",
        {"backups": read("list_backups"), "instance": read("view_instance")},
        leads=("view_backup", "restore_backup"),
    ),
    Page(
        f"{_ONE}/stats",
        "Statistics of {label}",
        "instances/stats.html",
        {"stats": read("view_instance_stats"), "instance": read("view_instance")},
    ),
    Page(
        f"{_ONE}/stats/{{year:int}}/{{month:int}}",
        "Statistics of {label}",
        "instances/stats.html",
        {"stats": read("view_instance_stats_of_month"), "instance": read("view_instance")},
    ),
    Page(
        f"{_ONE}/transfer",
        "Traffic of {label}",
        "instances/traffic.html",
        {"traffic": read("view_instance_transfer"), "instance": read("view_instance")},
        leads=("view_instance_transfer_of_month",),
    ),
    Page(
        f"{_ONE}/console",
        "Console of {label}",
        "instances/console.html",
        {"console": read("view_console"), "instance": read("view_instance")},
    ),
)

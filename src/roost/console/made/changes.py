"""Plans; what changes an instance as a whole: plan, image, region, config; copies, repairs."""

from roost.console.pages import Page, Read, read

_ONE = "/compute/instances/{computeId:int}"
_INSTANCE = {"instance": read("view_instance")}
_DISKS = {**_INSTANCE, "disks": read("list_disks", page_size="500")}
_ALL = {**_DISKS, "volumes": read("list_volumes_of_instance", page_size="500")}
_BOOTED = {**_ALL, "configs": read("list_configs", page_size="500")}
_PLANS = {**_DISKS, "plans": read("list_compute_types", page_size="500")}

PAGES = (
    Page(
        "/compute/types",
        "Plans",
        "instances/types.html",
        {"list": Read("list_compute_types", listed=True)},
        lead="What an instance has, and what it costs: by the hour, up to the price of a month. "
        "Where a region has another price, the plan's own page says it.",
    ),
    Page(
        f"{_ONE}/resize",
        "Resize {label}",
        "instances/resize.html",
        _PLANS,
        form="resize_instance",
    ),
    Page(
        f"{_ONE}/rebuild",
        "Rebuild {label}",
        "instances/rebuild.html",
        _ALL,
        form="rebuild_instance",
        lead="A new disk of an image, in place of all that it has.",
    ),
    Page(
        f"{_ONE}/rescue",
        "Rescue {label}",
        "instances/rescue.html",
        _DISKS,
        form="rescue_instance",
    ),
    Page(
        f"{_ONE}/clone", "Clone {label}", "instances/clone.html", _INSTANCE, form="clone_instance"
    ),
    Page(
        f"{_ONE}/migrate",
        "Move {label} to another region",
        "instances/migrate.html",
        _INSTANCE,
        form="migrate_instance",
    ),
    Page(f"{_ONE}/boot", "Boot {label}", "instances/boot.html", _BOOTED, form="boot_instance"),
    Page(
        f"{_ONE}/reboot", "Reboot {label}", "instances/boot.html", _BOOTED, form="reboot_instance"
    ),
)

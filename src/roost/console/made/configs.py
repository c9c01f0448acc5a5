"""Disks of instances, and configs: what is at which slot when they boot."""

from roost.console.pages import Page, Read, read

_ONE = "/compute/instances/{computeId:int}"
_CONFIG = f"{_ONE}/configs/{{configId:int}}"
_MOST = {"page_size": "500"}

PAGES = (
    Page(
        f"{_ONE}/disks",
        "Disks",
        "instances/disks.html",
        {"disks": Read("list_disks", listed=True), "instance": read("view_instance")},
        columns=("label", "status", "size", "filesystem", "created"),
    ),
    Page(
        f"{_ONE}/configs",
        "Configs",
        "list.html",
        {"list": Read("list_configs", listed=True)},
        lead="With what it boots: a kernel, what is at which slot, and its networks.",
        columns=("label", "kernel", "root_device", "comments", "created"),
    ),
    Page(
        f"{_ONE}/configs",
        "Create a config",
        "instances/edit-config.html",
        form="create_config",
    ),
    Page(
        _CONFIG,
        "{label}",
        "instances/config.html",
        {
            "config": read("view_config"),
            "instance": read("view_instance"),
            "disks": Read("list_disks", _MOST),
            "volumes": Read("list_volumes_of_instance", _MOST),
        },
    ),
    Page(_CONFIG, "Edit a config", "instances/edit-config.html", form="update_config"),
)

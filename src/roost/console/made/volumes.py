"""Volumes: where they are attached, and how to use them there."""

from roost.console.pages import Page, Read, read

_ONE = "/volumes/{volumeId:int}"
_EVENTS = '{"entity.type": "volume", "entity.id": "{volumeId}"}'

PAGES = (
    Page(
        "/volumes",
        "Volumes",
        "list.html",
        {"list": Read("list_volumes", listed=True)},
        lead="Disks that stay when an instance goes, and move from one to another.",
        columns=("label", "status", "size", "region", "compute_label", "tags", "created"),
    ),
    Page(
        _ONE,
        "{label}",
        "volumes/volume.html",
        {
            "volume": read("view_volume"),
            "events": Read("list_events", {"page_size": "25"}, wanted=_EVENTS),
        },
    ),
    Page(
        _ONE,
        "Delete a volume",
        "volumes/delete.html",
        {"volume": read("view_volume")},
        form="delete_volume",
    ),
)

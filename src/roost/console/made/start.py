"""The start page: what runs, what it costs, what happens, what is due."""

from roost.console.pages import Page, read

PAGES = (
    Page(
        "/",
        "Overview",
        "start.html",
        {
            "instances": read("list_instances", page_size="25"),
            "estimate": read("view_estimate"),
            "volumes": read("list_volumes", page_size="25"),
            "databases": read("list_databases", page_size="25"),
            "events": read("list_events", page_size="25"),
            "notifications": read("list_notifications"),
        },
    ),
)

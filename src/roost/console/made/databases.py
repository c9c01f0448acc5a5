"""Managed databases: how to connect, who may, what there is to go back to."""

from roost.console.pages import Page, Read, read

_ONE = "/databases/mysql/instances/{instanceId:int}"
_EVENTS = '{"entity.type": "database", "entity.id": "{instanceId}"}'

PAGES = (
    Page(
        _ONE,
        "{label}",
        "databases/database.html",
        {
            "database": read("view_mysql_database"),
            "authority": read("view_database_ssl"),
            "backups": read("list_database_backups"),
            "events": Read("list_events", {"page_size": "25"}, wanted=_EVENTS),
        },
    ),
)

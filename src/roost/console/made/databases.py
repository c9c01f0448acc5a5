"""Managed databases: how to connect, who may, what there is to go back to."""

from roost.console.pages import Page, Read, read

_EVENTS = '{"entity.type": "database", "entity.id": "{instanceId}"}'


def _page(engine: str, view: str, ssl: str, backups: str) -> Page:
    return Page(
        f"/databases/{engine}/instances/{{instanceId:int}}",
        "{label}",
        "databases/database.html",
        {
            "database": read(view),
            "authority": read(ssl),
            "backups": read(backups),
            "events": Read("list_events", {"page_size": "25"}, wanted=_EVENTS),
        },
    )


PAGES = (
    _page("mysql", "view_mysql_database", "view_database_ssl", "list_database_backups"),
    _page(
        "postgresql", "view_postgresql_database", "view_postgresql_ssl", "list_postgresql_backups"
    ),
)

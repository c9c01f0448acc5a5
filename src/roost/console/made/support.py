"""Support tickets, as conversations."""

from roost.console.pages import Page, read

PAGES = (
    Page(
        "/support/tickets/{ticketId:int}",
        "{summary}",
        "support/ticket.html",
        {
            "ticket": read("view_ticket"),
            "replies": read("list_ticket_replies", page_size="500"),
        },
    ),
)

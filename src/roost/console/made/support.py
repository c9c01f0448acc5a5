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
    Page(
        "/support/tickets/{ticketId:int}/attachments",
        "Attach a file",
        "form.html",
        form="upload_ticket_attachment",
        lead="A picture (`.gif`, `.jpg`, `.png`, `.tiff`), a `.pdf` or a `.txt`, of at most 5 MB.",
    ),
)

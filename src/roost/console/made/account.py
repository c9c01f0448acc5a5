"""The account: what happens, the bill so far, invoices, and what users may do."""

from roost.console.pages import Page, Read, read

PAGES = (
    Page(
        "/account/events",
        "Activity",
        "account/events.html",
        {"list": Read("list_events", listed=True)},
        lead="What was done, by whom, and how it ended; the newest first.",
    ),
    Page(
        "/account/estimate",
        "The bill so far",
        "account/estimate.html",
        {"estimate": read("view_estimate"), "account": read("view_account")},
    ),
    Page(
        "/account/invoices/{invoiceId:int}",
        "{label}",
        "account/invoice.html",
        {"invoice": read("view_invoice"), "items": read("list_invoice_items", page_size="500")},
    ),
    Page(
        "/account/users",
        "Users",
        "list.html",
        {"list": Read("list_users", listed=True)},
        lead="Who may use this account. Restricted users may do what they have grants for.",
        columns=("username", "email", "restricted", "tfa_enabled", "password_created"),
    ),
    Page(
        "/account/users/{username}/grants",
        "What {username} may do",
        "account/grants.html",
        {"grants": read("view_user_grants"), "user": read("view_user")},
    ),
    Page(
        "/account/users/{username}/grants",
        "What {username} may do",
        "account/edit-grants.html",
        form="update_user_grants",
    ),
    Page(
        "/profile/tokens",
        "Create a token",
        "account/token.html",
        form="create_token",
        lead="With it programs call the API in your name. It is shown once.",
    ),
)

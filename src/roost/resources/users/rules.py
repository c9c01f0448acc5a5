"""The rules of users as pure functions (reference: User)."""

USERNAME_PATTERN = r"(?!.*(?:--|__))[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?"
RESERVED_NAMES = frozenset(
    (
        "abuse",
        "admin",
        "administrator",
        "billing",
        "help",
        "helpdesk",
        "hostmaster",
        "info",
        "noc",
        "operator",
        "owner",
        "postmaster",
        "root",
        "roost",
        "security",
        "staff",
        "support",
        "sysadmin",
        "system",
        "webmaster",
    )
)
"""By which nobody but the operator may be called, however it is capitalised."""

USERNAME_REASON = (
    "Must begin and end with a letter or number, and hold only letters, numbers, hyphens and "
    "underscores, none of the last two twice in a row"
)

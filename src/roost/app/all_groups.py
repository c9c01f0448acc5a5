"""All groups for commands, most of which look at rows alone and start sooner without."""

from roost.core.group import Groups


def all_groups() -> Groups:
    """Importing them takes a second, and 40 MB."""
    from roost.app.groups import GROUPS

    return GROUPS

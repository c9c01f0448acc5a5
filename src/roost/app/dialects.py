"""The dialects that there are, and where the settings want them."""

from roost.dialect.linode import LINODE
from roost.dialect.table import Dialect

DIALECTS = {each.name: each for each in (LINODE,)}


def read_dialects(setting: str) -> list[tuple[Dialect, str]]:
    """Each with its HOST:PORT; ValueError for one that is not known."""
    wanted = [part.partition("=") for part in setting.split(",") if part]
    if unknown := [name for name, _, _ in wanted if name not in DIALECTS]:
        known = ", ".join(DIALECTS)
        raise ValueError(f"{unknown[0] or 'nothing'} is not a dialect: there is {known}")
    return [(DIALECTS[name], listen) for name, _, listen in wanted]

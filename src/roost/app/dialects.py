"""The dialects that there are, and where the settings want them."""

from roost.core.catalog import Catalog
from roost.dialect.linode import LINODE
from roost.dialect.table import Dialect
from roost.errors import OperatorError

DIALECTS = {each.name: each for each in (LINODE,)}


def read_dialects(setting: str) -> list[tuple[Dialect, str]]:
    """Each with its HOST:PORT; ValueError for one that is not known."""
    wanted = [part.partition("=") for part in setting.split(",") if part]
    if unknown := [name for name, _, _ in wanted if name not in DIALECTS]:
        known = ", ".join(DIALECTS)
        raise ValueError(f"there is no dialect {unknown[0]!r}, only {known}")
    return [(DIALECTS[name], listen) for name, _, listen in wanted]


def check_ids(dialect: Dialect, catalog: Catalog) -> None:
    """OperatorError for ids of the catalogue that nobody could tell from translated ones."""
    prefix = f"{dialect.vendor[1]}/"
    images = [image.id for image in catalog.entries.images]
    kernels = [kernel.id for kernel in catalog.entries.kernels]
    if taken := sorted(each for each in (*images, *kernels) if each.startswith(prefix)):
        raise OperatorError(
            f"the dialect {dialect.name} and the catalogue do not go together: {taken[0]} is what "
            f"{dialect.vendor[0]}/{taken[0].removeprefix(prefix)} is called there"
        )

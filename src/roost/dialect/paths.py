"""Paths of the API, and the ids that they carry."""

from roost.dialect.table import Dialect


def back(dialect: Dialect, path: str) -> str:
    """Our path for one of theirs; one of ours becomes a path that nothing has."""
    for old, new in dialect.products_exchanged:
        if path.startswith(old):
            path = new + path[len(old) :]
            break
    if path.startswith(dialect.vendor_paths):
        for old, new in dialect.vendors_exchanged:
            if path.startswith(old):
                return new + path[len(old) :]
    return path


def beginnings(dialect: Dialect) -> list[tuple[str, str]]:
    """What paths begin with, below the version: ours and theirs, the longest first."""
    (ours, theirs), (vendor, their_vendor) = dialect.product, dialect.vendor
    product = f"/{ours}/", f"/{theirs}/"
    vendors = [
        (f"{prefix}{vendor}/", f"{prefix.replace(*product)}{their_vendor}/")
        for prefix in dialect.vendor_paths
    ]
    return [*vendors, product]

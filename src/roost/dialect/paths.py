"""Paths of the API, and the ids that they carry."""

from roost.dialect.table import Dialect


def back(dialect: Dialect, path: str) -> str:
    """Our path for one of theirs; one of ours becomes a path that nothing has."""
    ours, theirs = dialect.product
    for old, new in ((f"/{theirs}/", f"/{ours}/"), (f"/{ours}/", f"/{theirs}/")):
        if path.startswith(old):
            path = new + path[len(old) :]
            break
    our_vendor, their_vendor = (f"{name}/" for name in dialect.vendor)
    for prefix in dialect.vendor_paths:
        if path.startswith(prefix):
            rest = path[len(prefix) :]
            if rest.startswith(their_vendor):
                return prefix + our_vendor + rest[len(their_vendor) :]
            if rest.startswith(our_vendor):
                return prefix + their_vendor + rest[len(our_vendor) :]
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

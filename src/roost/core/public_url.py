"""Where browsers reach this server."""

from dataclasses import dataclass, replace

from roost.store.paging import Listing


@dataclass(frozen=True, slots=True)
class PublicUrl:
    """Where browsers reach this server, when the operator has said so."""

    base: str | None

    def complete(self, listing: Listing) -> Listing:
        """With whole URLs of thumbnails instead of paths."""
        if self.base is None:
            return listing
        quoted = self.base.replace("'", "''")
        return replace(listing, record=listing.record.replace("'/v4/", f"'{quoted}/v4/"))

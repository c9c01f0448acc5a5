"""Images of deleted instances are looked for by when they expire."""

UPGRADE = "create index image_expiry on image (expiry) where expiry is not null"

DOWNGRADE = "drop index image_expiry"

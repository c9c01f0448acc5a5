"""Images of deleted instances are looked for by when they expire."""

from roost.store.migrations.sql import execute

revision = "0067"
down_revision = "0066"

UPGRADE = "create index image_expiry on image (expiry) where expiry is not null"

DOWNGRADE = "drop index image_expiry"


def upgrade() -> None:
    execute(UPGRADE)


def downgrade() -> None:
    execute(DOWNGRADE)

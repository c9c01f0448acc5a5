"""How events and records of other groups name OAuth clients."""

from roost.core.entities.kind import EntityKind

THUMBNAIL_URL = """
    case when c.thumbnail is not null
        then '/v4/account/oauth-clients/' || c.id || '/thumbnail' end
    """
"""SQL of the field `thumbnail_url` of records, in terms of a client `c`."""


OAUTH_CLIENT = EntityKind(name="oauth_client", path="/account/oauth-clients/{id}")

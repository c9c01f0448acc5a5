"""What grants can be given on (reference: Grants)."""

ENTITIES = "select id, label from compute_instance where account_id = $1"
"""SQL of `id` and `label` of all instances of the account $1."""

"""A small authoritative name server on top of dnspython."""

"""Former revisions of the API: what they called things, and how requests and answers get from one
to the next.

The newest is what handlers, records and queries are written in; nothing below this package knows
that there were others.
"""

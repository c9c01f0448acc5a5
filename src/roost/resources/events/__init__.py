"""Events.

What happened in the account, and how far it is.
"""

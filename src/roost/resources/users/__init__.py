"""Users.

The users of an account, and what restricted ones may do.
"""

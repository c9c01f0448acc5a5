"""Cancellation.

The end of an account: it pays what it owes, and everything that it has is deleted.
"""

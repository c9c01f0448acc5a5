"""Webhooks.

URLs of your own that are told of the account's events.
"""

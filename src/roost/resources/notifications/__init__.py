"""Notifications.

What an account should know as long as it is so.
"""

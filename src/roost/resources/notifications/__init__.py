"""Notifications: what an account should know as long as it is so (spec B, Account)."""

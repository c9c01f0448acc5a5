"""Emails over SMTP."""

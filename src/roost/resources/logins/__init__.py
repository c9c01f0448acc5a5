"""Logins.

Who logged in when and from where.
"""

"""Authorized apps.

OAuth clients that you have let in.
"""

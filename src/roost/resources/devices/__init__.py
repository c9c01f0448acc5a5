"""Trusted devices.

Browsers that log in without a second factor.
"""

"""Compute instances.

Virtual machines: making, changing, booting and deleting them.
"""

"""Maintenance.

What the operator plans to do to instances.
"""

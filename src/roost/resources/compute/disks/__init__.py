"""Disks.

The disks of an instance, which are deleted with it.
"""

"""Backups.

Copies of an instance's disks, made each day or when you ask.
"""

"""Transfers.

Compute instances can go from one account to another: one account offers them, whoever knows the
token accepts within a day. They keep their disks, backups, addresses and ids, and run on meanwhile.
"""

"""Domains.

DNS zones and their records, answered by this server's name servers.
"""

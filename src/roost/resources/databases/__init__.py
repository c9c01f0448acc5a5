"""Managed databases.

Database servers with the MySQL protocol, which the cloud runs, backs up and keeps alive.
"""

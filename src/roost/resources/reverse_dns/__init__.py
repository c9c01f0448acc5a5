"""Addresses.

Addresses of instances and the names that reverse DNS gives them.
"""

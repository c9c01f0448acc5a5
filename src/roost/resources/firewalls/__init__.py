"""Firewalls.

What may reach instances, and what they may reach: rules in order, and a policy for the rest.
"""

"""Addresses

Addresses of instances: allocated, moved from one instance to another, and shared for failover. A
running guest sends and gets with its new addresses when the event is finished; it configures them
itself at once, or finds them configured at its next boot.
"""

"""SSH keys.

Public keys that your user puts into new instances.
"""

"""OAuth clients.

Applications that may ask users for access to their account.
"""

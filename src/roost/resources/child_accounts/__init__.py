"""Child accounts.

Accounts of customers, for the parent that manages them.
"""

"""Account.

Contact and billing data of the account, its settings, and what it can use where.
"""

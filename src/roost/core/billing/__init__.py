"""The ledger of what accounts are charged for, and what it comes to."""

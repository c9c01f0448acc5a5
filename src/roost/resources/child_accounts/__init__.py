"""Child accounts as their parent sees them (spec B, Account rules 3 and 4)."""

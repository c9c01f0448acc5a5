"""Phone numbers of users, each proven by a code that is sent to it (reference: Profile)."""

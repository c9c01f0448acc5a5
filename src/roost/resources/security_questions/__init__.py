"""Security questions, which a user answers for the operator to ask (reference: Profile)."""

"""Security questions.

What an operator asks before your password is reset.
"""

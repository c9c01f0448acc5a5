"""Two-factor authentication.

A code of an authenticator beside the password.
"""

"""Profile.

Your own user.
"""

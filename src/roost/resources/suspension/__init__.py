"""Suspension.

While an account is suspended, what runs rests and nothing new is made; what is kept is kept.
"""

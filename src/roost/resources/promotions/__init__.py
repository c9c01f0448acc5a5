"""Promotions.

Credits that promo codes give to new accounts.
"""

"""Payments.

How an account pays what it owes: the cards on file, and what was paid. A payment is carried out by
a gateway, and its event `payment_submitted` tells how that ended.
"""

"""Billing.

Invoices of each month, and what they consist of.
"""

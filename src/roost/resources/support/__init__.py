"""Support.

Tickets: questions to the operator, and the answers.
"""

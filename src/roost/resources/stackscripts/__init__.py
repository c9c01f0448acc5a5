"""StackScripts.

Scripts that set up a new instance at its first boot, with fields that its user fills in.
"""

"""Maintenance of instances: operators schedule it, jobs do it, users see it coming."""

"""Where jobs were enqueued, for traces."""

UPGRADE = """
alter table job add column trace text;
comment on column job.trace is
    'The span that enqueued it (traceparent of W3C Trace Context); null where nobody keeps spans';
"""

DOWNGRADE = """
alter table job drop column trace;
"""

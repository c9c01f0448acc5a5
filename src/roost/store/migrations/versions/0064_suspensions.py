"""Accounts whose services rest."""

UPGRADE = """
alter table account
    add column suspended timestamp(0),
    add column suspended_for text check (suspended_for in ('debt', 'operator')),
    add column suspension_reason text not null default '',
    add column suspension_warned timestamp(0),
    add constraint suspended_for_something check ((suspended is null) = (suspended_for is null));
comment on column account.suspended is 'Since when its services rest (UTC); null: they do not';
comment on column account.suspension_warned is
    'When the account was told that its services are going to rest; null: it was not';
create index account_suspended on account (id) where suspended is not null;
"""

DOWNGRADE = """
drop index account_suspended;
alter table account
    drop constraint suspended_for_something,
    drop column suspended,
    drop column suspended_for,
    drop column suspension_reason,
    drop column suspension_warned;
"""

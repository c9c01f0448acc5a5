"""Accounts that were canceled."""

UPGRADE = """
alter table account
    add column canceled timestamp(0),
    add column canceled_by text,
    add column cancel_comments text,
    add column closed timestamp(0),
    add column erased timestamp(0);
comment on column account.canceled is 'Up to when it is charged';
comment on column account.closed is 'When the end of all that it had was on its way';
comment on column account.erased is 'When its users and contact data were deleted';
create index on account (canceled) where canceled is not null;

alter table ledger add foreign key (account_id) references account;
comment on column ledger.account_id is
    'A foreign key, so that who locks the account for update knows all that was written before';
"""

DOWNGRADE = """
comment on column ledger.account_id is null;
alter table ledger drop constraint ledger_account_id_fkey;
alter table account
    drop column erased,
    drop column closed,
    drop column cancel_comments,
    drop column canceled_by,
    drop column canceled;
"""

"""When cards are charged again that were declined."""

UPGRADE = """
alter table account
    add column charge_tries smallint not null default 0,
    add column charge_again timestamp(0),
    add column charge_told smallint not null default 0;
comment on column account.charge_tries is 'How often the last invoice was charged by itself';
comment on column account.charge_again is 'When it is charged again, if it is still owed (UTC)';
comment on column account.charge_told is 'Of which try the account was told that it failed';
create index on account (charge_again) where charge_again is not null;
"""

DOWNGRADE = """
alter table account drop column charge_tries, drop column charge_again, drop column charge_told;
"""

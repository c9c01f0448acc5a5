-- Accounts whose services the operator looks after.

alter table account add managed boolean not null default false;
comment on column account.managed is 'Whether it has the managed service';

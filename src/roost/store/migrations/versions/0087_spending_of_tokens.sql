-- What narrowed tokens with an amount for each month have made, or made dearer. A budget is the key
-- of the link that has the amount: all that is narrowed further shares it.

create table token_spending (
    budget bytea not null check (length(budget) = 32),
    service text not null,
    resource_id bigint not null,
    token_id bigint not null references token on delete cascade,
    base numeric not null,
    primary key (budget, service, resource_id)
);
comment on column token_spending.base is 'US dollars of a month that it had cost before';
create index on token_spending (token_id);

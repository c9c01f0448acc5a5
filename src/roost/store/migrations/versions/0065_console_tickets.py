"""Tickets to the serial consoles of guests."""

UPGRADE = """
create table console_ticket (
    hash bytea primary key,
    compute_id bigint not null references compute_instance on delete cascade,
    token_id bigint not null references token on delete cascade,
    expires timestamp not null
);
comment on table console_ticket is 'Each lets whoever has it in once, as the token that asked';
create index console_ticket_compute on console_ticket (compute_id);
create index console_ticket_token on console_ticket (token_id);
create index console_ticket_expires on console_ticket (expires);
"""

DOWNGRADE = "drop table console_ticket"

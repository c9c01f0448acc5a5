-- Whoever redeems a ticket to a console is held to what the token was narrowed to that asked for it.

alter table console_ticket add column restrictions text[] not null default '{}';
comment on column console_ticket.restrictions is 'Of a narrowed token, each as JSON; empty for any other';

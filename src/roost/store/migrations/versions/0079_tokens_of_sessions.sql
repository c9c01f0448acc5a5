-- The console calls the API with a token that ends with the session of the browser.

alter table token drop constraint token_kind_check;
alter table token add constraint token_kind_check
    check (kind in ('personal', 'oauth', 'proxy', 'session'));
alter table token add column session bytea references web_session on delete cascade;
comment on column token.session is 'Of a browser: it ends with that and with the password';
create unique index on token (session) where session is not null;
-- Those of before have none: whoever is logged in logs in once more.
delete from web_session;

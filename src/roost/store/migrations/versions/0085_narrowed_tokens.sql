-- The public key by which narrowed ones of a token are known; null for tokens from before, and for
-- those of sessions, which cannot be narrowed.
alter table token add column narrowing_key bytea check (length(narrowing_key) = 32);

"""What a database holds, from PostgreSQL's catalogues, in a form to compare."""

from roost.store.pool import connect

_OWN = "n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')"
_QUERIES = (
    f"""
    select 'relation', n.nspname, c.relname, c.relkind::text, c.relpersistence::text,
        coalesce(array_to_string(c.reloptions, ','), '')
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where {_OWN}
    """,
    f"""
    select 'column', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
        a.attnotnull::text, a.attidentity::text, a.attgenerated::text,
        coalesce(pg_get_expr(d.adbin, d.adrelid), '')
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    join pg_namespace n on n.oid = c.relnamespace
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attnum > 0 and not a.attisdropped and {_OWN}
    """,
    f"""
    select 'index', pg_get_indexdef(i.indexrelid) from pg_index i
    join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
    where {_OWN}
    """,
    f"""
    select 'constraint', o.conrelid::regclass::text, o.conname, pg_get_constraintdef(o.oid)
    from pg_constraint o join pg_namespace n on n.oid = o.connamespace where {_OWN}
    """,
    f"""
    select 'sequence', c.relname, s.seqstart::text, s.seqincrement::text, s.seqmin::text,
        s.seqmax::text, s.seqcycle::text
    from pg_sequence s join pg_class c on c.oid = s.seqrelid
    join pg_namespace n on n.oid = c.relnamespace where {_OWN}
    """,
    f"""
    select 'function', pg_get_functiondef(p.oid)
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace where {_OWN} and p.prokind = 'f'
    """,
    f"""
    select 'trigger', pg_get_triggerdef(t.oid) from pg_trigger t
    join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
    where not t.tgisinternal and {_OWN}
    """,
    f"""
    select 'type', t.typname, t.typtype::text, coalesce((select string_agg(e.enumlabel, ','
        order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid), '')
    from pg_type t join pg_namespace n on n.oid = t.typnamespace where {_OWN}
    """,
    "select 'extension', extname from pg_extension",
    "select 'schema', n.nspname from pg_namespace n where nspname !~ '^pg_'",
)


async def describe(dsn: str) -> list[tuple[str, ...]]:
    """Each object of the database as a tuple of text, sorted; Alembic's own table left out."""
    connection = await connect(dsn)
    try:
        rows = [tuple(row) for query in _QUERIES for row in await connection.fetch(query)]
    finally:
        await connection.close()
    return sorted(row for row in rows if not any("alembic_version" in part for part in row))

"""Pagila, the public sample database of PostgreSQL: the schema as Debian's package `pgmodeler` has
it (PostgreSQL licence; the package is GPL-3+), rows of our own.

An enumeration, a domain, an aggregate, functions, 21 tables of which six inherit and are filled by
rules, 15 triggers, sequences, views, full text under a GiST index.
"""

import re
import shutil
from hashlib import sha256
from pathlib import Path

from roost.engines.databases.programs import run
from roost.threads import DISK

MODEL = Path("/usr/share/pgmodeler/samples/pagila.dbm")
KNOWN = "3acddb44105bc6ae9d592a4dd8dafb51e132c23718a94e8c02f1935a31ff5f9e"
"""SHA-256 of the model that this was made for."""
_PROGRAM = "pgmodeler-cli"
_OWN = re.compile(r"(?m)^CREATE DATABASE [^;]*;|^ALTER .* OWNER TO postgres;$")
"""What only the administrator of the server that it was taken from may say."""

_RUN_TOGETHER = "'fulltext,pg_catalog.english,title,description'"
"""Arguments of a trigger that the program makes one of."""

ROWS = """
    insert into language (name) select 'language ' || n from generate_series(1, 6) n;
    insert into category (name) select 'category ' || n from generate_series(1, 16) n;
    insert into actor (first_name, last_name)
        select 'FIRST ' || n % 50, 'Läst ' || n from generate_series(1, 200) n;
    insert into country (country) select 'country ' || n from generate_series(1, 100) n;
    insert into city (city, country_id) select 'city ' || n, 1 + n % 100
        from generate_series(1, 600) n;
    insert into address (address, district, city_id, postal_code, phone)
        select n || ' Way', 'district', 1 + n % 600, nullif(n % 7, 0), '' from
        generate_series(1, 603) n;
    with stores as (insert into store (store_id, manager_staff_id, address_id)
            select n, n, n from generate_series(1, 2) n)
        insert into staff (staff_id, first_name, last_name, address_id, store_id, username, picture)
        select n, 'Mike ' || n, 'Hill', n + 2, n, 'mike' || n, decode('89504e470d0a5a0a00ff', 'hex')
        from generate_series(1, 2) n;
    insert into customer (store_id, first_name, last_name, email, address_id, active)
        select 1 + n % 2, 'MARY', 'CUSTOMER ' || n, nullif('mary@example.org', ''), 5 + n % 590,
        n % 2 from generate_series(1, 599) n;
    insert into film (title, description, release_year, language_id, rating, length,
            special_features, fulltext)
        select case when n % 3 = 0 then 'Academy Dinosaurs ' else 'Ace Goldfinger ' end || n,
        'A tale of an astronaut \\ and a "teacher"', 1990 + n % 20, 1 + n % 6,
        (enum_range(null::mpaa_rating))[1 + n % 5], nullif(n % 180, 0),
        array['Trailers', 'Deleted, "Scenes"'], '' from generate_series(1, 1000) n;
    insert into film_actor (actor_id, film_id) select 1 + (n * 7) % 200, n
        from generate_series(1, 1000) n;
    insert into film_category (film_id, category_id) select n, 1 + n % 16
        from generate_series(1, 1000) n;
    insert into inventory (film_id, store_id) select 1 + n % 1000, 1 + n % 2
        from generate_series(1, 4581) n;
    insert into rental (rental_date, inventory_id, customer_id, return_date, staff_id)
        select timestamp '2007-01-01' + n * interval '10 minutes', 1 + n % 4581, 1 + n % 599,
        case when n % 80 > 0 then timestamp '2007-01-04' + n * interval '10 minutes' end, 1 + n % 2
        from generate_series(1, 16044) n;
    insert into payment (customer_id, staff_id, rental_id, amount, payment_date)
        select customer_id, staff_id, rental_id, 0.99 + rental_id % 9, rental_date from rental;
    update film set rental_rate = 0.99 where film_id % 4 = 0;
"""

COUNTS = {"film": 1000, "rental": 16044, "inventory": 4581, "payment": 0, "payment_p2007_02": 4032}
"""Of some tables themselves, without what inherits from them."""
RELATIONS = 21 + 7 + 13
"""Tables, views and sequences."""

DIGESTS = """
    select format(case relkind
            when 'S' then 'select %L, last_value, is_called from %I.%I'
            else 'select %L, count(*),
                md5(string_agg(t::text, chr(10) order by t::text collate "C")) from only %I.%I t'
        end, relname, nspname, relname)
    from pg_class c join pg_namespace n on n.oid = relnamespace
    where nspname = 'public' and relkind in ('r', 'v', 'S') order by relname \\gexec
"""
"""psql: of each table and view how many rows there are, and a digest of them; of each sequence
where it is."""

ANSWERS = """
    select count(*) from film where fulltext @@ to_tsquery('english', 'dinosaur & astronaut');
    select group_concat(name) from (select trim(name) from category order by 1 limit 3) s(name);
    select count(*), bool_and(inventory_in_stock(inventory_id)) from inventory
        where inventory_id in (select film_in_stock(2, 2));
    select inventory_held_by_customer(81), last_day('2007-12-05');
    insert into payment (customer_id, staff_id, rental_id, amount, payment_date)
        select 1, 1, 1, 9.99, date '2007-06-30';
    select count(*) from only payment_p2007_06 where amount = 9.99 and payment_date = '2007-06-30';
    update language set name = 'Deutsch' where language_id = 1;
    select last_update > now() - interval '1 minute' from language where language_id = 1;
    select nextval('film_film_id_seq');
"""
"""What its functions, rules, triggers, sequences and index of words answer."""

ANSWERED = ["333", "category 1, category 10, category 11", "5|f", "81|2007-12-31", "1", "t", "1001"]
FILES = {"rows.sql": ROWS, "digests.sql": DIGESTS, "answers.sql": ANSWERS}


def is_there() -> bool:
    return shutil.which(_PROGRAM) is not None and MODEL.is_file() and _digest() == KNOWN


def _digest() -> str:
    return sha256(MODEL.read_bytes()).hexdigest()


async def write_schema(file: Path) -> None:
    """SQL of the model, as its own program writes it, without whom all that belonged to."""
    home, draft = file.parent, file.with_suffix(".part")
    without_screen = ("QT_QPA_PLATFORM=offscreen", f"XDG_RUNTIME_DIR={home}", f"HOME={home}")
    export = (_PROGRAM, "--export-to-file", "--input", MODEL, "--output", draft)
    await run("The schema could not be written", ("env", *without_screen, *export))
    text = await DISK.run(draft.read_text)
    assert _RUN_TOGETHER in text
    text = text.replace(_RUN_TOGETHER, _RUN_TOGETHER.replace(",", "', '"))
    await DISK.run(file.write_text, _OWN.sub("", text))

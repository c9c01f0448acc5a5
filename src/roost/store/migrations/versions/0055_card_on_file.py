"""The record of an account shows its default card."""

UPGRADE = """
alter table account add card_last_four text, add card_expiry text;
update account a set card_last_four = m.last_four, card_expiry = to_char(m.expiry, 'MM/YYYY')
from payment_method m
where m.account_id = a.id and m.is_default and m.removed is null;
"""

DOWNGRADE = "alter table account drop card_last_four, drop card_expiry"

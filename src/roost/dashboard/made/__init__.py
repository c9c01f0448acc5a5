"""The operator's pages, in the order of their menu."""

from roost.dashboard.made import accounts, hosts, now, work
from roost.dashboard.page import Page

PAGES: tuple[Page, ...] = (*now.PAGES, *accounts.PAGES, *hosts.PAGES, *work.PAGES)

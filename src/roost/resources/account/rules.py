"""The rules of account data as pure functions (spec B account)."""

import re

_COUNTRIES = """
AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ
BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM
DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS
GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN
KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ
MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM
PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV
SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI
VN VU WF WS YE YT ZA ZM ZW
"""
COUNTRIES = frozenset(_COUNTRIES.split())
"""ISO 3166-1 alpha-2, the officially assigned codes, as the tz database has them (iso3166.tab)."""

_US_STATES = """
AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM
NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY DC AS GU MP PR VI FM MH PW
"""
"""With territories and associated states (USPS Publication 28, appendix B)."""
_US_MILITARY = frozenset(("AA", "AE", "AP"))
_CA_PROVINCES = "AB BC MB NB NL NS NT NU ON PE QC SK YT"

STATES = {
    "US": _US_MILITARY.union(_US_STATES.split()),
    "CA": frozenset(_CA_PROVINCES.split()),
}
"""Of the countries whose states are codes (spec B account state codes)."""

NAME_PATTERN = r'[^<>()="]*'
NAME_REASON = 'Must not contain any of < > ( ) = "'

ZIP_PATTERN = r"[A-Za-z0-9-]*"
ZIP_REASON = "Must only use ASCII letters, numbers, and dashes"

_ZIP_CHARACTERS = 9
_US_ZIP = re.compile(r"[0-9]{5}(?:-?[0-9]{4})?", re.ASCII)


def country_problem(country: str) -> str | None:
    """What is wrong with the code; an empty one is a country that is not known yet."""
    if country and country not in COUNTRIES:
        return "Must be a two-letter ISO 3166 country code"
    return None


def state_problem(country: str, state: str) -> str | None:
    """What is wrong with a state of that country; an empty one is not known yet."""
    if state and country in STATES and state not in STATES[country]:
        return f"Must be the two-letter code of a state or province when the country is {country}"
    return None


def zip_problem(country: str, code: str) -> str | None:
    """What is wrong with a zip of that country (rule 1)."""
    if len(code.replace("-", "")) > _ZIP_CHARACTERS:
        return f"Must have at most {_ZIP_CHARACTERS} letters or numbers"
    if country == "US" and not _US_ZIP.fullmatch(code):
        return "Must be a valid US zip code when the country is US"
    return None

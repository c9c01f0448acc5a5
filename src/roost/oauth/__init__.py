"""The OAuth 2.0 authorization server: login, consent, and the endpoints that give out tokens.

It stands beside the API, on the same server, as pages for people and forms for programs (spec B
auth 3; RFC 6749, 7009, 7636, 8414, 9207 and the advice of RFC 9700).
"""

"""The API in another cloud's words, at a listener of its own (decision 0058).

Tools that were written for that cloud work with it unmodified. No group of resources knows of
this: requests are translated before the API reads them, answers after it has written them.
"""

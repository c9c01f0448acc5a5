"""The web console: pages for people, made of the API's own operations (docs/adding-a-page.md)."""

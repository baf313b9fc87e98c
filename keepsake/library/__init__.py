"""A memory for any Python program: no game, no Evennia, no Twisted; see docs/library.md."""

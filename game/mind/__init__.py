"""The agents' minds: pure Python, no Evennia, Django, Twisted or client library."""

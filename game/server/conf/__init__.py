"""Evennia's settings and hooks. They wire everything together, and nothing imports them."""

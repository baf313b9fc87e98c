"""Evennia's typeclasses: thin, they turn game events into calls on components."""

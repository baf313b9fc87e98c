"""Deeds with consequences: what players do, by the rules of the files of ``world/deeds``."""

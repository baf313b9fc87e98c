"""Ranks the candidates of a search, and tells which of them bear on the question."""

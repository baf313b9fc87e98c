"""Answers of an agent: the order of their parts, and what becomes of each."""

"""Retrieval: finds what matters now among all that an agent remembers."""

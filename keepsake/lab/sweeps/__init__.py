"""Sweeps: many memories, settings and seeds through the same lives, and a report of them."""

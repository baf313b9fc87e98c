"""Worlds copied at a point of their log."""

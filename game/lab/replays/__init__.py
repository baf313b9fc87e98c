"""Archived lives, lived once more at other configurations."""

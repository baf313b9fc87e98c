"""Archived lives and event logs, read without a lock."""

"""The builders' commands."""

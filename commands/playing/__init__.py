"""The players' commands."""

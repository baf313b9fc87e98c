"""Who counts tokens."""

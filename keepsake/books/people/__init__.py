"""The people whom an agent knows: a page for each."""

"""Forget me: deletes what a person said and did from every store, one cleaner for each."""

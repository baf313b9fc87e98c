"""Programs that use the API: their tokens."""

"""What became of something that was said: who knows it, by which way, and in which tier it is."""

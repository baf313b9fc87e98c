"""A model that is none: an agent played by rules."""

"""What is around an agent in its game: people, things, places, and what they do to it."""

"""The world's content: places, people, things, and what newcomers read."""

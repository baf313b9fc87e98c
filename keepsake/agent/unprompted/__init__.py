"""What an agent begins by itself: occasions, news, and talks of two agents."""

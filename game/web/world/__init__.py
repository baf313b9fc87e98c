"""What is told of all agents together: a day, who knows whom, words in all memories."""

"""What the prompt of a turn shows, and how it is built."""

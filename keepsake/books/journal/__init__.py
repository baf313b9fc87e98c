"""What an agent makes of its days: entries that rest on memories, one markdown file a day."""

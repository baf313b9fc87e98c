"""What can be read in words by rules: names, times, facts, promises, who said what."""

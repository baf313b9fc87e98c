"""What rules can read in words: markup, who said what to whom, sentences."""

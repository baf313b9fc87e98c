"""Reading of text by rules: markup, who said what to whom, sentences."""

"""Tasks whose answer is short: a word, or the numbers of some lines."""

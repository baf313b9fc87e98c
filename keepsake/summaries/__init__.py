"""How summaries are written, checked, and kept as files."""

"""An agent's memory: archive, books, recall, compaction."""

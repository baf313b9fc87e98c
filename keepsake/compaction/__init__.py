"""When and how memories leave the window: the ladder of compaction."""

"""Scripts of the pages: the real ones, in a real browser, without a world."""

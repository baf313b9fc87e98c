"""Lives with questions: what any memory still knows of them, and what a model makes of that."""

"""What is asked of a model: one module a task, with its template, its check and its fallback."""

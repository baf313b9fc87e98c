"""The tasks that a model does: one module each, with template, check and fallback."""

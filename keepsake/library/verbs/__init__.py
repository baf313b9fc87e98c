"""The verbs of :class:`keepsake.Memory`, by subject; together they are its methods."""

"""One agent at work: what it perceives, when it thinks, what it does; its memory and its sleep."""

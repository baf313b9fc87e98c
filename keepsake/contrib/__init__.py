"""Parts for frameworks that Keepsake runs in."""

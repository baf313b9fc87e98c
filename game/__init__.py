"""What runs the world of Keepsake: minds, models, server configuration, command line."""

"""The Docker image and the compose files, as far as they can be tried without Docker."""

"""The pages of the web site: who may see them, their files and headers."""

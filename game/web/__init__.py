"""The web site and web client: Evennia's, with Keepsake's pages in front."""

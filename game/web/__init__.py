"""The web site and web client: Evennia's, with the dashboard and a throttled log-in."""

"""The processes of one copy of Keepsake: started, found, asked, ended."""

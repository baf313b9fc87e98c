"""``keepsake doctor``: its checks."""

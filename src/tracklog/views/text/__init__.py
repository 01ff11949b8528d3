"""Numbers, money, times and verdicts in words; printing."""

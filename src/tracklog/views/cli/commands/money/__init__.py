"""Commands about tokens and money: usage, prices, carried, statusline."""

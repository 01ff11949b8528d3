"""The board, and the page on which a permission is given or denied (`answer`)."""

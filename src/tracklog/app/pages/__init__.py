"""What pages of the browser ask and no command does: a page of a list, a page of search results."""

"""Render values of the model as safe HTML, for the server's pages and for single files alike."""

"""The renderer: values of the model become safe HTML, for the server's pages and for single files alike."""

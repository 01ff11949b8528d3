"""The pages, one package each."""

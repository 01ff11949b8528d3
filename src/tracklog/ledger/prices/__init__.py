"""Prices of models by day and terms: the shipped price list and the user's own."""

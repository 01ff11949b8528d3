"""What a model cost on a day and on what terms: the shipped price list and the user's own."""

"""Child sessions: start one or many, go on with one, answer the permissions that they ask for."""

"""The HTTP server: listening, sign-in, access control, routes, server-sent events."""

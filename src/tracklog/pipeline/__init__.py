"""Joins the rooms: finds files, reads them, proves and surveys the reading. Renders nothing."""

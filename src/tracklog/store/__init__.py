"""The index and the archive: what was read once need not be read again, and outlives its source.

All SQL stands in this room.
"""

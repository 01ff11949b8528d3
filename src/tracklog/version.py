"""The version of tracklog, for modules below the public package."""

__version__ = "0.1.0"

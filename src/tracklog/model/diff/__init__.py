"""The changes of files that calls made: the lines of two texts compared, patches parsed, a diff written."""

"""The lab: the real clients against scripted APIs on loopback, in homes of their own."""

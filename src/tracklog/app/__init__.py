"""Use cases: a typed question in, a typed answer out; no printing, no HTML.

Command line, web server, API and Python users ask here. May import every feature.
"""

"""What a tracklog of before made goes on working: homes, entry points, runs that were begun."""

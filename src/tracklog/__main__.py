"""`python -m tracklog` is the same as `tracklog`."""

from tracklog.views.cli import main

if __name__ == "__main__":
    main()

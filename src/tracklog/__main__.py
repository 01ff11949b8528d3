"""`python -m tracklog` is the same as `tracklog`."""

from tracklog.views.cli.main import main

if __name__ == "__main__":
    main()

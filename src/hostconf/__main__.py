"""`python -m hostconf`."""

import sys

from hostconf.cli import main

if __name__ == "__main__":
    sys.exit(main())

"""`python -m runproofs` is the command `runproofs`."""

import sys

from runproofs.cli import main

if __name__ == "__main__":
    sys.exit(main())

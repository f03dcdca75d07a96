import sys

from runproofs.cli import main

sys.exit(main())

import os
import re
import sys
from importlib import import_module

import booktools

MODULES = {"break": "breaks", "check-outputs": "outputs"}  # of other names than the tool


def main(arguments: list[str]) -> int:
    """Run the tool that is named first, with the other arguments."""
    known = re.findall(r"^ {4}([\w-]+)", booktools.__doc__, re.M)
    if not arguments or arguments[0] not in known:
        print(booktools.__doc__)
        return int(arguments not in (["-h"], ["--help"])) * 2
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # more hinder each other, and a fork
    name, *rest = arguments
    return import_module(f"booktools.{MODULES.get(name, name)}").main(rest)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

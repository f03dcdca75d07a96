"""`python -m runproofs.reproductions`: the experiments at the scale of the sources."""

import argparse
import sys

import joblib

from runproofs.book.results import shown
from runproofs.reproductions import discover


def main(arguments: list[str] | None = None) -> int:
    """Reproduce the named experiments (or all) at the paper scale; 2 for an unknown name."""
    parser = argparse.ArgumentParser("python -m runproofs.reproductions", description=main.__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--fresh", action="store_true", help="compute even what is stored")
    parser.add_argument("--jobs", type=int, default=1, help="settings to run at once (1)")
    options = parser.parse_args(arguments)
    known = discover()
    if unknown := [name for name in options.names if name not in known]:
        names = ", ".join(known) or "none yet"
        message = f"Unknown experiment {', '.join(unknown)}: the known ones are {names}."
        print(message, file=sys.stderr)
        return 2
    for name in options.names or known:
        if known[name].not_run and not options.names:
            print(f"{name}: left out, {known[name].not_run}; name it to run it.")
            continue
        try:
            with joblib.parallel_config(n_jobs=options.jobs):
                about = known[name].reproduce(options.fresh).provenance
        except KeyboardInterrupt:
            print(f"{name}: interrupted; the same command resumes it.", file=sys.stderr)
            return 130
        where = shown(known[name].path)
        print(f"{name}: {where} ({about['seconds']:.1f} s on {about['machine']}, {about['date']})")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`python -m runproofs.experiments`: the experiments at the scale of the sources.

On a Dask cluster: `make paper BACKEND=dask SCHEDULER=tcp://host:8786 JOBS=64`; without SCHEDULER,
on one of this machine. The workers need this library in the same version, and, for an interrupted
run to be resumed, the folder .unfinished in common.
"""

import argparse
import sys
from contextlib import nullcontext

import joblib

from runproofs.experiments import discover
from runproofs.experiments.results import shown


def main(arguments: list[str] | None = None) -> int:
    """Reproduce the named experiments (or all) at the paper scale.

    Returns 0, or 2 for an unknown name, 1 for one whose stored run is not that of today's code,
    where --stale asks for it.
    """
    parser = argparse.ArgumentParser("python -m runproofs.experiments", description=main.__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--fresh", action="store_true", help="compute even what is stored")
    parser.add_argument("--jobs", type=int, default=1, help="settings to run at once (1)")
    parser.add_argument("--backend", default="loky", help="joblib's backend: loky, dask, ...")
    parser.add_argument("--scheduler", help="address of the Dask cluster (default: a local one)")
    parser.add_argument(
        "--stale", action="store_true", help="compute nothing: name what is of other code"
    )
    options = parser.parse_args(arguments)
    known = discover()
    if unknown := [name for name in options.names if name not in known]:
        names = ", ".join(known) or "none yet"
        message = f"Unknown experiment {', '.join(unknown)}: the known ones are {names}."
        print(message, file=sys.stderr)
        return 2
    chosen = {name: known[name] for name in options.names or known}
    for name in [name for name, one in chosen.items() if one.not_run and not options.names]:
        print(f"{name}: left out, {chosen.pop(name).not_run}; name it to run it.")
    if options.stale:
        stale = [name for name, one in chosen.items() if one.stale()]
        wrong = [
            f"{name} is of other code: python -m booktools revalidate {name}" for name in stale
        ]
        print("\n".join(wrong) or f"{len(chosen)} stored runs are of today's code.")
        return int(bool(wrong))
    with cluster(options):
        for name, one in chosen.items():
            try:
                with joblib.parallel_config(options.backend, n_jobs=options.jobs):
                    kept = None if options.fresh else one.stored()
                    about = (one.compute(options.fresh) if kept is None else kept).provenance
            except KeyboardInterrupt:
                print(f"{name}: interrupted; the same command resumes it.", file=sys.stderr)
                return 130
            verb = "computed" if kept is None else "kept"
            note = ", made by code that has changed since; FRESH=1 computes it anew"
            print(
                f"{name}: {verb} {shown(one.path)} ({about['seconds']:.1f} s on "
                f"{about['machine']}, {about['date']}{note if one.stale() else ''})"
            )
    return 0


def cluster(options):
    """The connection to a Dask cluster that joblib will find, if that backend was chosen."""
    if options.backend != "dask":
        return nullcontext()
    from distributed import Client  # of the extra `dask`

    return Client(options.scheduler)


if __name__ == "__main__":
    sys.exit(main())

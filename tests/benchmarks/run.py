"""Print how the library's algorithms compare in time with the plain or printed ones.

Times depend on the machine and its load; ratios, measured in one run, depend on them much less.
The last table is a summary: each algorithm, its peer, and the ratio of their times.
Run as `python tests/benchmarks/run.py [word]`: all tables, or those whose title contains the word.
"""

import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core, set before NumPy and torch start

import bench_attacks
import bench_deep
import bench_planar
import bench_ratings
import bench_shallow
import bench_subnetworks
import bench_surprises
from timing import summary

if __name__ == "__main__":
    word = " ".join(sys.argv[1:])
    modules = (
        bench_shallow,
        bench_deep,
        bench_ratings,
        bench_attacks,
        bench_planar,
        bench_subnetworks,
        bench_surprises,
    )
    for table in (table for module in modules for table in module.TABLES):
        title = table.__doc__.splitlines()[0]
        if word in title:
            print(f"\n{title}\n")
            for row in table():
                print("  " + row, flush=True)
    print("\nSummary\n")
    for row in summary():
        print("  " + row)

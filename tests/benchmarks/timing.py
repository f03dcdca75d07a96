"""What the benchmarks share: how they time, and the summary of the ratios that they measured."""

from time import process_time

import numpy as np

_measured = []  # (kernel, peer, ratio), in the order of the tables


def seconds(f, budget=0.3):
    """Least processor time of a call of f, after one that warms up, within about the budget."""
    f()  # the first one also pays for memory that the next ones find ready
    best, spent = np.inf, 0.0
    while spent < budget:
        start = process_time()
        f()
        elapsed = process_time() - start
        best, spent = min(best, elapsed), spent + elapsed
    return best


def in_turn(calls, budget, rounds=5):
    """`seconds` of each call, the least of some rounds in which all meet the same load."""
    return np.min([[seconds(f, budget) for f in calls] for _ in range(rounds)], axis=0)


def ratio(kernel, peer, theirs, ours):
    """The peer's time over ours, noted for the summary."""
    _measured.append((kernel, peer, theirs / ours))
    return theirs / ours


def absent(kernel, peer):
    """Notes for the summary that the peer is not installed."""
    _measured.append((kernel, peer, None))


def summary():
    """Lines: each kernel and its peer, and how many times as long as ours the peer takes."""
    if not _measured:
        return
    first, second = (max(len(row[column]) for row in _measured) for column in (0, 1))
    yield f"{'kernel':{first}}  {'peer':{second}}  peer's time / ours"
    for kernel, peer, found in _measured:
        cell = "not installed" if found is None else f"{found:.3g}"
        yield f"{kernel:{first}}  {peer:{second}}  {cell}"

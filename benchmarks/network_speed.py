"""How long the network takes: ``python benchmarks/network_speed.py``, for 500 labels, 5,000 unlabeled rows, 20 columns.

The floor is a plain product of matrices with as many operations, in the same process and on as many threads. On busy
cores the processor's seconds, divided by the threads, say what an idle machine would take. ``--max-context`` cuts the
rows that all others look at.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from dips.network import PriorFittedClassifier
from dips.network._classifier import _network
from dips.network._weights import SHIPPED


def table(labels, rows, columns, seed=0):
    """Rows of numbers whose class is the sign of a sum, and labels of the first of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(labels + rows, columns))
    y = (X[:, :3].sum(axis=1) > 0).astype(int)
    y[labels:] = -1
    return X, y


def operations(settings, rows, columns, classes, context):
    """Multiplications and additions of one pass over the rows: products, and attention to the context."""
    tokens = rows * (-(-columns // settings.columns_per_token) + classes)
    products = 2 * (8 + 2 * settings.expansion) * settings.width**2
    return tokens * settings.layers * (products + 4 * context * settings.width)


def products_a_second(size=2_000):
    """Operations a second of a product of matrices in single precision on one thread."""
    from threadpoolctl import threadpool_limits

    a = np.random.default_rng(0).normal(size=(size, size)).astype(np.float32)
    with threadpool_limits(1):
        a @ a
        began = time.process_time()
        for _ in range(5):
            a @ a
    return 5 * 2 * size**3 / (time.process_time() - began)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels", type=int, default=500)
    parser.add_argument("--rows", type=int, default=5_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--max-context", type=int, nargs="*", default=[1_000])
    parser.add_argument("--weights", type=Path, default=SHIPPED)
    options = parser.parse_args()
    X, y = table(options.labels, options.rows, options.columns)
    settings, speed = _network(str(options.weights)).settings, products_a_second()
    print(f"{'context':>8}{'draws':>6}{'seconds':>10}{'of a core':>11}{'rows a second':>16}{'of the floor':>14}")
    for most in options.max_context:
        for draws in (1, 2):
            began, began_work = time.perf_counter(), time.process_time()
            network = PriorFittedClassifier(
                n_draws=draws, max_context=most, weights=options.weights, random_state=0, n_jobs=options.threads
            )
            context = int(network.fit(X, y).in_context_.sum())
            seconds, work = time.perf_counter() - began, (time.process_time() - began_work) / options.threads
            floor = draws * operations(settings, len(X), options.columns, 2, context) / speed / options.threads
            print(
                f"{context:>8}{draws:>6}{seconds:>10.1f}{work:>11.1f}{len(X) / work:>16,.0f}{work / floor:>14.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()

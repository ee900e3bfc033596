import numpy as np  # loads a BLAS
from threadpoolctl import threadpool_info

from dips._tools.threads import one_blas_thread


def n_threads():
    assert np.ones((2, 2)).dot(np.ones(2)).size == 2
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_blas_takes_one_thread_inside_and_as_many_as_before_after():
    before = n_threads()
    with one_blas_thread():
        assert n_threads() == {1}
    assert n_threads() == before

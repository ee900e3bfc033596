import pytest


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Small products on many threads of a busy machine take ten times as long."""
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)

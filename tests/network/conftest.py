"""Training needs PyTorch, so without it those tests are skipped; with it, one thread is the fastest here."""

import importlib.util

import pytest

NEED_TORCH = ("test_curriculum.py", "test_network.py", "test_prior.py")

if importlib.util.find_spec("torch") is None:

    class _NeedsTorch(pytest.File):
        def collect(self):
            pytest.skip("PyTorch is not installed, and training the network needs it")

    def pytest_pycollect_makemodule(module_path, parent):
        if module_path.name in NEED_TORCH:
            return _NeedsTorch.from_parent(parent, path=module_path)
        return None


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Small products on many threads of a busy machine take ten times as long."""
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)

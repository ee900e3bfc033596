"""Without PyTorch there is nothing to test here; with it, one thread is the fastest for networks this small."""

import importlib.util

import pytest

if importlib.util.find_spec("torch") is None:

    class _NeedsTorch(pytest.File):
        def collect(self):
            pytest.skip("PyTorch is not installed, and dips.vision needs it")

    def pytest_pycollect_makemodule(module_path, parent):
        return _NeedsTorch.from_parent(parent, path=module_path)


@pytest.fixture(autouse=True, scope="package")  # before fixtures of a module, which train too
def _one_thread():
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)

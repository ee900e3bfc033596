"""Our attention along short rows finds what PyTorch's finds; without a GPU, Triton's interpreter runs it."""

import os
from dataclasses import replace

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")
import torch

if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")
pytest.importorskip("triton", reason="needs Triton, which comes with PyTorch for GPUs")

from dips.network._model import Network, along_rows
from dips.network._row_attention import attend
from dips.network._settings import TINY

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@pytest.mark.parametrize(
    ("rows", "tokens", "heads", "head"),
    [(7, 5, 2, 16), (40, 13, 3, 32), (33, 2, 2, 32), (3, 64, 2, 16), (5, 65, 2, 32), (4, 128, 1, 16), (1, 1, 1, 16)],
)
def test_answers_and_gradients_are_those_of_the_library(rows, tokens, heads, head):
    torch.manual_seed(0)
    qkv = torch.randn(rows * tokens, 3 * heads * head, device=DEVICE)
    weight = torch.randn(rows * tokens, heads * head, device=DEVICE)
    results = []
    for way in (lambda x: attend(x, tokens, heads), lambda x: along_rows(x, rows, tokens, heads, None)):
        x = qkv.clone().requires_grad_()
        found = way(x)
        (found * weight).sum().backward()
        results.append((found, x.grad))
    (ours, our_gradient), (theirs, their_gradient) = results
    assert torch.allclose(ours, theirs, atol=1e-2 if DEVICE == "cuda" else 1e-5)  # a GPU multiplies in TF32
    assert torch.allclose(our_gradient, their_gradient, atol=3e-2 if DEVICE == "cuda" else 1e-5)


def test_a_network_takes_it_for_short_rows_and_the_widths_it_serves():
    model = Network(TINY.model)
    plain = model._along_rows(4, 6, torch.zeros(1))
    model.use_row_kernel()
    ours = model._along_rows(4, 6, torch.zeros(1))
    assert ours.func is attend
    assert plain.func is along_rows
    assert model._along_rows(2, 200, torch.zeros(1)).func is along_rows
    odd = Network(replace(TINY.model, width=24))  # heads of 12 numbers
    odd.use_row_kernel()
    assert odd._along_rows(4, 6, torch.zeros(1)).func is along_rows

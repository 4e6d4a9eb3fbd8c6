"""Of models of every kind: a tensor with an axis too many is refused by its name, and one with an
axis too few is refused, too."""

import models
import numpy
import pytest

GPT2 = {"scale": "1/sqrt(d_head)", "activation": "gelu_new", "eps": "1e-5", "heads": "2"}
MERGED = {"attn.QK": (2, 3, 3), "attn.OV": (2, 3, 3), "attn.b_O": (3,), "mlp.W_in": (3, 5),
          "mlp.W_out": (5, 3), "mlp.b_in": (5,), "mlp.b_out": (3,)}
LINEAR = {"linear.W": (3, 3), "linear.b": (3,)}


def one_layer(shapes):
    tensors = {f"blocks.0.{name}": shape for name, shape in shapes.items()}
    return {name: numpy.full(shape, 0.25, "f4") for name, shape in (tensors | {"X": (2, 3)}).items()}


KINDS = {
    "lens": (models.lens(), models.NORMED),
    "gpt2": (models.gpt2(head=True), GPT2 | {"tie_word_embeddings": "false"}),
    "heads": (one_layer(models.HEADS | models.NETWORK), models.SAID),
    "merged": (one_layer(MERGED), models.SAID | {"scale": "1"}),
    "linear": (one_layer(LINEAR), {"normalization": "none", "linear": "in-place"}),
}


@pytest.mark.parametrize("tensors, metadata", KINDS.values(), ids=KINDS)
def test_every_axis_is_needed(run, refused, tmp_path, tensors, metadata):
    path = tmp_path / "m.safetensors"
    models.write(path, tensors, metadata)
    assert run("cost", path).code == 0
    for name, array in tensors.items():
        for axis in range(array.ndim + 1):
            more = numpy.expand_dims(array, axis)
            models.write(path, tensors | {name: more}, metadata)
            refused(f"tensor '{name}': shape {[*more.shape]}: expected [", "cost", path)
        for axis in range(array.ndim):
            models.write(path, tensors | {name: array.take(0, axis)}, metadata)
            refused(": expected ", "cost", path, begin=path)

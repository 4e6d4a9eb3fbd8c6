"""The attention-only model as a torch.nn.Module."""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np
import torch

from .converted import Converted


class AttentionOnly(torch.nn.Module):
    """Token ids [N] or [B, N] to logits; without embeddings, the stream before the first layer to
    that behind the last, [N, D] or [B, N, D].  Its buffers are the file's tensors, in float64."""

    def __init__(self, tensors: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> None:
        super().__init__()
        self.names = list(tensors)
        self.metadata = dict(metadata)
        for name, array in tensors.items():
            self.register_buffer(name.replace(".", "_"), torch.from_numpy(array.copy()))

    def forward(self, tokens: Any) -> Any:
        model = Converted({name: getattr(self, name.replace(".", "_")) for name in self.names},
                          self.metadata)
        return model.logits(tokens) if "embed.W_E" in model.tensors else model(tokens)

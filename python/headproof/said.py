"""What configs of TransformerLens and Hugging Face say of a model, and what must be said."""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

CHOICES = {
    "activation": ("silu", "relu", "gelu", "gelu_new", "none"),
    "normalization": ("none", "layernorm", "rmsnorm", "LN", "LNPre", "RMS", "RMSPre"),
    "normalization-place": ("pre", "post"),
    "scale": ("1", "1/sqrt(d_head)"),
    "mask": ("none", "causal"),
    "positions": ("learned", "none"),
    "blocks": ("sequential",),
}


def field(config: Any, *names: str) -> Any:
    """The first of these fields that a config has, be it an object or a dict."""
    for name in names:
        value = config.get(name) if isinstance(config, Mapping) else getattr(config, name, None)
        if value is not None:
            return value
    return None


# A field of a config, and what it may say of a model that can be rewritten.
_REFUSED: List[Tuple[str, Callable[[Any], bool], str]] = [
    ("positional_embedding_type", lambda value: value == "standard", "standard"),
    ("position_embedding_type", lambda value: value == "absolute", "absolute"),
    ("parallel_attn_mlp", lambda value: not value, "False"),
    ("gated_mlp", lambda value: not value, "False"),
    ("use_local_attn", lambda value: not value, "False"),
    ("use_qk_norm", lambda value: not value, "False"),
    ("use_normalization_before_and_after", lambda value: not value, "False"),
    ("n_key_value_heads", lambda value: False, "None"),
    ("num_experts", lambda value: False, "None"),
    ("attn_scores_soft_cap", lambda value: value <= 0, "none"),
    ("output_logits_soft_cap", lambda value: value <= 0, "none"),
    ("scale_attn_by_inverse_layer_idx", lambda value: not value, "False"),
    ("add_cross_attention", lambda value: not value, "False"),
    ("rope_theta", lambda value: False, "none"),
]


def said_by(config: Any) -> Dict[str, str]:
    """What a config of TransformerLens or Hugging Face says; what it leaves open is not there."""
    said: Dict[str, str] = {}
    for name, fits, expected in _REFUSED:
        value = field(config, name)
        if value is not None and not fits(value):
            raise ValueError(f"the config's {name} is {value!r}: expected {expected}")
    activation = field(config, "act_fn", "activation_function", "hidden_act")
    if activation is not None:
        said["activation"] = {"swish": "silu", "gelu_pytorch_tanh": "gelu_new"}.get(
            activation, activation)
    # TransformerLens says None where there is none; Hugging Face's models have theirs unsaid.
    has = "normalization_type" in config if isinstance(config, Mapping) else hasattr(
        config, "normalization_type")
    norm = field(config, "normalization_type")
    eps = field(config, "eps", "layer_norm_epsilon", "layer_norm_eps", "rms_norm_eps")
    gpt2 = field(config, "model_type") == "gpt2"
    if has:
        said["normalization"] = "none" if norm is None else str(norm)
    elif gpt2:
        said["normalization"] = "layernorm"
    elif eps is not None:
        said["normalization"] = "a layer norm"
    if said.get("normalization", "none") != "none" and (has or gpt2):
        said["normalization-place"] = "pre"
        if eps is not None:
            said["eps"] = repr(float(eps))
    if gpt2:
        said.update({"mask": "causal", "scale": "1/sqrt(d_head)", "blocks": "sequential"})
    if field(config, "parallel_attn_mlp") is not None:  # a true one is refused
        said["blocks"] = "sequential"
    if field(config, "positional_embedding_type", "position_embedding_type") is not None:
        said["positions"] = "learned"
    direction = field(config, "attention_dir")
    if direction is not None:
        said["mask"] = {"causal": "causal", "bidirectional": "none"}.get(direction, direction)
    scaled = field(config, "use_attn_scale", "scale_attn_weights")
    if scaled is not None:
        said["scale"] = "1/sqrt(d_head)" if scaled else "1"
    divisor, d_head = field(config, "attn_scale"), field(config, "d_head")
    if scaled and divisor is not None and d_head is not None and divisor > 0 and \
            not math.isclose(divisor, math.sqrt(d_head), rel_tol=1e-12):
        raise ValueError(f"the config's attn_scale is {divisor!r}: expected sqrt(d_head)")
    return said


def needed(names: Sequence[str], said: Mapping[str, str]) -> List[str]:
    """What has to be said of a model that has these tensors."""
    attention = any(".attn." in name for name in names)
    network = ["activation"] if any(".mlp." in name for name in names) else []
    norms = ["normalization-place", "eps"] if said.get("normalization", "none") != "none" else []
    structure = ["positions"] if "embed.W_E" in names else []
    structure += ["blocks"] if attention and network else []
    both = ["scale", "mask"] if attention else []
    return network + both + ["normalization"] + norms + structure



def check_said(given: Mapping[str, Optional[str]], said: Dict[str, str]) -> None:
    """Adds what is given to what the config says; both must agree, and fit."""
    for name, value in given.items():
        if value is not None and said.get(name, value) != value:
            raise ValueError(f"{name} {value!r}: the config says {said[name]!r}")
        if value is not None:
            said[name] = value
    for name, value in said.items():
        if name in CHOICES and value not in CHOICES[name]:
            raise ValueError(f"{name} {value!r}: expected {', '.join(CHOICES[name])}")
    if "eps" in said and not 0 < float(said["eps"]) < math.inf:
        raise ValueError(f"eps {said['eps']}: expected a number above 0")

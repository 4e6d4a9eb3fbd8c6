#!/usr/bin/env python3
"""Independent oracle: rows that a machine has normalised, against PyTorch's layer_norm.

    python3 tests/oracle_layer_norm.py FILE

FILE holds five lines for each arithmetic: its name and eps; gamma; beta; x, row after row; the norm
of x.  PyTorch sums in another order, so that a float may differ by a few units in the last place of
what was added, and a number of 16 bits by one, where the float was near a tie.  Those are evaluated
in float and rounded once: PyTorch before 2.0 rounded mean and factor too.  Exit 1 where more
differs.
"""

import sys

import torch

# Type, what may differ in units of the row's largest entry, and the share of entries that must not.
TYPES = {"f64": (torch.float64, 16 * 2.0 ** -53, 0), "f32": (torch.float32, 16 * 2.0 ** -24, 0),
         "bf16": (torch.bfloat16, 2.0 ** -8, 0.98),
         "fp16": (torch.float16, 2.0 ** -11, 0.95)}


def numbers(line):
    return torch.tensor([float.fromhex(word) for word in line.split()], dtype=torch.float64)


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        lines = file.read().splitlines()
    good = len(lines) >= 5
    for first in range(0, len(lines), 5):
        name, eps = lines[first].split()
        kind, bound, share = TYPES[name]
        gamma, beta = numbers(lines[first + 1]), numbers(lines[first + 2])
        x, got = (numbers(line).reshape(-1, len(gamma)) for line in lines[first + 3:first + 5])
        inside = torch.float64 if kind == torch.float64 else torch.float32
        expected = torch.nn.functional.layer_norm(x.to(inside), (len(gamma),), gamma.to(inside),
                                                  beta.to(inside), float.fromhex(eps))
        expected = expected.to(kind).double()
        largest = expected.abs().max(dim=1, keepdim=True).values
        worst = ((got - expected).abs() / largest).max().item()
        same = (got == expected).double().mean().item()
        print(f"{name}: {got.numel()} entries, worst {worst:.3g} of {bound:.3g}, "
              f"{100 * same:.1f} % the same")
        good = good and worst <= bound and same >= share
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()

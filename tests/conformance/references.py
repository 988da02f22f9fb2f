"""What each operator of the conformance project computes; see tests/references.py."""

from __future__ import annotations

import torch
from torch import Tensor


def error(f: Tensor, overflow: Tensor, bytes: Tensor, tensor: int) -> Tensor:
    return (f * (bytes != 0) + overflow.unsqueeze(-1)).repeat(*[1] * (f.dim() - 1), tensor)


def math(x: Tensor) -> Tensor:
    return 2 * x


def kept(x: Tensor) -> Tensor:
    return x * x * x


def kept_backward(grad_y: Tensor, sums: Tensor) -> Tensor:
    return sums * grad_y


def curved(x: Tensor) -> Tensor:
    return x * x * x


def curved_backward(grad_y: Tensor, squares: Tensor) -> Tensor:
    return 3 * grad_y * squares


def curved_second(grad_grad_x: Tensor, grad_y: Tensor, squares: Tensor) -> tuple[Tensor, Tensor]:
    return 3 * grad_grad_x * squares, 3 * grad_grad_x * grad_y


def kept_saved(x: Tensor) -> Tensor:
    return 5 * x.unsqueeze(-1)


def kept_no_grad(x: Tensor, k: int) -> Tensor:
    return (7 if x.numel() * k > 4 else 8) * x


def _scale(s: float | None, k: int | None, flip: bool | None) -> float:
    return (1 if s is None else s) * (1 if k is None else k) * (-1 if flip else 1)


def scaled(x: Tensor, s: float | None, k: int | None, pad: int | None, flip: bool | None) -> Tensor:
    return torch.nn.functional.pad(x * _scale(s, k, flip), (0, pad or 0))


def scaled_backward(grad_y: Tensor, s: float | None, k: int | None, flip: bool | None, n: int) -> Tensor:
    return grad_y[..., :n] * _scale(s, k, flip)


def ratios(x: Tensor, a: float, b: float, c: float, k: int) -> Tensor:
    return x


def quoting(x: Tensor) -> Tensor:
    return x


def misread(x: Tensor, note: str) -> Tensor:
    return x.sum(-1)


def only_contiguous(x: Tensor, w: Tensor) -> Tensor:
    return x * w


def weighted(x: Tensor, w: Tensor) -> Tensor:
    return x * w


def joined(r: Tensor, x: Tensor, w: Tensor) -> Tensor:
    return (x + r) * w


def joined_backward(grad_y: Tensor, x: Tensor, r: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    return grad_y * w, grad_y * (x + r)


def weighted_backward(grad_y: Tensor, w: Tensor) -> Tensor:
    return grad_y * w


def by_rows(x: Tensor, w: Tensor) -> Tensor:
    return x * w


def by_heads(q: Tensor, scale: Tensor) -> Tensor:
    return q * scale[:, None, None]


def by_tiles(x: Tensor) -> Tensor:
    return 2 * x


def by_strides(x: Tensor, w: Tensor, s: Tensor) -> Tensor:
    return x * w + s


def by_any_strides(x: Tensor, z: Tensor, w: Tensor) -> Tensor:
    return x + z + w.sum()


def add_bias(x: Tensor, bias: Tensor | None, scale: Tensor) -> Tensor:
    return x * scale + (0 if bias is None else bias)


def add_bias_backward(grad_y: Tensor, x: Tensor, bias: Tensor | None, scale: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return grad_y * scale, grad_y + 0 * (0 if bias is None else bias), grad_y * x


def masked(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    return torch.where(mask != 0, torch.cat([q, k], -1), 0.0)


def outer_sum(a: Tensor, b: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
    y = (a + b) * scale.unsqueeze(-1)
    return y, y.unsqueeze(-1).expand(2, *y.shape, 3).contiguous()


def either_shape(
    a: Tensor, b: Tensor, c: Tensor | None, d: Tensor | None, k: int
) -> tuple[Tensor | None, Tensor | None]:
    """Ones and twos, but for the first elements."""
    y, z = a.new_ones((a + b).shape), a.new_full((2, *(a + b).shape), 2.0)
    if y.numel():
        y.view(-1)[0] = a.reshape(-1)[0] + (0 if c is None else c.reshape(-1)[0])
        z.view(-1)[0] = b.reshape(-1)[0] + (0 if d is None else d.reshape(-1)[0])
    return y if k % 2 == 1 else None, z if k > 1 else None


def sum_dim(x: Tensor, dim: int, k: int) -> tuple[Tensor, Tensor]:
    wide = [1] * x.dim()
    wide[dim] = k + 1
    weights = 2 * torch.arange(1, k + 2, dtype=x.dtype).view(wide)
    return x.sum(dim), x.sum(dim, keepdim=True) * weights


def sum_dim_backward(grad_y: Tensor, grad_z: Tensor, x: Tensor, dim: int, k: int) -> Tensor:
    wide = [1] * x.dim()
    wide[dim] = k + 1
    weights = 2 * torch.arange(1, k + 2, dtype=x.dtype).view(wide)
    return (grad_y.unsqueeze(dim) + (grad_z * weights).sum(dim, keepdim=True)).expand(x.shape).contiguous()


def narrowed(x: Tensor, scale: Tensor, add: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x * scale + add, x * scale + add, 2 * scale


def taken(x: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
    return x[index], x[index, -1]


def same_or_float(v: Tensor, x: Tensor, w: Tensor, u: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    return v + x, w, torch.ones_like(x) if u is None else u


def masked_sum(x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    return (x * mask).sum(-1), mask.any(-1)


def positive_rows(x: Tensor, extra: int, total: int | None) -> tuple[Tensor, Tensor, Tensor]:
    index = (x[:, 0] > 0).nonzero()[:, 0]
    if total is not None:
        index = torch.cat([index, torch.full((total,), -1)])[:total]
    rows = torch.where((index >= 0)[:, None], x[index] if len(x) else x.new_zeros(len(index), x.shape[1]), 0.0)
    return index, rows, x[:, 0]


def two_counts(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    low, high = x[x < 0], x[~(x < 0)]
    bounds = x.new_tensor([2 * len(x) + 1])
    pairs = torch.stack([low, -low], 1).reshape(-1)
    return torch.cat([bounds, pairs]), torch.stack([high, torch.full_like(high, len(x))], 1), x


def triples(x: Tensor, w: Tensor) -> Tensor:
    return x + w[: len(x)]


def halves(x: Tensor, w: Tensor, k: int) -> Tensor:
    return x + w.repeat(3)


def row_sums(x: Tensor, sums: bool, pad: int) -> tuple[Tensor | None, Tensor, Tensor | None]:
    kept = x.shape[-1] - pad
    return x.sum(-1) if sums else None, 3 * x, 5 * x[..., :kept] if kept > 0 and pad > 0 else None


def row_sums_backward(
    grad_total: Tensor | None, grad_y: Tensor, grad_wide: Tensor | None, total: Tensor | None
) -> Tensor:
    found = 3 * grad_y
    if grad_total is not None:
        found = found + grad_total.unsqueeze(-1)
    if grad_wide is not None:
        found = found.clone()
        found[..., : grad_wide.shape[-1]] += 5 * grad_wide
    return found


def only_if_given(x: Tensor, w: Tensor | None, k: int) -> Tensor | None:
    return None if w is None else x.expand(k, *w.shape[1:]).clone()


def spans(x: Tensor, cu_seqlens: Tensor, lengths: Tensor) -> Tensor:
    parts = [x[i:j].sum(0) for i, j in zip(cu_seqlens.tolist(), cu_seqlens.tolist()[1:], strict=False)]
    sums = torch.stack(parts) if parts else x.new_zeros(0, x.shape[1])
    return sums + lengths.unsqueeze(-1)


def picked(
    x: Tensor, kind: Tensor, limited: Tensor, weight: Tensor, boxes: Tensor, scores: Tensor, low: float
) -> Tensor:
    return x[boxes[:, 0]] * weight + kind + limited


def biased(x: Tensor, bias: Tensor | None) -> Tensor:
    return x + 0 if bias is None else x + bias


def biased_backward(grad_y: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor]:
    return grad_y + 0, grad_y.flatten(0, -2).sum(0) if grad_y.dim() > 1 else grad_y + 0


def limited(lo: Tensor | None, mask: Tensor | None, x: Tensor, hi: Tensor | None) -> Tensor:
    y = (x if mask is None else x * mask).unsqueeze(-1)
    y = y if lo is None else torch.maximum(y, lo)
    return y if hi is None else torch.minimum(y, hi)


def optional_star(x: Tensor, a: Tensor | None, b: Tensor | None) -> Tensor:
    y = x if a is None else x + a.unsqueeze(0).flatten(0, -2).sum(0)
    return y if b is None else y + b.sum()


def widened(x: Tensor, w: Tensor | None, v: Tensor | None) -> Tensor:
    y = torch.zeros_like(x) if w is None else w
    return y if v is None else y + v


def scaled_from_host(order: Tensor, x: Tensor, factors: Tensor) -> Tensor:
    return x * factors[order.long()].sum()


def scale_segments(x: Tensor, lengths: Tensor, factors: Tensor, by: float, ask: str) -> Tensor:
    return x * by * torch.repeat_interleave(factors, lengths.long())[:, None]


def shift_list(xs: list[Tensor], by: Tensor) -> list[Tensor]:
    return [x + by for x in xs]


def running_sum(x: Tensor, ask: str) -> Tensor:
    return x.cumsum(0)


def weigh_rows(x: Tensor, w: Tensor | None, powers: list[int]) -> Tensor:
    return x * (1 if w is None else w) * sum(powers)


def weigh_rows_backward(grad_y: Tensor, x: Tensor, w: Tensor | None, powers: list[int]) -> tuple[Tensor, Tensor]:
    grad = grad_y * sum(powers)
    return grad * (1 if w is None else w), (grad * x).sum_to_size(x.shape[-1])


def reverse_bits(x: Tensor) -> Tensor:
    return x.flip(0)


def _chosen_factor(mode: str, label: str, twice: bool, type: str | None, note: str | None) -> float:
    length = len(label.encode()) + (-1 if note is None else len(note.encode()))
    return (2 if mode == "tanh" else 1) * (1 + twice) * (length + {None: 0, "float": 1, "double": 2, "Int": 3}[type])


def chosen(x: Tensor, mode: str, label: str, twice: bool, type: str | None, note: str | None, plain: bool) -> Tensor:
    return _chosen_factor(mode, label, twice, type, note) * (x if mode == "none" else x * x) + plain


def chosen_backward(
    grad_y: Tensor, x: Tensor, mode: str, label: str, note: str | None, type: str | None, twice: bool
) -> Tensor:
    return _chosen_factor(mode, label, twice, type, note) * (1 if mode == "none" else 2 * x) * grad_y


def converted(
    x: Tensor,
    out_dtype: torch.dtype,
    hint: torch.dtype,
    other: torch.dtype | None,
    same: torch.dtype | None,
    where: torch.device | None,
) -> tuple[Tensor, Tensor]:
    y = x.to(torch.complex128 if out_dtype.is_complex else torch.float64)
    y = y if out_dtype.is_floating_point or out_dtype.is_complex else y.to(torch.int64)
    z = x if other is not None and other.is_floating_point else x.to(torch.int64)
    return y, z + (hint == torch.int8) + (0 if other is None else 10)


def ramp(n: int, start: float, dtype: torch.dtype, device: torch.device) -> Tensor:
    y = start + 2 * torch.arange(n, dtype=torch.float64)
    return y if dtype.is_floating_point else y.to(dtype)


def grid(sizes: list[int], device: torch.device | None) -> tuple[Tensor, Tensor]:
    count = torch.tensor(len(sizes))
    return torch.arange(torch.Size(sizes).numel(), dtype=torch.float64).view(sizes), count


def listed(
    x: Tensor,
    sizes: list[int],
    xs: list[int],
    pair: list[int],
    fs: list[float],
    flags: list[bool] | None,
    maybe: list[float] | None,
    steps: list[int] | None,
    none: list[int],
) -> tuple[Tensor, Tensor]:
    added = torch.tensor(xs, dtype=x.dtype).expand(*sizes, len(xs))
    total = pair[0] + 10 * pair[1] + len(none) + sum(xs) + sum(fs) + sum(100 if flag else 1000 for flag in flags or [])
    total += sum(maybe or []) + (flags is not None) + 2 * (maybe is not None) + (0 if steps is None else steps[1])
    return torch.cat([x.movedim(0, -1), added], -1), torch.full(
        (torch.Size(sizes).numel(),), float(total), dtype=torch.float64
    )


def filled(x: Tensor, m: int) -> tuple[Tensor, ...]:
    count = min(m, len(x))
    values = (-float("inf"), 0, 0.3333, 1e-300, -1234567890123, -2, True, 1.5 + 0j, -2 + 0j)
    dtypes = (x.dtype, x.dtype, x.dtype, torch.float64, torch.int64, torch.int16, torch.bool, *2 * [torch.complex128])
    outputs = [
        torch.full((m,), value, dtype=dtype, device=x.device) for value, dtype in zip(values, dtypes, strict=True)
    ]
    outputs[0][:count] = x[:count]
    outputs[1][:count] = 2 * x[:count]
    return tuple(outputs)


def alike(x: Tensor) -> tuple[Tensor, Tensor]:
    return 2 * x, x / 2


def alike_matrix(x: Tensor) -> Tensor:
    return 3 * x


def alike_matrix_backward(grad_y: Tensor, x: Tensor) -> Tensor:
    return 3 * grad_y


def swapped(x: Tensor) -> Tensor:
    return -x


def add_into(x: Tensor, y: Tensor, s: int) -> Tensor:
    return x + y * s


def scale_rows(x: Tensor, s: Tensor | None) -> Tensor:
    return 2 * x if s is None else x * s


def copy_out(x: Tensor, out: Tensor) -> Tensor:
    return x + 0


def exchange(a: Tensor, b: Tensor | None) -> tuple[Tensor, ...]:
    other = torch.ones_like(a) if b is None else b
    total = (a + other).sum(1)
    return (total, other, a) if b is not None else (total, other)


def fill_view(y: Tensor, k: int) -> Tensor:
    return torch.full_like(y, k)


def switched(
    x: Tensor,
    width: int,
    causal: bool,
    mode: str,
    label: str,
    shifts: list[int],
    k: int | None,
    fs: list[float] | None,
    note: str | None,
) -> Tensor:
    added = len(label.encode()) + (-1 if note is None else len(note.encode())) + sum(shifts) + sum(fs or [])
    return x * width + added + (fs is not None) + 100 * (k or 0) + 1000 * causal + 5000 * (mode == "double")


def tripled(x: Tensor, metadata: float) -> Tensor:
    return metadata * x


def tripled_backward(grad_y: Tensor, kept_half: Tensor, metadata: float) -> Tensor:
    return metadata * grad_y + 0 * kept_half


def twisted(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    return a * b, a * a + b * b


def crossed(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    return b + 0, a + 0


def in_columns(x: Tensor) -> Tensor:
    return x + 1


def tagged(x: Tensor) -> Tensor:
    return 2 * x


def tagged_backward(grad_y: Tensor) -> Tensor:
    return 2 * grad_y


def needs_arch(x: Tensor) -> Tensor:
    return x + 1


def functions(x: Tensor, bound: float) -> tuple[Tensor, ...]:
    x2 = x * x
    one = torch.ones_like(x)
    return (
        torch.exp(x) + torch.exp2(x) - torch.expm1(x),
        torch.log(x2 + 0.5) + torch.log2(x2 + 0.5) - torch.log1p(x2),
        torch.sqrt(torch.abs(x)) + torch.rsqrt(x2 + 1),
        torch.sigmoid(x) + torch.tanh(x) * torch.erf(x),
        torch.sin(3 * x) - torch.cos(5 * x),
        torch.floor(x) + torch.ceil(2 * x) - torch.trunc(3 * x) + torch.round(4 * x),
        torch.minimum(torch.minimum(torch.maximum(x, -0.5 * one), 0.5 * one), x2)
        + torch.clamp(x, 0, bound)
        + torch.sign(x)
        + torch.pow(torch.abs(x) + 0.1, 1.5)
        + x**3
        + (x2 + 1) ** -2,
        torch.where(torch.isfinite(x), torch.where((x > 0) & (x <= 1), x, 2 * one), one),
        torch.tanh(x),
    )


def kinds(x: Tensor, k: Tensor, mask: Tensor, s: float, flag: bool) -> tuple[Tensor, ...]:
    y = torch.where(mask, (x * s + k) / x.shape[-1], -x) if flag else -x
    return y, (torch.floor(x).long() + 2 * k + mask).to(k.dtype), (x > s) | mask


def gelu(x: Tensor, approximate: str) -> Tensor:
    return torch.nn.functional.gelu(x, approximate=approximate)


def to_float8(x: Tensor, f: Tensor) -> tuple[Tensor, Tensor]:
    return torch.clamp(x * 400, -448, 448), x * f


def whole_numbers(a: Tensor, b: Tensor, k: int) -> tuple[Tensor, ...]:
    def divided(x: Tensor, y: Tensor) -> Tensor:
        return torch.where(y == 0, 0, x // torch.where(y == 0, 1, y))

    dtype, a, b = a.dtype, a.long(), b.long()
    r = k - b % 7
    y = divided(a, b - 50) + a - divided(a, r) * r - (a * a) ** 2
    least = torch.minimum(torch.minimum(a, b), torch.full_like(a, k))
    z = least + torch.maximum(a, -b) - torch.abs(a - b) * torch.sign(k - a)
    return y.to(dtype), z.to(dtype)


def conformance(x: Tensor, y: Tensor) -> Tensor:
    return torch.where(x == y, x, y)


def quantised(x: Tensor, scale: Tensor, zero: Tensor) -> tuple[Tensor, Tensor]:
    limits = torch.iinfo(zero.dtype)

    def saturated(y: Tensor) -> Tensor:
        return torch.clamp(torch.round(torch.nan_to_num(y, nan=0.0)), limits.min, limits.max).to(zero.dtype)

    return saturated(100 / scale * x + zero), saturated(64 * x)


def in_float32(x: Tensor, shift: Tensor, w: Tensor | None) -> Tensor:
    return x * (1 if w is None else w) + shift


def in_float32_backward(grad_y: Tensor, x: Tensor, w: Tensor | None) -> tuple[Tensor, Tensor]:
    return grad_y * (1 if w is None else w), grad_y * x


def lowered(x: Tensor, u: Tensor) -> tuple[Tensor, Tensor]:
    return 3 * x, 5 * u


def promoted(a: Tensor, b: Tensor, u: Tensor) -> tuple[Tensor, Tensor]:
    return a + b, 5 * u


def list_norm(xs: list[Tensor], k: int) -> tuple[Tensor, Tensor]:
    norms = torch.stack([(x * x).sum() for x in xs])
    return norms.sum().expand(k), norms


def list_dot(
    w: Tensor, xs: list[Tensor], ys: list[Tensor], zs: list[Tensor], mode: int, others: list[Tensor]
) -> Tensor:
    found = [(x * w).sum() + y.sum() + z.sum() * mode for x, y, z in zip(xs, ys, zs, strict=True)]
    found[0] = found[0] + sum(other.sum() for other in others)
    return torch.stack(found)


def scale_list(xs: list[Tensor], factors: list[Tensor], by: Tensor) -> list[Tensor]:
    return [x * factor * by.sum() for x, factor in zip(xs, factors, strict=True)]


def joined_list(x: Tensor, xs: list[Tensor | None]) -> Tensor:
    return torch.cat([x, *(one.flatten() for one in xs if one is not None)])


def list_sum(x: Tensor, xs: list[Tensor | None]) -> Tensor:
    return sum((one for one in xs if one is not None), x)


def no_gaps(x: Tensor) -> Tensor:
    return x.clone()


def some_firsts(x: Tensor, xs: list[Tensor | None]) -> Tensor:
    return torch.stack([x[0] if one is None or one.numel() == 0 else one.flatten()[0] for one in xs])


def maybe_lists(
    xs: list[Tensor | None],
    ys: list[Tensor | None],
    x: Tensor,
    zs: list[Tensor] | None,
    ws: list[Tensor | None] | None,
    counts: list[Tensor | None],
    scale: Tensor | None,
) -> tuple[Tensor, Tensor]:
    nothing = torch.zeros(1, dtype=torch.float64)
    y = [(nothing if x is None else x).sum() + (nothing if y is None else y).sum() for x, y in zip(xs, ys, strict=True)]
    z = [len(ws or ()) + (nothing if scale is None else scale).sum() for _ in zs or [0]]
    for several in (zs, ws, counts):
        z = [
            one + (0 if more is None else more.sum()) for one, more in zip(z, several or [None] * len(z), strict=False)
        ]
    return torch.stack(y), torch.stack(z)


def same_widths(
    a: Tensor | None, xs: list[Tensor], ys: list[Tensor | None], b: Tensor | None, zs: list[Tensor] | None
) -> Tensor:
    y = sum(xs) + (0 if a is None else a)
    for one in ys:
        y = y + (0 if one is None or one.numel() == 0 else one[-1])
    for one in zs or []:
        y = y + one.flatten()[:1].sum()
    return y if b is None or b.numel() == 0 else y + b.flatten()[0] * (len(b) + b.shape[1:].numel())


def double_some(xs: list[Tensor], ys: list[Tensor] | None, by: Tensor) -> list[Tensor]:
    return [*(2 * x for x in xs), *(by.sum() * y for y in ys or [])]


def lists_as_they_lie(
    xs: list[Tensor], ys: list[Tensor | None], zs: list[Tensor], ws: list[Tensor], vs: list[Tensor]
) -> tuple[Tensor, ...]:
    sums = [torch.zeros((), dtype=torch.float64) if one is None else one.sum() for one in [*xs, *ys]]
    written = [w + z for w, z in zip(ws, zs, strict=True)] + [v - z for v, z in zip(vs, zs, strict=True)]
    return torch.stack(sums), *written


def copy_list(xs: list[Tensor], ys: list[Tensor], zs: list[Tensor], total: Tensor) -> list[Tensor]:
    return [*xs, *(2 * x for x in xs), total + 1]


def noisy(x: Tensor, seed: Tensor) -> Tensor:
    return x * (((seed[0] ^ seed[1]) % 1024 + torch.arange(len(x), device=x.device)) % 3)


def noisy_backward(grad_y: Tensor, seed: Tensor) -> Tensor:
    return noisy(grad_y, seed)


def noise_of(n: int, where: torch.device, seed: Tensor) -> Tensor:
    return seed[torch.arange(n) % 2] ^ torch.arange(n)


def shuffled(x: Tensor, seed: Tensor) -> Tensor:
    return x + (seed[0] % 2 + torch.arange(x.numel()).view(x.shape)) % 2


def smooth(x: Tensor, p: Tensor, k: float) -> tuple[Tensor, Tensor]:
    x2, p2 = x * x, p * p
    y = torch.exp(-x2) + torch.exp2(x * k) + torch.expm1(p * 0.3) - torch.log(x2 + 1) * torch.log2(p2 + 2)
    z = torch.sqrt(p2 + 1) * torch.rsqrt(x2 + 2) + torch.sigmoid(x) * torch.tanh(p) + torch.erf(x * p)
    return y + torch.log1p(x2) / (p2 + 1), z + torch.sin(x) * torch.cos(p) + (x2 + 1) ** (p * k) - p**3


def kinked(x: Tensor, p: Tensor, approximate: str) -> tuple[Tensor, Tensor]:
    zero = torch.zeros_like(x)
    y = torch.maximum(torch.maximum(x, p), zero - 0.5) * torch.abs(p) + torch.minimum(x, zero) - torch.floor(x) * p
    y = y + torch.where((p > 0) & (x < 1), x * p, torch.sign(x) + p)
    return y, x * (torch.sigmoid(1.702 * x) if approximate == "none" else 0.5 + 0.5 * torch.tanh(0.8 * x))


def affine(x: Tensor, w: Tensor, b: Tensor, c: Tensor, i: Tensor, d: Tensor) -> tuple[Tensor, Tensor]:
    return x * w / max(x.shape[-1], 1) + b - c * c + i * 0.125 + d * x, i + 1


def added(a: Tensor, b: Tensor, s: float) -> Tensor:
    return a * s + b


def maybe(x: Tensor, w: Tensor | None, b: Tensor | None, s: float | None) -> Tensor:
    y = x * x * (1 if w is None else w)
    return y + (0 if b is None else b) - (0 if s is None else s * x)


def add_scalar_(x: Tensor, s: int) -> Tensor:
    return x + s


def swap_(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return a + b, b + 0, a - b


def filled_with(x: Tensor, k: int) -> Tensor:
    return torch.full_like(x, k)


def scaled_by(scale: Tensor, x: Tensor) -> Tensor:
    return x * scale


def beside_host(h: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return a + b


def nine(a: Tensor, b: Tensor, c: Tensor, d: Tensor, e: Tensor, f: Tensor, g: Tensor, h: Tensor, i: Tensor) -> Tensor:
    return a * b + c * d + e * f + g * h + i


def parts(x: Tensor, first: bool, both: bool) -> tuple[Tensor | None, Tensor | None]:
    return x + 1 if first or both else None, x * 2 if both else None


def squared_list(xs: list[Tensor], w: Tensor) -> tuple[list[Tensor], Tensor]:
    return [x * x * w for x in xs], torch.stack([x.sum() for x in xs])


def squared_list_backward(
    grad_ys: list[Tensor], grad_sums: Tensor, xs: list[Tensor], w: Tensor, squares: list[Tensor]
) -> tuple[list[Tensor], Tensor]:
    triples = zip(grad_ys, grad_sums, xs, strict=True)
    found = [2 * x * w * grad_y + grad_sum for grad_y, grad_sum, x in triples]
    return found, sum(((square * g).sum() for square, g in zip(squares, grad_ys, strict=True)), torch.zeros_like(w))


def added_lists(x: Tensor, xs: list[Tensor | None], more: list[Tensor] | None) -> Tensor:
    y = sum(((i + 1) * one for i, one in enumerate(xs) if one is not None), x)
    around = [one.reshape(-1)[torch.arange(len(x)) % one.numel()] for one in more or () if one.numel()]
    return sum(around, y)


def added_lists_backward(
    grad_y: Tensor, xs: list[Tensor | None], more: list[Tensor] | None
) -> tuple[Tensor, list[Tensor], list[Tensor]]:
    def part(one: Tensor) -> Tensor:
        found = torch.zeros(one.numel(), dtype=grad_y.dtype)
        if one.numel():
            found.index_add_(0, torch.arange(len(grad_y)) % one.numel(), grad_y)
        return found.view(one.shape)

    grad_xs = [(i + 1) * grad_y for i, one in enumerate(xs) if one is not None]
    return grad_y, [part(one) for one in more or ()], grad_xs


def list_parts(xs: list[Tensor], k: int) -> list[Tensor]:
    def part(x: Tensor) -> Tensor:
        *s, n, m = x.shape
        found = x.new_ones(*s, n + k, m - 1, k)
        if found.numel() and x.numel():
            found.view(-1)[0] = x.view(-1)[0]
        return found

    return [part(x.contiguous()) for x in xs]


def lists_alike(xs: list[Tensor], k: int) -> tuple[list[Tensor], list[Tensor]]:
    """Three times each, and the sum of its matrices, k times."""
    sums = [x.unsqueeze(0).sum(tuple(range(x.dim() - 1))) for x in xs]
    return [3 * x for x in xs], [one.unsqueeze(1).expand(-1, k, -1) for one in sums]


def lists_alike_backward(grad_ys: list[Tensor], grad_zs: list[Tensor], xs: list[Tensor]) -> list[Tensor]:
    """Of either."""
    return [3 * y + z.sum(1) for y, z in zip(grad_ys, grad_zs, strict=True)]


def twisted_lists(xs: list[Tensor], ys: list[Tensor]) -> tuple[list[Tensor], ...]:
    """Products and sums of squares."""
    pairs = list(zip(xs, ys, strict=True))
    return [x * y for x, y in pairs], [x * x + y * y for x, y in pairs]


def shifted_list(xs: list[Tensor], x: Tensor) -> tuple[list[Tensor] | Tensor, ...]:
    """Every other element plus x, and ones between them."""
    ys = [torch.ones_like(one) for one in xs]
    for y, one in zip(ys, xs, strict=True):
        y.view(-1)[::2] = one.reshape(-1)[::2] + x[0]
    return ys, torch.stack([-x[0], x[1] + 1])


def list_stars(xs: list[Tensor], by: Tensor, k: int, dim: int) -> tuple[list[Tensor] | Tensor, ...]:
    """Zeros, but for sums of first elements; threes and ones."""
    ys, zs = [], []
    for x in xs:
        y = x.new_zeros(x.shape[-1], *torch.broadcast_shapes(x.shape[:-1], by.shape))
        if y.numel():
            y.view(-1)[0] = x.reshape(-1)[0] + by.reshape(-1)[0]
        sizes = list(x.shape[:-1])
        sizes[dim] = k
        ys.append(y)
        zs.append(x.new_full(sizes, 3.0))
    sizes = list(by.shape)
    del sizes[dim]
    return ys, zs, by.new_ones(sizes)


def list_stars_in(
    xs: list[Tensor], ys: list[Tensor], ws: list[Tensor | None], zs: list[Tensor] | None, by: Tensor, dim: int
) -> Tensor:
    """How many tensors of each list are there."""
    return torch.tensor([1.0 + (zs is not None) + 2 * (w is not None) for w in ws], dtype=torch.float64)


def gated_lists(xs: list[Tensor], gates: list[Tensor], by: Tensor, scale: float) -> tuple[list[Tensor], list[Tensor]]:
    ys = [x * torch.sigmoid(gate) * by for x, gate in zip(xs, gates, strict=True)]
    return ys, [scale * x * x / x.shape[-1] for x in xs]


def averaged_lists_(averages: list[Tensor], xs: list[Tensor], decay: float) -> tuple[Tensor, ...]:
    return *(a + (x - a) * decay for a, x in zip(averages, xs, strict=True)), *(-x for x in xs)


def below_lists(xs: list[Tensor], bound: Tensor) -> list[Tensor]:
    return [x < bound for x in xs]


def biased_lists(
    xs: list[Tensor], biases: list[Tensor | None], scales: list[Tensor] | None, by: Tensor, terms: list[Tensor]
) -> tuple[list[Tensor], Tensor]:
    ys = [x if scales is None else x * scales[i] for i, x in enumerate(xs)]
    ys = [y if bias is None else y + bias for y, bias in zip(ys, biases, strict=True)]
    return ys, torch.stack([(by * term.expand(2, len(by))).sum() for term in terms])


def biased_lists_backward(
    grad_ys: list[Tensor],
    grad_sums: Tensor,
    xs: list[Tensor],
    biases: list[Tensor | None],
    scales: list[Tensor] | None,
    by: Tensor,
    terms: list[Tensor],
) -> tuple[list[Tensor], list[Tensor], list[Tensor], list[Tensor]]:
    grad_xs = [g if scales is None else g * scales[i] for i, g in enumerate(grad_ys)]
    grad_biases = [g for g, bias in zip(grad_ys, biases, strict=True) if bias is not None]
    grad_scales = [] if scales is None else [g * x for g, x in zip(grad_ys, xs, strict=True)]
    return grad_xs, grad_biases, grad_scales, [(g * by).repeat(2, 1) for g in grad_sums]


def biased_lists_second(
    grad_grad_xs: list[Tensor],
    grad_grad_biases: list[Tensor | None],
    grad_grad_scales: list[Tensor] | None,
    grad_grad_terms: list[Tensor],
    grad_ys: list[Tensor],
    grad_sums: Tensor,
    xs: list[Tensor],
    scales: list[Tensor] | None,
    by: Tensor,
) -> tuple[list[Tensor], Tensor, list[Tensor], list[Tensor]]:
    ys = [g if scales is None else g * scale for g, scale in zip(grad_grad_xs, scales or grad_grad_xs, strict=True)]
    ys = [y if g is None else y + g for y, g in zip(ys, grad_grad_biases, strict=True)]
    to_scales = grad_grad_scales or [torch.zeros_like(x) for x in xs]
    ys = [y + g * x for y, g, x in zip(ys, to_scales, xs, strict=True)]
    sums = torch.stack([(g * by).sum() for g in grad_grad_terms])
    grad_scales = [] if scales is None else [g * up for g, up in zip(grad_grad_xs, grad_ys, strict=True)]
    return ys, sums, [g * up for g, up in zip(to_scales, grad_ys, strict=True)], grad_scales


def tied_list(xs: list[Tensor], x: Tensor) -> Tensor:
    return sum((one * one for one in xs), x)


def tied_list_backward(grad_y: Tensor, xs: list[Tensor]) -> list[Tensor]:
    return [2 * x * grad_y for x in xs]


def counted_list(x: Tensor, ks: list[Tensor], more: list[Tensor] | None) -> Tensor:
    return x * (len(ks) + len(more or ()))


def counted_list_backward(grad_y: Tensor, ks: list[Tensor], more: list[Tensor] | None) -> Tensor:
    return grad_y * (len(ks) + len(more or ()))


def product_rows(x: Tensor, w: Tensor) -> Tensor:
    return x * w


def product_rows_backward(grad_y: Tensor, x: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    return grad_y * w, (grad_y * x).sum(0)


def product_rows_second(
    grad_grad_x: Tensor, grad_grad_w: Tensor, grad_y: Tensor, x: Tensor, w: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    return grad_grad_x * w + grad_grad_w * x, grad_grad_w * grad_y, (grad_grad_x * grad_y).sum(0)


def moved_list(xs: list[Tensor], x: Tensor, by: Tensor, more: list[Tensor] | None) -> tuple[Tensor | list[Tensor], ...]:
    by = by.sum()
    moved = [one + by for one in xs]
    sums, first = torch.stack([one.sum() for one in moved]), by.reshape(())
    return sums, first, moved, x + 3 * by, [one + 2 * by for one in more or ()]


def complex_numbers(z: Tensor, w: Tensor, x: Tensor, k: float) -> tuple[Tensor, Tensor]:
    """What float32 and complex numbers make."""
    a = torch.exp(z * k) * w.conj() - z / (w * w.conj() + 1) + torch.where(x > 0, z, -w) ** 2
    a = a + torch.sgn(w + 2) * z.real + (w + 3) ** (z / 4)
    return a, (z + 2).abs() + (w * z).real * (z * x).imag + x


def complex_functions(z: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    """Of every function that takes complex numbers."""
    y = torch.exp2(z) + torch.log(z * z + 2) * torch.log2(w * w + 3) + torch.sqrt(z + 4) / torch.sqrt(w + 3)
    y = y + torch.sigmoid(z / 2) - (z + 3) ** -2
    return y, torch.sin(z) * torch.cos(w) - torch.tanh(z / 4) + torch.where(z == w, 1.0, w)


def maybe_complex(x: Tensor, w: Tensor, i: Tensor) -> Tensor:
    """The same formula of real and complex numbers."""
    return x * w + x.conj() * i / (w.abs() + 1) + torch.real(w) * x.shape[-1]


def wider_complex(z: Tensor, d: Tensor, i: Tensor) -> tuple[Tensor, ...]:
    """Complex numbers beside float64 and int64."""
    wide = d / 3 + torch.where(d > 0, z, i + 0j)
    return z * d + i, wide, z.imag * d + 0j, (z * d).abs() + 1, torch.trunc(z.real * 4) + (z == d).double()


def some_parts(x: Tensor, w: Tensor, both: bool) -> tuple[Tensor | None, Tensor]:
    """A product, and another one on demand."""
    return x * x * w if both else None, x * w + 2


def by_triton(
    x: Tensor, i: Tensor, w: Tensor | None, eps: float, k: int, below: bool, mode: str
) -> tuple[Tensor, Tensor]:
    y = (x * eps + (k + i)[:, None]) * (1 if w is None else w) * (1 if mode == "twice" else 0.5)
    y = y.tril() if below else y
    return y, y.sum(-1)

"""Models of transformers before and after `my_ops.nn.replace`, eager, in milliseconds; on a GPU also the memory that a
call takes at its peak, beside weights and gradients.

A training step is forward, loss and backward, a prefill a forward pass without gradients. Weights are at random, the
same for both. On a GPU bfloat16, 4096 tokens and four layers as wide as those of Llama 3.2 1B and Qwen3 1.7B, eight as
those of GPT-2 XL; on the CPU float32, 256 tokens, two narrow layers and one thread. Losses and logits of both are
compared before they are timed.
"""

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from .figures import Result, compared, plain, scaled
from .options import Options
from .progress import Progress
from .timing import interleave, seconds

Call = Callable[[torch.nn.Module, torch.Tensor], torch.Tensor]
Models = dict[str, torch.nn.Module]

SIZES: dict[str, dict[str, Any]] = {
    "Llama": {"hidden_size": 2048, "intermediate_size": 8192, "num_attention_heads": 32, "num_key_value_heads": 8,
              "num_hidden_layers": 4, "vocab_size": 128256},
    "Qwen3": {"hidden_size": 2048, "intermediate_size": 6144, "num_attention_heads": 16, "num_key_value_heads": 8,
              "head_dim": 128, "num_hidden_layers": 4, "vocab_size": 151936},
    "GPT2": {"n_embd": 1600, "n_head": 25, "n_layer": 8, "n_positions": 4096},
}  # fmt: skip
NARROW = {"hidden_size": 256, "intermediate_size": 704, "num_attention_heads": 4, "num_key_value_heads": 2,
          "num_hidden_layers": 2, "n_embd": 256, "n_head": 4, "n_layer": 2, "vocab_size": 8192}  # fmt: skip
ALL = {"attn_pdrop": 0.0, "resid_pdrop": 0.0, "embd_pdrop": 0.0, "bos_token_id": 0, "eos_token_id": 1}
BEFORE, AFTER = "transformers", "replaced"


def measure(options: Options) -> Result:
    import transformers

    cuda = options.device == "cuda" and not options.dry_run
    repeats = options.repeats(21, 5)
    result = Result(notes=[f"transformers {transformers.__version__}."])
    progress = Progress("models", 2 * len(SIZES) * repeats)
    threads = torch.get_num_threads()
    if not cuda:
        torch.set_num_threads(1)
    for name in SIZES:
        models = _models(name, cuda)
        ids = torch.randint(8192, (1, 4096 if cuda else 256), device="cuda" if cuda else "cpu")
        for call, what in ((_train, "training step"), (_prefill, "prefill")):
            _compare(f"{name}, {what}", call, models, ids)
            clocks = {label: partial(seconds, partial(_waited, call, model, ids)) for label, model in models.items()}
            times = {
                label: scaled(found, lambda s: s * 1e3)
                for label, found in interleave(clocks, repeats, progress).items()
            }
            result.figures.append(plain(f"{name}, {what}: {BEFORE}", "ms", times[BEFORE]))
            result.figures.append(compared(f"{name}, {what}: {AFTER}", "ms", times[AFTER], BEFORE, times[BEFORE]))
            if cuda:
                peaks = {label: [_peak(call, model, ids)] for label, model in models.items()}
                result.figures.append(plain(f"{name}, {what}: {BEFORE}, memory", "GiB", peaks[BEFORE]))
                result.figures.append(
                    compared(f"{name}, {what}: {AFTER}, memory", "GiB", peaks[AFTER], BEFORE, peaks[BEFORE])
                )
    torch.set_num_threads(threads)
    progress.close()
    return result


def _models(kind: str, cuda: bool) -> Models:
    """A model of transformers, and one on our operators with the same weights."""
    import transformers

    from my_ops import nn

    sizes = SIZES[kind] | ALL
    if not cuda:
        sizes |= {name: size for name, size in NARROW.items() if name in sizes or name == "vocab_size"}
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**sizes)
    model = getattr(transformers, "GPT2LMHeadModel" if kind == "GPT2" else f"{kind}ForCausalLM")(config)
    model = model.to("cuda", torch.bfloat16) if cuda else model
    other = copy.deepcopy(model)
    nn.replace(other)
    return {BEFORE: model, AFTER: other}


def _train(model: torch.nn.Module, ids: torch.Tensor) -> torch.Tensor:
    loss: torch.Tensor = model(input_ids=ids, labels=ids, use_cache=False).loss
    loss.backward()
    return loss.detach()


@torch.no_grad()
def _prefill(model: torch.nn.Module, ids: torch.Tensor) -> torch.Tensor:
    logits: torch.Tensor = model(input_ids=ids, use_cache=False).logits
    return logits


def _waited(call: Call, model: torch.nn.Module, ids: torch.Tensor) -> None:
    call(model, ids)
    if ids.is_cuda:
        torch.cuda.synchronize()


def _compare(name: str, call: Call, models: Models, ids: torch.Tensor) -> None:
    """Both run once here, and warm up; gradients are there from then on."""
    theirs, ours = (call(models[label], ids).double() for label in (BEFORE, AFTER))
    distance = (ours - theirs).norm() / theirs.norm()
    if not distance <= (1e-5 if models[BEFORE].dtype == torch.float32 else 5e-2):
        raise RuntimeError(f"{name}: {AFTER} is {distance:.1e} away from {BEFORE}")


def _peak(call: Call, model: torch.nn.Module, ids: torch.Tensor) -> float:
    """GiB that a call takes, beside what was there before."""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    call(model, ids)
    torch.cuda.synchronize()
    return float((torch.cuda.max_memory_allocated() - before) / 2**30)

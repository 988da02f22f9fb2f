"""my_ops.nn.replace on models of transformers, of release 4 and 5: results, losses and gradients stay."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from my_ops import nn
from tests.nn.accuracy import distance
from tests.nn.calls import operators

VOCABULARY = 97
SIZES = {"vocab_size": VOCABULARY, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64, "head_dim": 8,
         "initializer_range": 0.2, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2}  # fmt: skip
GPT2 = {"vocab_size": VOCABULARY, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "attn_pdrop": 0.0,
        "resid_pdrop": 0.0, "embd_pdrop": 0.0, "initializer_range": 0.2, "bos_token_id": 0,
        "eos_token_id": 1}  # fmt: skip
# Each model, and how many modules run which operator.
LLAMA = {"my_ops::rms_norm": 5, "my_ops::silu_mul": 2, "my_ops::rope": 2, "my_ops::cross_entropy": 1}
MODELS: dict[str, tuple[dict[str, Any], dict[str, int]]] = {
    "Llama": (SIZES, LLAMA),
    "Qwen2": (SIZES, LLAMA),
    "Qwen3": ({**SIZES, "tie_word_embeddings": True}, {**LLAMA, "my_ops::rms_norm": 9}),
    "Gemma": (SIZES, {**LLAMA, "my_ops::silu_mul": 0, "my_ops::gelu_mul": 2}),
    "GPT2": (GPT2, {"my_ops::layer_norm": 5, "my_ops::cross_entropy": 1}),
}


def made(name: str, device: str) -> torch.nn.Module:
    """A small model with weights at random, those of norms too."""
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(**MODELS[name][0])
    model = getattr(transformers, "GPT2LMHeadModel" if name == "GPT2" else f"{name}ForCausalLM")(config)
    for parameter in model.parameters():
        if parameter.dim() == 1:
            torch.nn.init.uniform_(parameter, 0.5, 1.5)
    return model.to(device)


def tokens(device: str) -> tuple[Tensor, Tensor]:
    """Tokens, and labels of which some do not count."""
    ids = torch.randint(VOCABULARY, (2, 9), generator=torch.Generator().manual_seed(0))
    return ids.to(device), ids.where(ids % 5 != 0, -100).to(device)


def gradients(model: torch.nn.Module, ids: Tensor, labels: Tensor) -> list[Tensor]:
    model.zero_grad()
    output = model(input_ids=ids, labels=labels)
    output.loss.backward()
    return [output.logits.detach(), output.loss.detach(), *(parameter.grad for parameter in model.parameters())]


@pytest.mark.parametrize("name", MODELS)
def test_same_as_before(name: str, device: str) -> None:
    """In float32, eager and in one compiled graph; then undone."""
    model, (ids, labels) = made(name, device), tokens(device)
    keys, parameters, mode = [*model.state_dict()], [*model.parameters()], model.training
    expected = gradients(model, ids, labels)
    report = nn.replace(model)
    counts = MODELS[name][1]
    assert Counter(one.operator for one in report.replaced) == Counter(counts)
    assert report.left == []
    assert operators(lambda: model(input_ids=ids, labels=labels)) == {*+Counter(counts)}
    torch.testing.assert_close(gradients(model, ids, labels), expected, rtol=1e-4, atol=1e-5)
    assert ([*model.state_dict()], model.training) == (keys, mode)
    assert all(one is other for one, other in zip(model.parameters(), parameters, strict=True))
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(gradients(compiled, ids, labels), expected, rtol=1e-4, atol=1e-5)
    torch._dynamo.reset()
    report.undo()
    assert operators(lambda: model(input_ids=ids, labels=labels)) == set()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_half_precision(name: str, dtype: torch.dtype, device: str) -> None:
    """Logits, and all gradients together, are as near to those of a float64 model of the same weights as before, and
    the loss is that of the logits.
    """
    model, (ids, labels) = made(name, device).to(dtype), tokens(device)
    runs = [gradients(copy.deepcopy(model).double(), ids, labels), gradients(model, ids, labels)]
    nn.replace(model)
    runs.append(gradients(model, ids, labels))
    for part in (slice(0, 1), slice(2, None)):
        truth, theirs, ours = (torch.cat([one.double().flatten() for one in run[part]]) for run in runs)
        assert distance(ours, truth) <= 1.5 * distance(theirs, truth)
    logits, loss = runs[-1][:2]
    exact = torch.nn.functional.cross_entropy(logits[:, :-1].double().flatten(0, 1), labels[:, 1:].flatten())
    torch.testing.assert_close(loss, exact.float())


def test_generation_and_recording(device: str) -> None:
    """With a cache, token by token; with hidden states and attentions."""
    model, (ids, _) = made("Llama", device).eval(), tokens(device)
    keywords = {"output_hidden_states": True, "output_attentions": True}
    model.set_attn_implementation("eager")

    def results() -> list[Tensor]:
        words = model.generate(input_ids=ids, max_new_tokens=5, do_sample=False, pad_token_id=2)
        output = model(input_ids=ids, **keywords)
        return [words, *output.hidden_states, *output.attentions]

    expected = results()
    nn.replace(model)
    found = results()
    assert len(found) == len(expected) == 1 + 3 + 2
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("ignore:`gradient_checkpointing_enable` is deprecated")
def test_checkpointing(device: str) -> None:
    model, (ids, labels) = made("Llama", device).train(), tokens(device)
    nn.replace(model)
    expected = gradients(model, ids, labels)
    model.gradient_checkpointing_enable()
    torch.testing.assert_close(gradients(model, ids, labels), expected)


def test_loss(device: str) -> None:
    """What trainers pass: how many labels count in several batches, and labels that are shifted already."""
    model, (ids, labels) = made("Llama", device), tokens(device)
    shifted = torch.nn.functional.pad(labels, (0, 1), value=-100)[:, 1:]
    calls: list[dict[str, Any]] = [
        {"labels": labels, "num_items_in_batch": 7},
        {"labels": labels, "num_items_in_batch": torch.tensor(7)},
        {"labels": labels, "shift_labels": shifted.flip(1).contiguous()},
        {"labels": torch.full_like(labels, -100)},
    ]
    expected = [model(input_ids=ids, **keywords).loss for keywords in calls]
    report = nn.replace(model, "loss")
    assert [(one.name, one.before) for one in report.replaced] == [("loss_function", "ForCausalLMLoss")]
    torch.testing.assert_close([model(input_ids=ids, **keywords).loss for keywords in calls], expected, equal_nan=True)
    assert [one.reason for one in nn.replace(model, "loss").left] == ["runs my_ops::cross_entropy already"]
    assert model.double()(input_ids=ids, labels=labels).loss.dtype == torch.float32
    with pytest.raises(ValueError, match="expected labels or shift_labels, got neither"):
        nn.causal_lm_loss(torch.zeros(1, 2, 3, device=device), None, 3)


def test_other_losses_are_left(device: str) -> None:
    """That of a classifier, and one that was set before, which `undo` brings back."""
    torch.manual_seed(0)
    classifier = transformers.LlamaForSequenceClassification(transformers.LlamaConfig(**SIZES)).to(device)
    model = made("Llama", device)

    def own(**keywords: Any) -> Tensor:
        return 2 * nn.causal_lm_loss(**keywords)

    for one, name in ((classifier, "ForSequenceClassificationLoss"), (model, "own")):
        if one is model:
            model.loss_function = own
        report = nn.replace(one)
        (left,) = report.left
        assert (left.name, left.before) == ("loss_function", name)
    assert model.loss_function is own
    usual = transformers.loss.loss_utils.ForCausalLMLoss
    model.loss_function = before = lambda **keywords: usual(**keywords)
    report = nn.replace(model)
    assert model.loss_function is nn.causal_lm_loss
    report.undo()
    assert model.loss_function is before


def test_attention_with_other_angles_is_left(device: str) -> None:
    """Cohere rotates pairs that lie beside each other."""
    torch.manual_seed(0)
    sizes = {name: value for name, value in SIZES.items() if name != "head_dim"}
    model = transformers.CohereForCausalLM(transformers.CohereConfig(**sizes)).to(device)
    ids, labels = tokens(device)
    expected = gradients(model, ids, labels)
    report = nn.replace(model)
    assert {one.before: one.reason for one in report.left} == {
        "CohereAttention": "apply_rotary_pos_emb does not compute x * cos + rotate_half(x) * sin",
        "CohereLayerNorm": "it does not compute x * rsqrt(mean(x ** 2) + eps) * weight, nor that with 1 + weight",
    }
    torch.testing.assert_close(gradients(model, ids, labels), expected, rtol=1e-4, atol=1e-5)

"""Attention: products of queries and keys, softmax, products with values. Masks are those known beforehand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinydeploy.frontends.keras_call import Call, layer
from tinydeploy.ir import Array

MASKED = -1e9  # what Keras adds to scores that do not count


def _no_masks(call: Call) -> None:
    masks = sorted(key for key, value in call.kwargs.items() if "mask" in key and not isinstance(value, bool))
    if masks:
        raise call.refuse(f"is called with {', '.join(masks)[:80]}", "no mask is given but use_causal_mask")


def _probabilities(call: Call, scores: str, window: object = None) -> str:
    """Softmax over the last axis, of scores that may look back only (causal), or not too far (sliding window)."""
    *_, rows, columns = call.type(scores).shape
    call.check_table(rows, columns)
    row, column = np.arange(rows)[:, np.newaxis], np.arange(columns)
    seen = np.ones((rows, columns), bool)
    if call.kwargs.get("use_causal_mask"):
        seen &= row >= column
    if window is not None:
        if type(window) is not int or window < 1:
            raise call.damaged(f"sliding_window is {str(window)[:80]}")
        seen &= np.abs(row - column) < window
    if not seen.all():
        mask = call.constant(f"mask{rows}x{columns}", np.where(seen, 0, MASKED).astype(np.float32))
        scores = call.emit("add", (scores, mask), stem="masked")
    return call.emit("softmax", (scores,), stem="softmax", axis=call.type(scores).rank - 1, beta=1.0)


def _three(call: Call) -> tuple[str, str, str]:
    """Query, value and key, all of one rank."""
    if len(call.operands) not in (2, 3):
        raise call.damaged(f"has {len(call.operands)} inputs, not query, value and key")
    query, value = call.operand(0), call.operand(1)
    key = call.operand(2) if len(call.operands) == 3 else value
    if any(call.type(name).rank != 3 for name in (query, value, key)):
        raise call.refuse(f"is given {call.type(query)}", "query, value and key are [batch, steps, features]")
    return query, value, key


def _result(call: Call, scores: str, value: str) -> list[str]:
    weights = _probabilities(call, scores)
    y = call.emit("batch_matmul", (weights, value))
    return [y, weights] if call.kwargs.get("return_attention_scores") else [y]


def _sums(call: Call, query: str, key: str, scale: Array | None, stem: str) -> str:
    """tanh(query + key) of every pair of steps, [batch, query, key, features]."""
    b, q, d = call.type(query).shape
    k = call.type(key).shape[1]
    left = call.reshape(query, (b, q, 1, d), f"{stem}/query")
    right = call.reshape(key, (b, 1, k, d), f"{stem}/key")
    total = call.emit("add", (left, right), stem=f"{stem}/sum")
    if scale is not None:
        total = call.emit("mul", (total, call.constant("scale", scale)), stem=f"{stem}/scaled")
    return call.emit("tanh", (total,), stem=f"{stem}/tanh")


@layer("Attention", mask="uses")
def _attention(call: Call) -> list[str]:
    _no_masks(call)
    query, value, key = _three(call)
    mode, scaled = call.config.get("score_mode", "dot"), bool(call.config.get("use_scale"))
    if mode not in ("dot", "concat"):
        raise call.damaged(f"score_mode is {str(mode)[:80]!r}")
    arrays = call.weights(*[0] * (scaled + (mode == "concat")))
    scale = arrays[0] if scaled else None
    if mode == "concat":
        pairs = _sums(call, query, key, scale, "pairs")
        scores = call.emit("reduce_sum", (pairs,), stem="total", axes=(3,), keep_dims=False)
        scores = call.emit("mul", (scores, call.constant("weight", arrays[-1])), stem="scores")
    else:
        turned = call.transpose(key, (0, 2, 1), "key")
        scores = call.emit("batch_matmul", (query, turned), stem="scores")
        if scale is not None:
            scores = call.emit("mul", (scores, call.constant("scale", scale)), stem="scaled")
    return _result(call, scores, value)


@layer("AdditiveAttention", mask="uses")
def _additive_attention(call: Call) -> list[str]:
    _no_masks(call)
    query, value, key = _three(call)
    pairs = _sums(call, query, key, None, "pairs")
    if call.config.get("use_scale", True):
        (scale,) = call.weights(1)
        pairs = call.emit("mul", (pairs, call.constant("scale", scale)), stem="scaled")
    return _result(call, call.emit("reduce_sum", (pairs,), stem="scores", axes=(3,), keep_dims=False), value)


def _called(call: Call) -> tuple[str, str, str]:
    """Query, value and key of a call by position or by name."""
    given: dict[str, Any] = dict(zip(("query", "value", "key"), call.operands, strict=False))
    given.update({key: value for key, value in call.kwargs.items() if key in ("query", "value", "key")})
    if "query" not in given or "value" not in given:
        raise call.damaged("is called without a query and a value")
    query, value = call.real(given["query"]), call.real(given["value"])
    key = call.real(given["key"]) if given.get("key") is not None else value
    if any(call.type(name).rank != 3 for name in (query, value, key)):
        raise call.refuse(f"is given {call.type(query)}", "query, value and key are [batch, steps, features]")
    if call.config.get("use_gate"):
        raise call.refuse("has a gate", "use_gate is False")
    return query, value, key


def _heads(call: Call, x: str, arrays: list[Array], stem: str, repeat: int = 1) -> str:
    """A projection [batch, steps, features] -> [batch, heads, steps, size]; every head is there ``repeat`` times."""
    kernel = arrays[0]
    _, heads, size = kernel.shape
    flat = kernel.reshape(kernel.shape[0], heads * size).T
    bias = call.constant(f"{stem}/bias", arrays[1].reshape(-1)) if len(arrays) > 1 else None
    y = call.emit("fully_connected", (x, call.constant(f"{stem}/kernel", flat), bias), stem=stem)
    b, t, _ = call.type(y).shape
    y = call.transpose(call.reshape(y, (b, t, heads, size), f"{stem}/split"), (0, 2, 1, 3), f"{stem}/heads")
    if repeat > 1:
        index = call.constant(f"{stem}/index", np.repeat(np.arange(heads, dtype=np.int32), repeat))
        y = call.emit("gather", (y, index), stem=f"{stem}/repeat", axis=1, batch_dims=0)
    return y


def _attend(call: Call, q: str, k: str, v: str, output: list[Array]) -> list[str]:
    """Attention of heads, put together by the output's projection [heads, size, features]."""
    b, heads, steps, size = call.type(q).shape
    scale = call.constant("scale", np.asarray(1 / math.sqrt(size), np.float32))
    q = call.emit("mul", (q, scale), stem="scaled")
    scores = call.emit("batch_matmul", (q, call.transpose(k, (0, 1, 3, 2), "key/turned")), stem="scores")
    weights = _probabilities(call, scores, call.config.get("sliding_window"))
    y = call.emit("batch_matmul", (weights, v), stem="values")
    y = call.transpose(y, (0, 2, 1, 3), "steps")
    flat = call.reshape(y, (b, steps, heads * call.type(v).shape[3]), "joined")
    kernel = output[0]
    tail = kernel.shape[2:]
    matrix = call.constant("output/kernel", kernel.reshape(-1, math.prod(tail)).T)
    bias = call.constant("output/bias", output[1].reshape(-1)) if len(output) > 1 else None
    result = call.emit("fully_connected", (flat, matrix, bias))
    result = call.reshape(result, (b, steps, *tail), "shape")
    return [result, weights] if call.kwargs.get("return_attention_scores") else [result]


def _parts(call: Call, prefix: str) -> list[list[Array]]:
    biased = bool(call.config.get("use_bias", True))
    shape = call.config.get("output_shape")
    tail = len(shape) if isinstance(shape, list) else 1
    ranks = {f"{prefix}{word}_dense": (3, *([2] * biased)) for word in ("query", "key", "value")}
    return call.parts({**ranks, f"{prefix}output_dense": (2 + tail, *([tail] * biased))})


@layer("MultiHeadAttention", mask="uses")
def _multi_head_attention(call: Call) -> list[str]:
    _no_masks(call)
    query, value, key = _called(call)
    if call.config.get("attention_axes") not in (None, [1], 1):
        raise call.refuse(f"attends along axes {str(call.config['attention_axes'])[:80]}", "along the steps, axis 1")
    of_query, of_key, of_value, output = _parts(call, "")
    q, k = _heads(call, query, of_query, "query"), _heads(call, key, of_key, "key")
    return _attend(call, q, k, _heads(call, value, of_value, "value"), output)


@layer("GroupQueryAttention", "GroupedQueryAttention", mask="uses")
def _grouped_query_attention(call: Call) -> list[str]:
    _no_masks(call)
    query, value, key = _called(call)
    of_query, of_key, of_value, output = _parts(call, "")
    heads, groups = of_query[0].shape[1], of_key[0].shape[1]
    if heads % groups:
        raise call.damaged(f"has {heads} heads of queries and {groups} of keys")
    q, k = _heads(call, query, of_query, "query"), _heads(call, key, of_key, "key", heads // groups)
    return _attend(call, q, k, _heads(call, value, of_value, "value", heads // groups), output)

"""Runs of Parquet, slowly: the text of bits, and the rule of pyarrow's encoder as it is told."""

from __future__ import annotations


def slow_encode(values: list[int], width: int) -> bytes:
    """Every run of the rule, one after the other."""
    out, packed = b"", []
    while values:
        same = next((i for i, value in enumerate(values) if value != values[0]), len(values))
        if same >= 8 or (same == len(values) and not packed):
            out += packed_run(packed, width) + repeated_run(values[0], same, width)
            packed, values = [], values[same:]
        else:
            packed, values = [*packed, (values + [0] * 8)[:8]], values[8:]
        if len(packed) == 63:
            out, packed = out + packed_run(packed, width), []
    return out + packed_run(packed, width)


def packed_run(groups: list[list[int]], width: int) -> bytes:
    if not groups:
        return b""
    bits = "".join(format(value, f"0{width}b") for group in reversed(groups) for value in reversed(group))
    return bytes([len(groups) << 1 | 1]) + int(bits, 2).to_bytes(len(groups) * width, "little")


def repeated_run(value: int, count: int, width: int) -> bytes:
    return varint(count << 1) + value.to_bytes((width + 7) // 8, "little")


def varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number % 128 + 128]) + varint(number // 128)

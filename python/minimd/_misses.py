"""Misses of an address trace in caches of every size."""

import ctypes

import numpy

from minimd._arrays import whole
from minimd._library import Handle, InputError, call, library


def misses(addresses, line_bytes=64, capacities="all"):
    """How many accesses miss in a fully associative cache that evicts the least recently used line.

    addresses: whole numbers >= 0 [n], in the order of the accesses, each within one line of
    line_bytes.  capacities: lines that the cache holds, one number or an array of any shape, and
    misses of the same shape come back; "all" gives misses[c - 1] for c = 1 up to the number of
    distinct lines, beyond which only first accesses miss.  Arrays on the host; int64.
    """
    addresses = numpy.asarray(addresses)
    if addresses.ndim != 1 or (addresses.dtype.kind not in "iu" and addresses.size):
        raise InputError(
            f"addresses: expected whole numbers [n], not {addresses.dtype} {addresses.shape}"
        )
    if addresses.size and addresses.min() < 0:
        raise InputError(f"addresses: expected numbers >= 0, not {addresses.min()}")
    line_bytes = whole("line_bytes", line_bytes, 1)
    every = isinstance(capacities, str) and capacities == "all"
    lines = None if every else _lines(capacities)
    used, numbers = numpy.unique(
        addresses.astype(numpy.uint64) // numpy.uint64(line_bytes), return_inverse=True
    )
    trace = numpy.ascontiguousarray(numbers, dtype=numpy.uint32)
    stack = Handle("cachemodel_stack", library().md_isa_detect())
    call(
        "cachemodel_stack_feed",
        stack.pointer,
        trace.size,
        trace.ctypes.data_as(ctypes.POINTER(ctypes.c_uint32)),
    )
    counts = numpy.zeros(used.size, dtype=numpy.int64)
    if used.size:
        library().cachemodel_stack_misses(
            stack.pointer, used.size, counts.ctypes.data_as(ctypes.POINTER(ctypes.c_int64))
        )
    if every:
        return counts
    if not used.size:
        return numpy.zeros(lines.shape, dtype=numpy.int64)[()]
    return counts[numpy.minimum(lines, used.size) - 1]


def _lines(capacities):
    lines = numpy.asarray(capacities)
    if lines.dtype.kind not in "iu" or (lines.size and lines.min() < 1):
        raise InputError(f"capacities: expected 'all' or numbers of lines >= 1, not {capacities!r}")
    return lines

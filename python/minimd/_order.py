"""Particles along a curve."""

import ctypes

import numpy

from minimd import _structs as s
from minimd._arrays import Work, at, box_of, positions, sizes_of
from minimd._library import Handle, call


def order(x, box, curve="hilbert", cells=None, backend="auto"):
    """The permutation that sorts the rows of x [n, 3] along the curve: x[order(x, box)].

    box: edges of the periodic box, or its corners [2, 3]; positions outside are wrapped.
    curve: none, row, column, morton, morton:kji, hilbert, gilbert, random, random:SEED or
    hybrid:OUTER/INNER:T.  cells: along each axis; None takes powers of two, one to eight cells a
    particle.  Particles of one cell stay in their order.  int64 [n]; on the GPU int32 [n].
    """
    x = positions(x)
    work = Work(backend, "single" if x.dtype == numpy.float32 else "double", x)
    curve_of = s.Ordering()
    call("ordering_parse", str(curve).encode(), ctypes.byref(curve_of))
    lo, hi = box_of(box)
    counts = (ctypes.c_int32 * 3)(*([0, 0, 0] if cells is None else sizes_of("cells", cells)))
    particles = s.OrderingParticles(lo, hi, counts, x.shape[0], work.give(x), 3)
    sorter = Handle("ordering_sorter", work.context.pointer, of=work.context)
    place = work.make((x.shape[0],), numpy.int32)
    call(
        "ordering_sort_particles",
        sorter.pointer,
        ctypes.byref(curve_of),
        ctypes.byref(particles),
        at(place),
    )
    place = work.finish(place)
    return place.astype(numpy.int64) if isinstance(place, numpy.ndarray) else place

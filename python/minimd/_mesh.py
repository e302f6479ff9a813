"""Charges onto a mesh, mesh values back, smooth particle mesh Ewald."""

import collections
import ctypes

import numpy

from minimd import _structs as s
from minimd._arrays import Given, Work, at, box_of, positions, precision_of, sizes_of, whole
from minimd._library import Handle, InputError, call


def _method(word):
    if word not in s.METHODS:
        raise InputError(f"method: expected {', '.join(s.METHODS)}, not {word!r}")
    return s.METHODS.index(word)


def _plan(work, x, box, mesh, order, method, vectors):
    lo, hi = box_of(box)
    spec = s.SpreadSpec(
        lo=lo,
        hi=hi,
        mesh=(ctypes.c_int32 * 3)(*mesh),
        order=whole("order", order),
        method=_method(method),
        vectors=vectors,
    )
    plan = Handle("spread", work.context.pointer, ctypes.byref(spec), of=work.context)
    call("spread_set_positions", plan.pointer, x.shape[0], work.give(x), 3)
    return plan


def spread(x, q, box, mesh, order=6, backend="auto", method="auto"):
    """Charges q [n] or [V, n] of particles at x [n, 3] onto a mesh [K1, K2, K3], or V of them.

    Point (i, j, k) lies at the box's lower corner + (i, j, k) edge / K.  A particle adds its charge
    times the cardinal B-splines of this order (2..10) to order^3 points, periodically; weights add
    up to 1.  box: edges, or corners [2, 3].  mesh: K or (K1, K2, K3).  backend: auto computes where
    the arrays lie.  The mesh has the type of q; float32 q with float64 x is mixed precision.
    """
    x, q = positions(x), Given("q", q)
    q.expect(
        len(q.shape) in (1, 2) and q.shape[-1] == x.shape[0],
        f"({x.shape[0]},) or (V, {x.shape[0]})",
    )
    mesh, vectors = sizes_of("mesh", mesh), q.shape[0] if len(q.shape) == 2 else 1
    work = Work(backend, precision_of(x, q), x, q)
    plan = _plan(work, x, box, mesh, order, method, vectors)
    result = work.make((*q.shape[:-1], *mesh), q.dtype)
    call("spread_charges", plan.pointer, work.give(q), at(result))
    return work.finish(result)


def interpolate(x, mesh, box, order=6, backend="auto", method="auto", gradient=False):
    """Values of a mesh [K1, K2, K3], or of V meshes, at x [n, 3]: the adjoint of spread.

    Returns values [n] or [V, n]; with gradient also their derivatives by x, [n, 3] or [V, n, 3].
    """
    x, mesh = positions(x), Given("mesh", mesh)
    mesh.expect(len(mesh.shape) in (3, 4), "(K1, K2, K3) or (V, K1, K2, K3)")
    vectors = mesh.shape[:-3]
    work = Work(backend, precision_of(x, mesh), x, mesh)
    plan = _plan(work, x, box, mesh.shape[-3:], order, method, vectors[0] if vectors else 1)
    value = work.make((*vectors, x.shape[0]), mesh.dtype)
    slope = work.make((*vectors, x.shape[0], 3), mesh.dtype) if gradient else None
    call(
        "spread_interpolate",
        plan.pointer,
        work.give(mesh),
        at(value),
        at(slope) if gradient else None,
    )
    return work.finish(value, slope) if gradient else work.finish(value)


class Pme(collections.namedtuple("Pme", "energy forces virial")):
    """energy = reciprocal + self_energy + background; virial = -dE / d ln(length), sum of r . f."""

    def __new__(cls, tally, forces):
        made = super().__new__(
            cls, tally.reciprocal + tally.self + tally.background, forces, tally.virial
        )
        made.reciprocal, made.self_energy, made.background = (
            tally.reciprocal,
            tally.self,
            tally.background,
        )
        return made


def pme(x, q, box, alpha, mesh, order=6, backend="auto", method="auto"):
    """Energy, forces [n, 3] and virial of charges q [n] at x [n, 3] in a periodic box, U = q q / r:
    Ewald's sum but for its pairs in real space, q q erfc(alpha r) / r.

    Reciprocal sum on a mesh with B-splines of this order (3..10), self energy, and the background
    of a net charge, which the result also has one by one: reciprocal, self_energy, background.
    float32 where both arrays are, else float64.
    """
    x, q = positions(x), Given("q", q)
    q.expect(q.shape == x.shape[:1], f"({x.shape[0]},)")
    if x.dtype != q.dtype:
        x.convert(numpy.float64)
        q.convert(numpy.float64)
    work = Work(backend, "single" if x.dtype == numpy.float32 else "double", x, q)
    lo, hi = box_of(box)
    spec = s.PmeSpec(
        lo,
        hi,
        (ctypes.c_int32 * 3)(*sizes_of("mesh", mesh)),
        whole("order", order),
        alpha,
        _method(method),
    )
    solver = Handle("pme", work.context.pointer, ctypes.byref(spec), of=work.context)
    charges = s.PmeCharges(x.shape[0], work.give(x), 3, work.give(q), 1)
    forces, tally = work.make((x.shape[0], 4), x.dtype, zero=True), s.PmeTally()
    call("pme_compute", solver.pointer, ctypes.byref(charges), at(forces), ctypes.byref(tally))
    forces = work.finish(forces)
    if isinstance(forces, numpy.ndarray):
        return Pme(tally, numpy.ascontiguousarray(forces[:, :3]))
    return Pme(tally, forces.columns(3))

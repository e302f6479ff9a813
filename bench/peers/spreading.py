#!/usr/bin/env python3
"""Spreading and interpolation on the CPU beside FINUFFT.

Rows go to docs/results/spreading-peers-cpu.csv.

    python3 bench/peers/spreading.py [BUILD [CSV]]

Needs `make lib`.  FINUFFT comes from PyPI into a virtual environment, BUILD/peers/finufft, unless
the running Python has it and numpy; where that fails, the script says that the comparison is
skipped, and the file stays as it is.

Both programs spread the same uniform particles onto the same mesh with kernels of the same width,
which is measured by spreading one particle.  FINUFFT spreads complex numbers; seconds are half of
its time, as for one real vector.  Calls alternate in one process.  seconds: the median of a
program.  ratio: the median over pairs of calls of its time by minimd's.  operation: spreading,
interpolation of values, or positions (setting them, which serves both; not halved).
"""

import os
import pathlib
import statistics
import sys
import time

from environment import enter, origin_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPERATIONS = ("spreading", "interpolation", "positions")
COLUMNS = "date,commit,machine,program,version,operation,precision,particles,mesh,order,threads"
# particles, points an edge, order, threads
CASES = [
    (n, 64, order, threads)
    for n in (10**4, 10**5, 10**6)
    for order in (4, 6, 8)
    for threads in ((1, 2) if order == 6 and (os.cpu_count() or 1) > 1 else (1,))
] + [(10**6, mesh, 6, 1) for mesh in (48, 100, 128, 256)]
PAIRS = 15


def lacking():
    """What this Python lacks for FINUFFT, or None."""
    try:
        import finufft  # noqa: F401
        import numpy  # noqa: F401
    except ImportError as error:
        return str(error)
    return None


class Minimd:
    """A plan of method tiled for real vectors."""

    def __init__(self, x, mesh, order, threads):
        double = x[0].dtype == numpy.float64
        precision = structs.PRECISIONS["double" if double else "single"]
        spec = structs.CtxSpec(structs.BACKENDS["cpu"], precision, threads, True)
        self.context = library.Handle("md_ctx", ctypes.byref(spec))
        spec = structs.SpreadSpec(
            hi=(ctypes.c_double * 3)(*[2 * numpy.pi] * 3),
            mesh=(ctypes.c_int32 * 3)(*[mesh] * 3),
            order=order,
            method=structs.METHODS.index("tiled"),
            vectors=1,
        )
        of = self.context
        self.plan = library.Handle("spread", of.pointer, ctypes.byref(spec), of=of)
        self.x = numpy.ascontiguousarray(numpy.stack(x, axis=1))
        self.q = numpy.random.default_rng(2).uniform(-1, 1, len(self.x)).astype(self.x.dtype)
        self.mesh = numpy.zeros([mesh] * 3, self.x.dtype)

    def positions(self):
        library.call("spread_set_positions", self.plan.pointer, *self.x.shape[:1], at(self.x), 3)

    def spreading(self):
        library.call("spread_charges", self.plan.pointer, at(self.q), at(self.mesh))

    def interpolation(self):
        library.call("spread_interpolate", self.plan.pointer, at(self.mesh), at(self.q), None)


class Finufft:
    """Plans of types 1 and 2 that do nothing but spread and interpolate."""

    def __init__(self, x, mesh, order, threads):
        self.type = numpy.complex64 if x[0].dtype == numpy.float32 else numpy.complex128
        self.x = x
        shared = {"nthreads": threads, "spreadinterponly": 1, "upsampfac": 2.0}
        shared |= {"dtype": numpy.dtype(self.type).name, "eps": self.tolerance(order)}
        self.plans = [finufft.Plan(kind, [mesh] * 3, 1, **shared) for kind in (1, 2)]
        rng = numpy.random.default_rng(2)
        q = rng.uniform(-1, 1, len(x[0])) + 1j * rng.uniform(-1, 1, len(x[0]))
        self.q = q.astype(self.type)
        self.mesh = numpy.zeros([mesh] * 3, self.type)

    def tolerance(self, order):
        """The one for which the kernel is `order` points wide."""
        middle = [numpy.full(1, 0.1, self.x[0].dtype) for _ in range(3)]
        one = numpy.ones(1, self.type)
        for tenths in range(10, 150):
            eps = 10 ** (-tenths / 10)
            if eps < numpy.finfo(self.type).eps:
                break
            plan = finufft.Plan(
                1, [32] * 3, 1, eps=eps, dtype=numpy.dtype(self.type).name, spreadinterponly=1,
                upsampfac=2.0, nthreads=1,
            )
            plan.setpts(*middle)
            mesh = plan.execute(one)
            if numpy.count_nonzero(numpy.abs(mesh).sum(axis=(1, 2))) == order:
                return eps
        raise LookupError(f"no tolerance gives a kernel of {order} points")

    def positions(self):
        self.plans[0].setpts(*self.x)

    def spreading(self):
        self.plans[0].execute(self.q, self.mesh)

    def interpolation(self):
        self.plans[1].execute(self.mesh, self.q)


def seconds(call, repeats):
    began = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - began) / repeats


def compare(programs, operation):
    """Seconds of each program, call by call."""
    calls = [getattr(program, operation) for program in programs]
    repeats = max(1, int(2e-3 / max(seconds(calls[0], 1), 1e-6)))
    times = [[], []]
    for pair in range(PAIRS):
        for k in (0, 1) if pair % 2 else (1, 0):
            times[k].append(seconds(calls[k], repeats))
    if operation != "positions":
        times[1] = [t / 2 for t in times[1]]
    return times


def rows(origin, precision, case):
    n, mesh, order, threads = case
    rng = numpy.random.default_rng(1)
    real = numpy.float32 if precision == "single" else numpy.float64
    x = [rng.uniform(0, 2 * numpy.pi, n).astype(real) for _ in range(3)]
    programs = [make(x, mesh, order, threads) for make in (Minimd, Finufft)]
    for program in programs:
        program.positions()
    programs[1].plans[1].setpts(*x)
    names = [("minimd", origin["version"]), ("FINUFFT", finufft.__version__)]
    for operation in OPERATIONS:
        times = compare(programs, operation)
        for name, own in zip(names, times):
            ratio = statistics.median(a / b for a, b in zip(own, times[0]))
            what = (*name, operation, precision, n, mesh, order, threads)
            when = (origin["date"], origin["commit"], origin["machine"])
            figures = (f"{statistics.median(own):.6g}", f"{ratio:.4g}")
            yield ",".join(map(str, (*when, *what, *figures)))


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve()
    results = ROOT / "docs" / "results" / "spreading-peers-cpu.csv"
    path = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else results
    if not (build / "lib" / "libminimd.so.1").exists():
        sys.exit(f"peers: {build}/lib/libminimd.so.1 is missing: `make lib` makes it")
    enter("FINUFFT", build / "peers" / "finufft", lacking, lambda: ["finufft", "numpy"])
    os.environ["MINIMD_LIBRARY"] = str(build / "lib" / "libminimd.so.1")
    sys.path.insert(0, str(ROOT / "python"))
    global ctypes, finufft, numpy, library, structs, at
    import ctypes

    import finufft
    import numpy
    from minimd import _library as library
    from minimd import _structs as structs
    from minimd._arrays import at

    origin = origin_of(build / "minimd", "cpu")
    part = path.with_name(path.name + ".tmp")
    with open(part, "w") as out:
        for line in [COLUMNS + ",seconds,ratio"]:
            print(line, file=out)
        for precision in ("single", "double"):
            for case in CASES:
                for line in rows(origin, precision, case):
                    print(line)
                    print(line, file=out, flush=True)
    part.replace(path)


if __name__ == "__main__":
    main()

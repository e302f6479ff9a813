"""minimd's library for NumPy: orderings, cache misses, spreading onto meshes, PME, block matrices.

Arrays are NumPy's, or lie on a GPU and have `__cuda_array_interface__` (CuPy, PyTorch, Numba);
results are of the same place.  Failures are exceptions with the library's message: `minimd.Error`
and, by kind, ValueError, MemoryError, OverflowError, OSError, RuntimeError or ArithmeticError.

order(x, box, curve="hilbert")                    permutation that sorts particles along a curve
spread(x, q, box, mesh, order=6)                  charges onto a mesh
interpolate(x, mesh, box, order=6)                mesh values at particles, the adjoint of spread
pme(x, q, box, alpha, mesh, order=6)              energy, forces, virial of the mesh part of Coulomb
misses(addresses, line_bytes, capacities)         cache misses of an address trace
gspmv(rows, columns, blocks, x)                   matrix of 3 x 3 blocks times many vectors
"""

from minimd._arrays import DeviceArray, to_gpu
from minimd._library import Error, library
from minimd._mesh import Pme, interpolate, pme, spread
from minimd._misses import misses
from minimd._gspmv import gspmv
from minimd._order import order

__version__ = library().md_version().decode()
__all__ = [
    "DeviceArray",
    "Error",
    "Pme",
    "gspmv",
    "interpolate",
    "misses",
    "order",
    "pme",
    "spread",
    "to_gpu",
]

"""The library's structures and the numbers of its words (core/, ordering/, spread/, stokes/).

tests/python/check_layout.py compares all of them with the headers.
"""

from ctypes import POINTER, Structure
from ctypes import c_bool, c_double, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p

BACKENDS = {"cpu": 0, "gpu": 1}
PRECISIONS = {"single": 0, "mixed": 1, "double": 2}
METHODS = ["auto", "particle", "gather", "single", "group", "hybrid", "coloured", "tiled"]
STORAGES = {"bcrs": 0, "single": 1}


class CtxSpec(Structure):
    _fields_ = [
        ("backend", c_int),
        ("precision", c_int),
        ("threads", c_int),
        ("deterministic", c_bool),
    ]


class Buffer(Structure):
    _fields_ = [("data", c_void_p), ("bytes", c_size_t)]


class Ordering(Structure):
    _fields_ = [
        ("kind", c_int),
        ("outer", c_int),
        ("inner", c_int),
        ("tile", c_int32),
        ("seed", c_uint64),
        ("turn", c_int32 * 3),
    ]


class OrderingParticles(Structure):
    _fields_ = [
        ("lo", c_double * 3),
        ("hi", c_double * 3),
        ("cells", c_int32 * 3),
        ("n", c_int64),
        ("x", c_void_p),
        ("stride", c_int64),
    ]


class SpreadTuning(Structure):
    _fields_ = [
        ("lanes", c_int32),
        ("sorted", c_bool),
        ("stores", c_bool),
        ("compute_unit", c_int32),
        ("shared_sum", c_bool),
        ("group", c_int32),
        ("part", c_int64),
    ]


class SpreadSpec(Structure):
    _fields_ = [
        ("lo", c_double * 3),
        ("hi", c_double * 3),
        ("mesh", c_int32 * 3),
        ("order", c_int32),
        ("method", c_int),
        ("vectors", c_int32),
        ("repeats", c_int32),
        ("by_particle", c_bool),
        ("interpolates", c_bool),
        ("tuning", SpreadTuning),
    ]


class PmeSpec(Structure):
    _fields_ = [
        ("lo", c_double * 3),
        ("hi", c_double * 3),
        ("mesh", c_int32 * 3),
        ("order", c_int32),
        ("alpha", c_double),
        ("method", c_int),
    ]


class PmeTally(Structure):
    _fields_ = [
        ("reciprocal", c_double),
        ("self", c_double),
        ("background", c_double),
        ("virial", c_double),
    ]


class PmeCharges(Structure):
    _fields_ = [
        ("n", c_int64),
        ("x", c_void_p),
        ("x_stride", c_int64),
        ("q", c_void_p),
        ("q_stride", c_int64),
    ]


class StokesBlocks(Structure):
    _fields_ = [
        ("n_rows", c_int64),
        ("n_blocks", c_int64),
        ("start", POINTER(c_int64)),
        ("column", POINTER(c_int32)),
        ("block", POINTER(c_double)),
    ]


# The header's name of each, and the header.
TYPES = {
    CtxSpec: ("md_ctx_spec", "core/context.h"),
    Buffer: ("md_buffer", "core/buffer.h"),
    Ordering: ("ordering", "ordering/ordering.h"),
    OrderingParticles: ("ordering_particles", "ordering/ordering.h"),
    SpreadTuning: ("spread_tuning", "spread/spread.h"),
    SpreadSpec: ("spread_spec", "spread/spread.h"),
    PmeSpec: ("pme_spec", "spread/pme.h"),
    PmeTally: ("pme_tally", "spread/pme.h"),
    PmeCharges: ("pme_charges", "spread/pme.h"),
    StokesBlocks: ("stokes_blocks", "stokes/matrix/matrix.h"),
}

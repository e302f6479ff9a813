"""libminimd: where it is, what of it is called, what its failures become."""

import ctypes
import functools
import os
import pathlib
from ctypes import POINTER, c_char_p, c_int, c_int64, c_uint32, c_void_p

from minimd import _structs as s

SONAME = "libminimd.so.1"


class Error(Exception):
    """A failure of the library; its text is the library's message."""


class InputError(Error, ValueError):
    """An argument that cannot be."""


class OutOfMemory(Error, MemoryError):
    """Memory of the host or of the GPU."""


class FileError(Error, OSError):
    """A file."""


class CapacityError(Error, OverflowError):
    """More than an index holds."""


class DeviceError(Error, RuntimeError):
    """No GPU, no CUDA in this build, or a CUDA call that failed."""


class NumericError(Error, ArithmeticError):
    """NaN, no convergence."""


# By md_status (core/md.h).
_ERRORS = {
    1: InputError,
    2: OutOfMemory,
    3: FileError,
    4: CapacityError,
    5: DeviceError,
    6: DeviceError,
    7: NumericError,
}

# Name: what it returns, what it takes.
_FUNCTIONS = {
    "md_version": (c_char_p, []),
    "md_message": (c_char_p, []),
    "md_isa_detect": (c_int, []),
    "md_ctx_create": (c_int, [POINTER(s.CtxSpec), POINTER(c_void_p)]),
    "md_ctx_destroy": (None, [c_void_p]),
    "md_ctx_sync": (c_int, [c_void_p]),
    "md_buffer_reserve": (c_int, [c_void_p, POINTER(s.Buffer), ctypes.c_size_t, ctypes.c_size_t]),
    "md_buffer_free": (None, [c_void_p, POINTER(s.Buffer)]),
    "md_write": (c_int, [c_void_p, c_void_p, c_void_p, ctypes.c_size_t]),
    "md_read": (c_int, [c_void_p, c_void_p, c_void_p, ctypes.c_size_t]),
    "md_fill": (c_int, [c_void_p, c_void_p, c_int, ctypes.c_size_t]),
    "ordering_parse": (c_int, [c_char_p, POINTER(s.Ordering)]),
    "ordering_sorter_create": (c_int, [c_void_p, POINTER(c_void_p)]),
    "ordering_sorter_destroy": (None, [c_void_p]),
    "ordering_sort_particles": (
        c_int,
        [c_void_p, POINTER(s.Ordering), POINTER(s.OrderingParticles), c_void_p],
    ),
    "cachemodel_stack_create": (c_int, [c_int, POINTER(c_void_p)]),
    "cachemodel_stack_destroy": (None, [c_void_p]),
    "cachemodel_stack_feed": (c_int, [c_void_p, c_int64, POINTER(c_uint32)]),
    "cachemodel_stack_distinct": (c_int64, [c_void_p]),
    "cachemodel_stack_misses": (None, [c_void_p, c_int64, POINTER(c_int64)]),
    "spread_create": (c_int, [c_void_p, POINTER(s.SpreadSpec), POINTER(c_void_p)]),
    "spread_destroy": (None, [c_void_p]),
    "spread_set_positions": (c_int, [c_void_p, c_int64, c_void_p, c_int64]),
    "spread_charges": (c_int, [c_void_p, c_void_p, c_void_p]),
    "spread_interpolate": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "pme_create": (c_int, [c_void_p, POINTER(s.PmeSpec), POINTER(c_void_p)]),
    "pme_destroy": (None, [c_void_p]),
    "pme_compute": (c_int, [c_void_p, POINTER(s.PmeCharges), c_void_p, POINTER(s.PmeTally)]),
    "stokes_matrix_create": (c_int, [c_void_p, c_int, POINTER(c_void_p)]),
    "stokes_matrix_destroy": (None, [c_void_p]),
    "stokes_matrix_set": (c_int, [c_void_p, POINTER(s.StokesBlocks), c_int]),
    "stokes_matrix_multiply": (c_int, [c_void_p, c_int, c_void_p, c_void_p]),
}


def _candidates():
    """$MINIMD_LIBRARY alone; else what was installed with this package, what `make lib` of the
    checkout around it built, what the system's loader finds."""
    asked = os.environ.get("MINIMD_LIBRARY")
    if asked:
        return [asked]
    here = pathlib.Path(__file__).resolve().parent
    near = [here / SONAME, here.parent.parent / "build" / "lib" / SONAME]
    return [str(path) for path in near if path.exists()] + [SONAME]


@functools.lru_cache(maxsize=None)
def library():
    """libminimd with its functions' types declared."""
    tried = []
    for path in _candidates():
        try:
            lib = ctypes.CDLL(path)
            break
        except OSError as error:
            tried.append(str(error))
    else:
        raise ImportError(
            "libminimd was not found: " + "; ".join(tried) + "; install it (make install, or the "
            "package libminimd1), or name it in MINIMD_LIBRARY"
        )
    for name, (result, arguments) in _FUNCTIONS.items():
        if not hasattr(lib, name):
            raise ImportError(f"{path} has no {name}: it is another version of minimd")
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


def call(name, *arguments):
    """Call a function that returns md_status; a failure becomes an exception."""
    status = getattr(library(), name)(*arguments)
    if status:
        raise _ERRORS.get(status, Error)(library().md_message().decode(errors="replace"))


class Handle:
    """What NAME_create made; NAME_destroy ends it."""

    def __init__(self, name, *arguments, of=None):
        self._destroy = getattr(library(), name + "_destroy")
        self._of = of  # what must outlive it
        self.pointer = c_void_p()
        call(name + "_create", *arguments, ctypes.byref(self.pointer))

    def __del__(self):
        if getattr(self, "pointer", None):
            self._destroy(self.pointer)
            self.pointer = None

"""Arguments become arrays of a known type on one backend, and results arrays where arguments were.

On the host: anything that NumPy makes an array of.  Whole numbers become float64; what is not
contiguous or of the other byte order is copied; other types are refused.  On the GPU nothing is
copied: `__cuda_array_interface__` must describe a contiguous array of the type that is needed.
"""

import ctypes
import math

import numpy

from minimd import _structs as s
from minimd._library import DeviceError, Handle, InputError, call, library

FLOATS = (numpy.dtype(numpy.float32), numpy.dtype(numpy.float64))


class Context(Handle):
    """Backend and precision of one call."""

    def __init__(self, backend, precision):
        spec = s.CtxSpec(s.BACKENDS[backend], s.PRECISIONS[precision], 0, False)
        super().__init__("md_ctx", ctypes.byref(spec))
        self.gpu = backend == "gpu"


class DeviceArray:
    """An array in GPU memory that the library allocated.  `get()` copies it to the host; CuPy
    (cupy.asarray), PyTorch (torch.as_tensor) and Numba use it where it is."""

    def __init__(self, context, shape, dtype, zero=False):
        self.shape, self.dtype = tuple(shape), numpy.dtype(dtype)
        self.strides = None
        self._context, self._owner, self._buffer = context, None, s.Buffer()
        self.nbytes = math.prod(self.shape) * self.dtype.itemsize
        call(
            "md_buffer_reserve", context.pointer, ctypes.byref(self._buffer), max(self.nbytes, 4), 0
        )
        self.pointer = self._buffer.data
        if zero:
            call("md_fill", context.pointer, self.pointer, 0, self.nbytes)

    def columns(self, n):
        """The first n columns of a matrix, in the same memory."""
        view = object.__new__(DeviceArray)
        view.shape, view.dtype = (self.shape[0], n), self.dtype
        view.strides = (self.shape[1] * self.dtype.itemsize, self.dtype.itemsize)
        view._context, view._owner, view._buffer = self._context, self, None
        view.nbytes, view.pointer = self.nbytes, self.pointer
        return view

    @property
    def __cuda_array_interface__(self):
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.pointer if math.prod(self.shape) else 0, False),
            "strides": self.strides,
            "version": 3,
        }

    def get(self):
        """A NumPy array of the same values."""
        source = self._owner or self
        host = numpy.empty(source.shape, self.dtype)
        call("md_read", self._context.pointer, host.ctypes.data, self.pointer, host.nbytes)
        return numpy.ascontiguousarray(host[:, : self.shape[1]]) if self._owner else host

    def __del__(self):
        if getattr(self, "_buffer", None) is not None:
            library().md_buffer_free(self._context.pointer, ctypes.byref(self._buffer))


def to_gpu(array):
    """A copy of a NumPy array of float32 or float64 on the GPU, to compute there from the start."""
    given = Given("array", array)
    return _copied(Context("gpu", "double"), given)


def _copied(context, given):
    copy, source = DeviceArray(context, given.shape, given.dtype), given.array
    call("md_write", context.pointer, copy.pointer, source.ctypes.data, source.nbytes)
    return copy


class Given:
    """An argument: a NumPy array, or one on the GPU of which shape, dtype and pointer are known."""

    def __init__(self, name, value, kinds=FLOATS):
        self.name, self.owner = name, value
        self.on_gpu = hasattr(value, "__cuda_array_interface__")
        if self.on_gpu:
            self._from_gpu(value.__cuda_array_interface__, kinds)
        else:
            self._from_host(value, kinds)
        self.shape = tuple(self.shape)

    def _from_host(self, value, kinds):
        array = numpy.asarray(value)
        dtype = array.dtype.newbyteorder("=")
        if dtype.kind in "iub" and dtype not in kinds:
            dtype = kinds[-1]
        if dtype not in kinds:
            raise InputError(f"{self.name}: expected numbers of {_words(kinds)}, not {array.dtype}")
        self.array = numpy.ascontiguousarray(array, dtype=dtype)
        self.shape, self.dtype = array.shape, dtype

    def _from_gpu(self, interface, kinds):
        self.shape, self.dtype = interface["shape"], numpy.dtype(interface["typestr"])
        self.pointer = interface["data"][0]
        if self.dtype not in kinds:
            raise InputError(f"{self.name}: expected {_words(kinds)} on the GPU, not {self.dtype}")
        step = self.dtype.itemsize
        for length, stride in reversed(list(zip(self.shape, interface.get("strides") or ()))):
            if length > 1 and stride != step:
                raise InputError(
                    f"{self.name}: expected a contiguous array on the GPU, make a copy"
                )
            step *= length

    def convert(self, dtype):
        """Another type, on the host."""
        if self.dtype != dtype:
            if self.on_gpu:
                raise InputError(
                    f"{self.name}: expected {numpy.dtype(dtype)} here, not {self.dtype}"
                )
            self.array, self.dtype = self.array.astype(dtype), numpy.dtype(dtype)

    def expect(self, fits, words):
        if not fits:
            raise InputError(f"{self.name}: expected shape {words}, not {self.shape}")


def _words(kinds):
    return " or ".join(str(kind) for kind in kinds)


def precision_of(x, real):
    """Single, mixed or double by the types of positions and of charges or mesh; positions in
    float32 beside these in float64 become float64."""
    if real.dtype == numpy.float64:
        x.convert(numpy.float64)
        return "double"
    return "single" if x.dtype == numpy.float32 else "mixed"


class Work:
    """One call's context, its arguments on the backend, its results."""

    def __init__(self, backend, precision, *given):
        self.on_gpu = any(array.on_gpu for array in given)
        for array in given:
            if array.on_gpu != self.on_gpu:
                raise InputError(
                    f"{array.name}: expected all arrays on the GPU, or all on the host"
                )
        if backend not in ("auto", *s.BACKENDS):
            raise InputError(f"backend: expected auto, cpu or gpu, not {backend!r}")
        if self.on_gpu and backend == "cpu":
            raise InputError(f"{given[0].name}: lies on the GPU, which backend='cpu' cannot read")
        where = "gpu" if self.on_gpu else "cpu" if backend == "auto" else backend
        self.context = Context(where, precision)
        self._kept = []
        if self.on_gpu:
            _wait(given)

    def give(self, array):
        """The pointer of an argument on the backend; valid as long as this object."""
        if array.on_gpu:
            return array.pointer
        if not self.context.gpu:
            self._kept.append(array.array)
            return array.array.ctypes.data
        self._kept.append(_copied(self.context, array))
        return self._kept[-1].pointer

    def make(self, shape, dtype, zero=False):
        """A result, to be filled through `at`."""
        if self.context.gpu:
            return DeviceArray(self.context, shape, dtype, zero)
        return (numpy.zeros if zero else numpy.empty)(shape, dtype)

    def finish(self, *results):
        """Results when all work is done, where the arguments were."""
        call("md_ctx_sync", self.context.pointer)
        if self.context.gpu and not self.on_gpu:
            results = tuple(result.get() for result in results)
        return results[0] if len(results) == 1 else results


def at(result):
    """The pointer of a result."""
    return result.pointer if isinstance(result, DeviceArray) else result.ctypes.data


def _wait(given):
    """Until whoever wrote these arrays on the GPU is done; they must lie on the GPU in use."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise DeviceError(f"CUDA's driver: {error}") from None
    for array in given:
        ordinal = ctypes.c_int(0)
        pointer = ctypes.c_uint64(array.pointer or 0)
        status = array.pointer and driver.cuPointerGetAttribute(ctypes.byref(ordinal), 9, pointer)
        if status or ordinal.value:
            raise InputError(
                f"{array.name}: expected memory of GPU 0; CUDA_VISIBLE_DEVICES picks it"
            )
    if driver.cuCtxSynchronize():
        raise DeviceError("an earlier call on the GPU failed")


def box_of(box):
    """Lower and upper corner: of one edge, three edges, or both corners [2, 3]."""
    edges = numpy.asarray(box, dtype=numpy.float64)
    if edges.shape == (2, 3):
        lo, hi = edges
    elif edges.shape in ((), (3,)):
        lo, hi = numpy.zeros(3), numpy.broadcast_to(edges, (3,))
    else:
        raise InputError(
            f"box: expected one edge, three edges or corners [2, 3], not {edges.shape}"
        )
    return (ctypes.c_double * 3)(*lo), (ctypes.c_double * 3)(*hi)


def whole(name, value, least=0):
    """A whole number that a 32-bit one holds."""
    number = numpy.asarray(value)
    if number.dtype.kind not in "iu" or number.shape or not least <= number < 2**31:
        raise InputError(f"{name}: expected a whole number, {least} or more, not {value!r}")
    return int(number)


def sizes_of(name, value):
    """Three whole numbers, or one for all."""
    numbers = numpy.asarray(value)
    if numbers.dtype.kind not in "iu" or numbers.shape not in ((), (3,)):
        raise InputError(f"{name}: expected a whole number or three, not {value!r}")
    if (numbers < 0).any() or (numbers > 2**31 - 1).any():
        raise InputError(f"{name}: expected numbers in 0..2147483647, not {value!r}")
    return [int(n) for n in numpy.broadcast_to(numbers, (3,))]


def positions(x):
    """Coordinates [n, 3]."""
    given = Given("x", x)
    given.expect(len(given.shape) == 2 and given.shape[1] == 3, "(n, 3)")
    return given

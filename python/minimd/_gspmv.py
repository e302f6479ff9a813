"""A matrix of 3 x 3 blocks times many vectors."""

import ctypes

import numpy

from minimd import _structs as s
from minimd._arrays import FLOATS, Given, Work, at
from minimd._library import Handle, InputError, call


def _whole(name, values):
    array = numpy.asarray(values)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise InputError(f"{name}: expected whole numbers [n], not {array.dtype} {array.shape}")
    return array.astype(numpy.int64)


def _rows_of_blocks(rows, n_rows, n_blocks):
    """Rows of the blocks one by one, also from where each row starts."""
    if (
        rows.size == n_rows + 1
        and rows[0] == 0
        and rows[-1] == n_blocks
        and (numpy.diff(rows) >= 0).all()
    ):
        return numpy.repeat(numpy.arange(n_rows), numpy.diff(rows))
    if rows.size != n_blocks:
        raise InputError(
            f"rows: expected {n_blocks} rows of blocks or {n_rows + 1} starts, not {rows.size}"
        )
    return rows


def _sorted_blocks(rows, columns, blocks, n_rows):
    """Blocks by row and column, those of one place added up: starts, columns, blocks."""
    for name, place in (("rows", rows), ("columns", columns)):
        if place.size and not (0 <= place.min() and place.max() < n_rows):
            raise InputError(
                f"{name}: expected numbers in 0..{n_rows - 1}, found "
                f"{place.min()}..{place.max()}"
            )
    sort = numpy.lexsort((columns, rows))
    rows, columns, blocks = rows[sort], columns[sort], blocks[sort]
    new = numpy.ones(rows.size, dtype=bool)
    new[1:] = (numpy.diff(rows) != 0) | (numpy.diff(columns) != 0)
    if not new.all():
        blocks = numpy.add.reduceat(blocks, numpy.flatnonzero(new))
        rows, columns = rows[new], columns[new]
    start = numpy.concatenate(([0], numpy.cumsum(numpy.bincount(rows, minlength=n_rows))))
    return start.astype(numpy.int64), columns.astype(numpy.int32), numpy.ascontiguousarray(blocks)


def gspmv(rows, columns, blocks, x, backend="auto"):
    """y = A x of a square matrix A of 3 x 3 blocks, x [n, m] or [n], n = 3 rows of blocks.

    blocks [b, 3, 3] or [b, 9] (row-major) with the row and column of each, rows [b], columns [b],
    in any order, those of one place add up; rows may also be where each row's blocks start,
    [n / 3 + 1], as scipy.sparse.bsr_matrix has them in indptr.  float32 blocks are stored so,
    arithmetic is in float64.  The matrix lies on the host; x there or on the GPU (float64).
    """
    x, blocks = Given("x", x), Given("blocks", blocks)
    if blocks.on_gpu:
        raise InputError("blocks: expected an array on the host")
    x.convert(numpy.float64)
    x.expect(
        len(x.shape) in (1, 2) and x.shape[0] % 3 == 0 and x.shape[0] > 0,
        "(3 rows, m) or (3 rows,)",
    )
    n_blocks, n_rows = blocks.shape[0] if blocks.shape else 0, x.shape[0] // 3
    blocks.expect(blocks.shape[1:] in ((3, 3), (9,)), "(b, 3, 3) or (b, 9)")
    columns = _whole("columns", columns)
    if columns.size != n_blocks:
        raise InputError(f"columns: expected {n_blocks}, one for each block, not {columns.size}")
    rows = _rows_of_blocks(_whole("rows", rows), n_rows, n_blocks)
    values = blocks.array.reshape(n_blocks, 9).astype(numpy.float64)
    start, column, values = _sorted_blocks(rows, columns, values, n_rows)
    work, vectors = Work(backend, "double", x), x.shape[1] if len(x.shape) == 2 else 1
    host = s.StokesBlocks(
        n_rows,
        column.size,
        start.ctypes.data_as(ctypes.POINTER(ctypes.c_int64)),
        column.ctypes.data_as(ctypes.POINTER(ctypes.c_int32)),
        values.ctypes.data_as(ctypes.POINTER(ctypes.c_double)),
    )
    storage = s.STORAGES["single" if blocks.dtype == FLOATS[0] else "bcrs"]
    matrix = Handle("stokes_matrix", work.context.pointer, storage, of=work.context)
    call("stokes_matrix_set", matrix.pointer, ctypes.byref(host), vectors)
    y = work.make(x.shape, numpy.float64)
    call("stokes_matrix_multiply", matrix.pointer, vectors, work.give(x), at(y))
    return work.finish(y)

"""tests/python/reference.py - slow, plain NumPy twins of what the library computes."""

import itertools
import math

import numpy as np


def cells_of(x, lo, hi, cells):
    """The cell of each particle along each axis, positions wrapped."""
    inside = np.mod((x - lo) / (hi - lo), 1.0)
    return np.minimum((inside * cells).astype(int), np.array(cells) - 1)


def row_key(cell, cells):
    return (cell[:, 0] * cells[1] + cell[:, 1]) * cells[2] + cell[:, 2]


def column_key(cell, cells):
    return (cell[:, 2] * cells[1] + cell[:, 1]) * cells[0] + cell[:, 0]


def morton_key(cell, cells):
    """k in the lowest bit."""
    key = np.zeros(len(cell), dtype=int)
    for bit in range(20):
        for axis in range(3):
            key |= ((cell[:, axis] >> bit) & 1) << (3 * bit + 2 - axis)
    return key


def bspline(p, t):
    """M_p(t) by its recursion, for one number."""
    if p == 2:
        return max(0.0, 1 - abs(t - 1))
    return (t * bspline(p - 1, t) + (p - t) * bspline(p - 1, t - 1)) / (p - 1)


def weights(x, lo, hi, points, p):
    """w[particle, point] along one axis: floor(u) + j receives M_p(u - floor(u) + p - 1 - j)."""
    w = np.zeros((len(x), points))
    for i, u in enumerate((x - lo) / (hi - lo) * points):
        below = math.floor(u)
        for j in range(p):
            w[i, (below + j) % points] += bspline(p, u - below + p - 1 - j)
    return w


def matrix(x, lo, hi, mesh, p):
    """S transposed: what each particle gives each mesh point, dense."""
    w = [weights(x[:, a], lo[a], hi[a], mesh[a], p) for a in range(3)]
    return np.einsum("ni,nj,nk->nijk", *w)


def ewald(x, q, edges, alpha, reach):
    """Energy and forces of Ewald's sum without its pairs in real space, mode by mode."""
    volume = np.prod(edges)
    energy = -alpha / math.sqrt(math.pi) * np.sum(q * q)
    energy -= math.pi / (2 * volume * alpha**2) * np.sum(q) ** 2
    forces = np.zeros_like(x)
    for mode in itertools.product(range(-reach, reach + 1), repeat=3):
        if mode == (0, 0, 0):
            continue
        m = np.array(mode) / edges
        weight = math.exp(-((math.pi / alpha) ** 2) * (m @ m)) / (m @ m) / (2 * math.pi * volume)
        phase = np.exp(2j * math.pi * (x @ m))
        total = np.sum(q * phase)
        energy += weight * abs(total) ** 2
        forces += np.outer(q * weight * 2 * np.imag(np.conj(total) * phase), 2 * math.pi * m)
    return energy, forces


def lru_misses(lines, capacity):
    """A list of lines, the most recent last."""
    cache, missed = [], 0
    for line in lines:
        if line in cache:
            cache.remove(line)
        else:
            missed += 1
            if len(cache) == capacity:
                cache.pop(0)
        cache.append(line)
    return missed


def dense(rows, columns, blocks, n_rows):
    """The whole matrix."""
    full = np.zeros((3 * n_rows, 3 * n_rows))
    for row, column, block in zip(rows, columns, blocks):
        full[3 * row : 3 * row + 3, 3 * column : 3 * column + 3] += np.reshape(block, (3, 3))
    return full

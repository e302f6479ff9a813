"""tests/python/check_minimd.py [PROGRAM] - each function of the Python package against NumPy.

PROGRAM is minimd, whose tables of orderings are compared with.  MINIMD_TEST_BACKEND=gpu sends arrays
of the host to the GPU.
"""

import subprocess
import sys
import threading
import unittest

import numpy as np

import minimd
import reference as ref
from cases import BACKEND, Case

PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else None


class Order(Case):
    lo, hi = np.array([-1.0, 0, 2]), np.array([3.0, 2, 10])

    def points(self, n):
        return self.lo + (self.hi - self.lo) * (3 * self.random.random((n, 3)) - 1)

    def order(self, x, curve, cells, box=None):
        got = minimd.order(x, (self.lo, self.hi) if box is None else box, curve, cells, BACKEND)
        self.assertEqual(got.dtype, np.int64)
        return got

    def test_keys(self):
        x = self.points(2000)
        for name, key in (
            ("row", ref.row_key),
            ("column", ref.column_key),
            ("morton", ref.morton_key),
        ):
            for cells in ((8, 8, 8), (16, 16, 16)):
                cell = ref.cells_of(x, self.lo, self.hi, cells)
                expected = np.argsort(key(cell, cells), kind="stable")
                np.testing.assert_array_equal(self.order(x, name, cells), expected)

    def test_chosen_cells(self):
        x = self.points(4096)  # cells of cube root of 64 / 4096: 16 x 8 x 32
        cell = ref.cells_of(x, self.lo, self.hi, (16, 8, 32))
        expected = np.argsort(ref.row_key(cell, (16, 8, 32)), kind="stable")
        np.testing.assert_array_equal(self.order(x, "row", None), expected)

    def test_none_is_creation_order(self):
        np.testing.assert_array_equal(self.order(self.points(50), "none", 4), np.arange(50))

    def test_curves_of_the_program(self):
        if not PROGRAM:
            self.skipTest("no program")
        cells = (6, 8, 10)
        x = self.points(1000)
        cell = ref.cells_of(x, self.lo, self.hi, cells)
        for curve in ("hilbert", "morton:kji", "gilbert", "random:5", "hybrid:hilbert/row:2"):
            rows = subprocess.run(
                [PROGRAM, "ordering", "--order", curve, "--size", "6,8,10", "--format", "csv"],
                check=True,
                stdout=subprocess.PIPE,
                text=True,
            ).stdout.split()[1:]
            index = {
                tuple(map(int, row.split(",")[-4:-1])): int(row.split(",")[-1]) for row in rows
            }
            key = [index[tuple(c)] for c in cell]
            expected = np.argsort(key, kind="stable")
            np.testing.assert_array_equal(self.order(x, curve, cells), expected)

    def test_hilbert_steps_to_neighbours(self):
        grid = np.stack(np.meshgrid(*[np.arange(8)] * 3, indexing="ij"), -1).reshape(-1, 3)
        grid = grid[self.random.permutation(512)]
        sort = self.order(grid + 0.5, "hilbert", 8, box=8)
        np.testing.assert_array_equal(np.abs(np.diff(grid[sort], axis=0)).sum(1), 1)

    def test_single_and_lists(self):
        x = self.points(300).astype(np.float32)
        cell = ref.cells_of(x.astype(float), self.lo, self.hi, (4, 4, 4))
        edge = (
            np.abs((x.astype(float) - self.lo) / (self.hi - self.lo) * 4 % 1 - 0.5).max(1) < 0.499
        )
        expected = np.argsort(ref.row_key(cell, (4, 4, 4))[edge], kind="stable")
        np.testing.assert_array_equal(self.order(x[edge], "row", 4), expected)
        self.assertEqual(list(minimd.order([[2, 0, 0], [1, 0, 0]], 3, "row", 3, BACKEND)), [1, 0])
        self.assertEqual(len(self.order(np.zeros((0, 3)), "hilbert", None)), 0)

    def test_errors(self):
        x = np.zeros((4, 3))
        self.refused(ValueError, "did you mean 'hilbert'|hilbert", minimd.order, x, 1, "hilbrt")
        self.refused(
            ValueError, r"x: expected shape \(n, 3\), not \(4,\)", minimd.order, x[:, 0], 1
        )
        self.refused(ValueError, "complex128", minimd.order, x + 1j, 1)
        self.refused(ValueError, "box: expected", minimd.order, x, [1, 2])
        self.refused(ValueError, "the box goes from 0 to -1", minimd.order, x, -1)
        self.refused(ValueError, "cells: expected", minimd.order, x, 1, cells=2.5)
        self.refused(OverflowError, "2000 x 2000 x 2000", minimd.order, x, 1, cells=2000)
        x[2, 1] = np.nan
        self.refused(ValueError, "particle 2 is not a number", minimd.order, x, 1)
        self.refused(
            ValueError, "backend: expected auto, cpu or gpu", minimd.order, x, 1, backend="tpu"
        )


class Mesh(Case):
    lo, hi, mesh = np.array([0.5, -1, 0]), np.array([4.0, 2, 2.5]), (7, 9, 12)
    box = (lo, hi)

    def particles(self, n, vectors, x_type, q_type):
        x = self.lo + (self.hi - self.lo) * (3 * self.random.random((n, 3)) - 1)
        q = self.random.normal(size=n if vectors is None else (vectors, n))
        return x.astype(x_type), q.astype(q_type)

    def cases(self):
        for x_type, q_type in ((np.float32,) * 2, (np.float64, np.float32), (np.float64,) * 2):
            for order, vectors in ((2, None), (3, 1), (5, 3), (6, None), (7, 2)):
                yield order, vectors, x_type, q_type

    def test_spread_and_interpolate(self):
        for order, vectors, x_type, q_type in self.cases():
            x, q = self.particles(60, vectors, x_type, q_type)
            s = ref.matrix(x.astype(float), self.lo, self.hi, self.mesh, order)
            tolerance = 1e-12 if q_type == np.float64 else 2e-5
            mesh = minimd.spread(x, q, self.box, self.mesh, order, BACKEND)
            self.assertEqual(mesh.dtype, q_type)
            self.near(mesh, np.einsum("nijk,...n->...ijk", s, q.astype(float)), tolerance)
            value = minimd.interpolate(x, mesh, self.box, order, BACKEND)
            self.near(value, np.einsum("nijk,...ijk->...n", s, mesh.astype(float)), tolerance)

    def test_methods(self):
        x, q = self.particles(80, 2, np.float64, np.float64)
        s = ref.matrix(x, self.lo, self.hi, self.mesh, 4)
        methods = ["particle", "single", "tiled", "coloured" if BACKEND == "cpu" else "group"]
        for method in methods:
            mesh = minimd.spread(x, q, self.box, self.mesh, 4, BACKEND, method=method)
            self.near(mesh, np.einsum("nijk,vn->vijk", s, q), 1e-12)

    def test_gradient(self):
        x, _ = self.particles(40, None, np.float64, np.float64)
        for shape in (self.mesh, (2, *self.mesh)):
            mesh = self.random.normal(size=shape)
            value, slope = minimd.interpolate(x, mesh, self.box, 5, BACKEND, gradient=True)
            expected = np.empty(value.shape + (3,))
            for a in range(3):
                step = 1e-5 * np.eye(3)[a]
                both = [
                    ref.matrix(x + sign * step, self.lo, self.hi, self.mesh, 5) for sign in (1, -1)
                ]
                expected[..., a] = np.einsum("nijk,...ijk->...n", both[0] - both[1], mesh) / 2e-5
            self.near(slope, expected, 1e-7)

    def test_what_is_copied(self):
        x, q = self.particles(50, 2, np.float64, np.float64)
        plain = minimd.spread(x, q, self.box, self.mesh, 4, BACKEND)
        wide = np.zeros((100, 6))
        wide[::2, ::2] = x
        for x_like, q_like in (
            (wide[::2, ::2], q),
            (np.asfortranarray(x), np.asfortranarray(q)),
            (x.astype(">f8"), q.astype(">f8")),
            (x.tolist(), q.tolist()),
        ):
            self.near(minimd.spread(x_like, q_like, self.box, self.mesh, 4, BACKEND), plain, 1e-15)
        ones = minimd.spread(x, np.ones(50, dtype=np.int8), self.box, self.mesh, 4, BACKEND)
        self.assertAlmostEqual(ones.sum(), 50, places=10)
        mixed = minimd.spread(x.astype(np.float32), q, self.box, self.mesh, 4, BACKEND)
        self.assertEqual(mixed.dtype, np.float64)
        self.assertEqual(minimd.spread(np.zeros((0, 3)), [], 1, 8, 4, BACKEND).sum(), 0)

    def test_errors(self):
        x, q = self.particles(5, None, np.float64, np.float64)
        spread, values = minimd.spread, minimd.interpolate
        self.refused(
            ValueError, r"q: expected shape \(5,\) or \(V, 5\), not \(4,\)", spread, x, q[:4], 1, 8
        )
        self.refused(ValueError, "mesh", spread, x, q, 1, (8, 8))
        self.refused(ValueError, "order", spread, x, q, 1, 8, 11)
        self.refused(ValueError, "method: expected auto", spread, x, q, 1, 8, 4, method="fast")
        self.refused(ValueError, r"mesh: expected shape \(K1, K2, K3\)", values, x, q, 1)
        self.refused(OverflowError, "points", spread, x, q, 1, 2000)
        self.refused(ValueError, "float16", spread, x, q.astype(np.float16), 1, 8)
        self.refused(ValueError, "order: expected a whole", spread, x, q, 1, 8, 2**32 + 4)
        self.refused(ValueError, "order: expected a whole", spread, x, q, 1, 8, 4.0)
        x[3, 0] = np.inf
        self.refused(ValueError, "particle 3", spread, x, q, 1, 8)

    def test_threads_share_nothing(self):
        x, q = self.particles(200, None, np.float64, np.float64)
        expected, results = minimd.spread(x, q, self.box, self.mesh, 4, BACKEND), []
        workers = [
            threading.Thread(
                target=lambda: results.append(minimd.spread(x, q, self.box, self.mesh, 4, BACKEND))
            )
            for _ in range(4)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        for result in results:
            self.near(result, expected, 1e-13)
        self.assertEqual(len(results), 4)


class Pme(Case):
    edges = np.array([2.0, 2.5, 3])

    def test_ewald(self):
        for net in (0, 1.5):
            x = self.edges * (3 * self.random.random((20, 3)) - 1)
            q = self.random.normal(size=20)
            q += net / 20 - q.mean()
            energy, forces = ref.ewald(x, q, self.edges, 2.0, 8)
            got = minimd.pme(x, q, self.edges, 2.0, (36, 40, 48), 10, BACKEND)
            self.assertAlmostEqual(got.energy, energy, delta=1e-8 * abs(energy))
            self.near(got.forces, forces, 1e-7)
            scaled = [ref.ewald(x * f, q, self.edges * f, 2.0, 8)[0] for f in (1 + 1e-4, 1 - 1e-4)]
            virial = -(scaled[0] - scaled[1]) / 2e-4
            self.assertAlmostEqual(got.virial, virial, delta=1e-6 * abs(energy))
            parts = got.reciprocal + got.self_energy + got.background
            self.assertEqual(got.energy, parts)
            self.assertAlmostEqual(got.self_energy, -2 / np.sqrt(np.pi) * np.sum(q * q), places=10)
            e, f, v = got
            self.assertEqual((e, v), (got.energy, got.virial))

    def test_single(self):
        x, q = self.edges * self.random.random((20, 3)), self.random.normal(size=20)
        energy, forces = ref.ewald(x, q, self.edges, 2.0, 8)
        got = minimd.pme(
            x.astype(np.float32), q.astype(np.float32), self.edges, 2.0, 36, 8, BACKEND
        )
        self.assertEqual(got.forces.dtype, np.float32)
        self.assertAlmostEqual(got.energy, energy, delta=1e-4 * abs(energy))
        self.near(got.forces, forces, 1e-4)

    def test_errors(self):
        x, q = np.zeros((2, 3)), np.ones(2)
        self.refused(ValueError, "alpha", minimd.pme, x, q, 1, 0.0, 16)
        self.refused(ValueError, "order", minimd.pme, x, q, 1, 1.0, 16, 2)
        self.refused(
            ValueError, r"q: expected shape \(2,\)", minimd.pme, x, np.ones((1, 2)), 1, 1.0, 16
        )


class Misses(Case):
    def test_lru(self):
        for addresses in (
            self.random.integers(0, 3000, 700),
            np.tile(np.arange(0, 640, 8), 4),
            np.array([2**64 - 1, 0, 2**63, 0, 2**64 - 1], dtype=np.uint64),
        ):
            for line_bytes in (1, 32, 48):
                lines = [int(a) // line_bytes for a in addresses]
                got = minimd.misses(addresses, line_bytes)
                self.assertEqual(len(got), len(set(lines)))
                for capacity in {1, 2, 3, len(got) // 2 + 1, len(got)}:
                    if capacity <= len(got):
                        self.assertEqual(got[capacity - 1], ref.lru_misses(lines, capacity))
                some = minimd.misses(addresses, line_bytes, [[1, 2], [10**6, 3]])
                self.assertEqual(some.tolist()[0], [got[0], got[min(1, len(got) - 1)]])
                self.assertEqual(some[1, 0], len(got))
                self.assertEqual(minimd.misses(addresses, line_bytes, 1), got[0])

    def test_empty(self):
        self.assertEqual(minimd.misses([]).shape, (0,))
        self.assertEqual(minimd.misses([], 64, [1, 5]).tolist(), [0, 0])

    def test_errors(self):
        self.refused(ValueError, ">= 0, not -8", minimd.misses, [8, -8])
        self.refused(ValueError, "float64", minimd.misses, [1.5])
        self.refused(ValueError, "line_bytes", minimd.misses, [1], 0)
        self.refused(ValueError, "capacities", minimd.misses, [1], 64, [0])
        self.refused(ValueError, "capacities", minimd.misses, [1], 64, "some")


class Gspmv(Case):
    def blocks(self, n_rows, n_blocks):
        rows = self.random.integers(0, n_rows, n_blocks)
        return (
            rows,
            self.random.integers(0, n_rows, n_blocks),
            self.random.normal(size=(n_blocks, 3, 3)),
        )

    def test_dense(self):
        for n_rows, n_blocks in ((1, 1), (7, 0), (12, 60), (40, 41), (50, 400)):
            rows, columns, blocks = self.blocks(n_rows, n_blocks)
            full = ref.dense(rows, columns, blocks, n_rows)
            for m in (None, 1, 4, 9, 33):
                x = self.random.normal(size=3 * n_rows if m is None else (3 * n_rows, m))
                self.near(minimd.gspmv(rows, columns, blocks, x, BACKEND), full @ x, 1e-13)
            flat = minimd.gspmv(rows.tolist(), columns.tolist(), blocks.reshape(-1, 9), x, BACKEND)
            self.near(flat, full @ x, 1e-13)
            narrow = minimd.gspmv(rows, columns, blocks.astype(np.float32), x, BACKEND)
            self.near(narrow, full @ x, 3e-7)

    def test_starts_of_rows(self):
        rows, columns, blocks = self.blocks(20, 21)  # as many blocks as starts
        sort = np.argsort(rows, kind="stable")
        start = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=20))))
        x = self.random.normal(size=(60, 5))
        got = minimd.gspmv(start, columns[sort], blocks[sort], x, BACKEND)
        self.near(got, ref.dense(rows, columns, blocks, 20) @ x, 1e-13)

    def test_errors(self):
        rows, columns, blocks = self.blocks(4, 6)
        x = np.ones((12, 2))
        self.refused(ValueError, "rows, m", minimd.gspmv, rows, columns, blocks, np.ones((11, 2)))
        self.refused(
            ValueError,
            r"columns: expected numbers in 0\.\.3",
            minimd.gspmv,
            rows,
            columns + 4,
            blocks,
            x,
        )
        self.refused(
            ValueError, "rows: expected 6 rows", minimd.gspmv, rows[:5], columns, blocks, x
        )
        self.refused(ValueError, "columns: expected 6", minimd.gspmv, rows, columns[:5], blocks, x)
        self.refused(
            ValueError, "rows: expected whole", minimd.gspmv, rows + 0.5, columns, blocks, x
        )
        self.refused(
            ValueError, "blocks: expected shape", minimd.gspmv, rows, columns, blocks[:, 0], x
        )
        self.refused(ValueError, "1 to", minimd.gspmv, rows, columns, blocks, np.ones((12, 0)))


if __name__ == "__main__":
    unittest.main()

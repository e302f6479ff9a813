"""tests/python/check_device.py - arrays on a GPU: what is refused without one, and results there
with one (MINIMD_TEST_BACKEND=gpu)."""

import unittest

import numpy as np

import minimd
from cases import BACKEND, Case


class There:
    """What CuPy or PyTorch show of an array on the GPU; nothing lies at its address."""

    def __init__(self, shape, typestr="<f8", strides=None):
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": typestr,
            "data": (4096, False),
            "strides": strides,
            "version": 3,
        }


class Interface(Case):
    """Refused before the GPU is asked for anything."""

    def test_refused(self):
        good = There((4, 3))
        for strides in ((48, 8), (8, 32)):
            bad = There((4, 3), strides=strides)
            self.refused(ValueError, "x: expected a contiguous array", minimd.order, bad, 1)
        self.refused(ValueError, "on the GPU, not float16", minimd.order, There((4, 3), "<f2"), 1)
        self.refused(ValueError, "on the GPU, not >f8", minimd.order, There((4, 3), ">f8"), 1)
        self.refused(ValueError, r"not \(3, 4\)", minimd.order, There((3, 4)), 1)
        self.refused(ValueError, "lies on the GPU", minimd.order, good, 1, backend="cpu")
        self.refused(ValueError, "q: expected all arrays", minimd.spread, good, np.ones(4), 1, 8)
        narrow = There((4, 3), "<f4")
        self.refused(ValueError, "x: expected float64", minimd.pme, narrow, There((4,)), 1, 1.0, 16)
        blocks = There((1, 3, 3))
        self.refused(ValueError, "blocks: .* host", minimd.gspmv, [0], [0], blocks, np.ones(3))

    def test_without_a_gpu(self):
        if BACKEND == "gpu":
            self.skipTest("there is one")
        self.refused(RuntimeError, "CUDA", minimd.order, There((4, 3), strides=(24, 8)), 1)
        self.refused(RuntimeError, "CUDA", minimd.to_gpu, np.ones(3))


class OnGpu(Case):
    """Arrays that lie on the GPU: those of the library stand for CuPy's and PyTorch's."""

    def setUp(self):
        super().setUp()
        if BACKEND != "gpu":
            self.skipTest("MINIMD_TEST_BACKEND is not gpu")

    def test_results_stay_there(self):
        for dtype in (np.float32, np.float64):
            x, q = self.random.random((100, 3)).astype(dtype), self.random.normal(size=100).astype(
                dtype
            )
            there = minimd.to_gpu(x), minimd.to_gpu(q)
            mesh = minimd.spread(*there, 1, 16, 5)
            self.assertIsInstance(mesh, minimd.DeviceArray)
            tolerance = 1e-12 if dtype == np.float64 else 2e-5
            self.near(mesh, minimd.spread(x, q, 1, 16, 5, "cpu"), tolerance)
            value, slope = minimd.interpolate(there[0], mesh, 1, 5, gradient=True)
            both = minimd.interpolate(x, mesh.get(), 1, 5, "cpu", gradient=True)
            self.near(value, both[0], tolerance)
            self.near(slope, both[1], tolerance)
            got, expected = minimd.pme(*there, 1, 4.0, 24), minimd.pme(
                x, q, 1, 4.0, 24, backend="cpu"
            )
            self.near(got.forces, expected.forces, 10 * tolerance)
            self.assertAlmostEqual(
                got.energy, expected.energy, delta=10 * tolerance * abs(got.energy)
            )
            np.testing.assert_array_equal(
                minimd.order(there[0], 1, cells=8).get(), minimd.order(x, 1, cells=8, backend="cpu")
            )
        y = minimd.gspmv([0], [0], np.eye(3)[None] * 2, minimd.to_gpu(np.ones((3, 4))))
        self.near(y, np.full((3, 4), 2.0), 1e-15)

    def test_refused(self):
        x = minimd.to_gpu(np.zeros((4, 3)))
        self.refused(ValueError, "all arrays on the GPU", minimd.spread, x, np.ones(4), 1, 8)
        self.refused(ValueError, "lies on the GPU", minimd.order, x, 1, backend="cpu")
        self.refused(
            ValueError, "make a copy", minimd.order, minimd.to_gpu(np.zeros((4, 5))).columns(3), 1
        )


if __name__ == "__main__":
    unittest.main()

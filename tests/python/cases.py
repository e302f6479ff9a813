"""tests/python/cases.py - what test cases of the Python package share."""

import os
import unittest

import numpy as np

import minimd

BACKEND = os.environ.get("MINIMD_TEST_BACKEND", "cpu")


def host(value):
    return value.get() if isinstance(value, minimd.DeviceArray) else value


class Case(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(11)

    def near(self, got, expected, tolerance):
        got = host(got)
        self.assertEqual(got.shape, np.shape(expected))
        scale = max(np.max(np.abs(expected), initial=0), 1e-300)
        self.assertLess(np.max(np.abs(got - expected), initial=0) / scale, tolerance)

    def refused(self, kind, words, function, *arguments, **more):
        with self.assertRaisesRegex(kind, words) as caught:
            function(*arguments, **more)
        self.assertIsInstance(caught.exception, minimd.Error)

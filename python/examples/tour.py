# %% [markdown]
# # A tour of minimd's library
# `python3 tour.py [FOLDER]` prints what it finds and, where matplotlib is installed, draws
# order.svg, misses.svg, mesh.svg into FOLDER.  Editors that know `# %%` run it cell by cell.

# %%
import pathlib
import sys
import time

import numpy as np

import minimd

FOLDER = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    plt = None
    print("matplotlib is not installed: no pictures")

random = np.random.default_rng(1)
print(f"minimd {minimd.__version__}")

# %% [markdown]
# ## Order
# Particles of a box, sorted along three curves: how far apart in space are neighbours in memory?

# %%
N, EDGE = 4096, 16.0
x = EDGE * random.random((N, 3))
curves = ["none", "row", "morton", "hilbert"]
sorts = {curve: minimd.order(x, EDGE, curve) for curve in curves}
for curve, sort in sorts.items():
    steps = np.diff(x[sort], axis=0)
    steps -= EDGE * np.round(steps / EDGE)
    mean = np.linalg.norm(steps, axis=1).mean()
    print(f"{curve:8} mean step from one particle to the next {mean:6.2f}")

if plt:
    figure, panels = plt.subplots(1, 3, figsize=(10, 3.6), sharey=True)
    thin = x[:, 2] < 1
    for panel, curve in zip(panels, curves[1:]):
        path = x[sorts[curve]][thin[sorts[curve]]]
        panel.plot(path[:, 0], path[:, 1], "-o", color="#0072b2", markersize=2.5, linewidth=0.7)
        panel.set(title=curve, xlabel="x", aspect="equal")
    panels[0].set_ylabel("y")
    figure.suptitle(f"{N} particles, z < 1: the order of memory along each curve")
    figure.savefig(FOLDER / "order.svg")

# %% [markdown]
# ## Misses
# Every particle reads all particles of the cells around its own, in the order of memory.


# %%
def neighbour_trace(positions, cells):
    """Addresses of what a sweep over particles reads: 32 bytes each."""
    cell = np.minimum((positions / EDGE * cells).astype(int), cells - 1)
    inside = {}
    for particle, place in enumerate(map(tuple, cell)):
        inside.setdefault(place, []).append(particle)
    around = np.stack(np.meshgrid(*[[-1, 0, 1]] * 3, indexing="ij"), -1).reshape(-1, 3)
    reads = [
        p
        for place in map(tuple, cell)
        for step in around
        for p in inside.get(tuple((place + step) % cells), ())
    ]
    return 32 * np.array(reads)


counts = {}
for curve in curves:
    trace = neighbour_trace(x[sorts[curve]], 8)
    counts[curve] = minimd.misses(trace, line_bytes=64) / trace.size
    print(f"{curve:8} {100 * counts[curve][127]:5.1f} % of {trace.size} reads miss in 8 KB")

if plt:
    figure, panel = plt.subplots(figsize=(6, 4))
    styles = dict(
        zip(curves, [("#000000", ":"), ("#d55e00", "--"), ("#009e73", "-."), ("#0072b2", "-")])
    )
    for curve, missed in counts.items():
        colour, line = styles[curve]
        panel.plot(
            64 * np.arange(1, len(missed) + 1) / 1024, 100 * missed, line, color=colour, label=curve
        )
    panel.set(
        title=f"Reads of neighbours of {N} particles, lines of 64 bytes",
        xscale="log",
        yscale="log",
        xlabel="cache [KB]",
        ylabel="misses [% of reads]",
    )
    panel.legend()
    figure.savefig(FOLDER / "misses.svg")

# %% [markdown]
# ## Spreading and interpolation
# Charges onto a mesh; interpolation is the transpose, so that two sums agree.

# %%
q = random.normal(size=N)
mesh = minimd.spread(x, q, EDGE, 32, order=6)
back = minimd.interpolate(x, mesh, EDGE, order=6)
print(f"charge of particles {q.sum():.6f}, of the mesh {mesh.sum():.6f}")
print(f"mesh . mesh {np.sum(mesh * mesh):.6f} = q . interpolated {np.sum(q * back):.6f}")

if plt:
    figure, panel = plt.subplots(figsize=(5, 4))
    image = panel.imshow(mesh[:, :, 16].T, origin="lower", cmap="RdBu", extent=(0, EDGE, 0, EDGE))
    panel.set(
        title="Charge at mesh points of the plane z = 8, order 6, 32^3 points",
        xlabel="x",
        ylabel="y",
    )
    figure.colorbar(image, label="charge")
    figure.savefig(FOLDER / "mesh.svg")

# %% [markdown]
# ## PME
# The mesh part of Coulomb forces with meshes of rising fineness: the error falls with the order.

# %%
q -= q.mean()
best = minimd.pme(x, q, EDGE, alpha=1.0, mesh=72, order=10)
for points in (16, 24, 32, 48):
    got = minimd.pme(x, q, EDGE, alpha=1.0, mesh=points, order=6)
    error = np.sqrt(np.mean((got.forces - best.forces) ** 2) / np.mean(best.forces**2))
    print(f"mesh {points:2}: energy {got.energy:14.6f}, relative force error {error:.1e}")

# %% [markdown]
# ## Many vectors at once
# A product with 16 vectors reads the matrix once; 16 products read it 16 times.

# %%
ROWS, BLOCKS, VECTORS = 3000, 75000, 16
rows, columns = random.integers(0, ROWS, BLOCKS), random.integers(0, ROWS, BLOCKS)
blocks, vectors = random.normal(size=(BLOCKS, 3, 3)), random.normal(size=(3 * ROWS, VECTORS))
begin = time.perf_counter()
together = minimd.gspmv(rows, columns, blocks, vectors)
middle = time.perf_counter()
alone = np.stack([minimd.gspmv(rows, columns, blocks, v) for v in vectors.T], 1)
end = time.perf_counter()
print(
    f"{VECTORS} vectors together {middle - begin:.3f} s, one by one {end - middle:.3f} s, each with"
    f" its set-up; largest difference {np.abs(together - alone).max():.1e}"
)

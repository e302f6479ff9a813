#!/usr/bin/env python3
"""Whole time steps of a molten salt on one GPU beside OpenMM, at equal measured force error.

    python3 bench/peers/salt_openmm.py [BUILD [CSV]]

Rows go to docs/results/charges-peers-gpu.csv, what was tried to charges-peers-gpu-search.csv.
OpenMM comes from PyPI into a virtual environment, BUILD/peers/openmm, unless the running Python
has it and numpy.  Without OpenMM or a GPU the comparison is skipped, in words.

The salt is that of inputs/in.nacl, molten by 500 steps.  Positions are multiples of 2^-12, so that
both programs see the same pairs.  One sigma, epsilon, mass and unit of time are 1 nm, 1 kJ/mol,
1 u and 1 ps in OpenMM.  LJ forces end at their cutoff unshifted.  OpenMM computes LJ and Coulomb
pairs in one kernel with one cutoff, which is its fastest way.  So its LJ forces reach to the
Coulomb cutoff, those of minimd to 2.5.  Its splines have order 5.

The error of a program is the root mean square over ions of its force less the exact one.  Exact
are the program's own LJ and tight Coulomb forces in double precision.  The tight Coulomb forces of
the two must agree to TARGET / 100.  Of more than 100,000 ions OpenMM gave no usable tight forces
(8.6.1, cutoff 8), so those of minimd serve both.  Settings whose error is not below TARGET do not
race.

For each cutoff OpenMM gets the alpha that minimd chooses, and the coarsest even mesh of factors 2,
3, 5 and 7 that passes; the fastest cutoff is tried with the next finer mesh, too.  minimd chooses
alpha and mesh itself; its cutoff, order, list and skin are about those of bench/bench_charges.c,
or differ from them in one setting.  The fastest of each program race in turn, each round from the
same melt.  ratio: the median over rounds of a program's time by that of minimd.

Environment: CELLS ("8 16 40"), PRECISIONS ("single double"; mixed too), TARGET (1e-3), REPEATS
(7), STEPS (10000, 5000 or 1000, by size), CUTOFFS of OpenMM ("3 3.5 4 4.5 5"), PLATFORM (CUDA).
PLATFORM=CPU tries the script without a GPU: one thread a program, single precision only.
"""

import ctypes
import functools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from environment import enter, origin_of, skip

setting = os.environ.get
PLATFORM = setting("PLATFORM", "CUDA")
PRECISIONS = setting("PRECISIONS", "single" if PLATFORM == "CPU" else "single double").split()
CELLS = sorted(map(int, setting("CELLS", "8 16 40").split()))
CUTOFFS = list(map(float, setting("CUTOFFS", "3 3.5 4 4.5 5").split()))
TARGET = float(setting("TARGET", "1e-3"))
REPEATS, STEPS = int(setting("REPEATS", "7")), int(setting("STEPS", "0"))
ROOT = pathlib.Path(__file__).resolve().parents[2]
COLUMNS = "date,commit,machine,program,version,precision,ions,cutoff,alpha,order,"
MOST_EXACT = 100000  # ions
CONSTANT = 138.93545764438198  # 1 / (4 pi epsilon0) of OpenMM, in kJ nm / mol
REST = 2.0**-20  # a step from rest leaves positions as they are and makes velocities of forces
INPUT = """species: ( { name = "Na"; charge = 3.0; }, { name = "Cl"; charge = -3.0; } );
system: { read = "molten.xyz"; }; lj: { cutoff = 2.5; }; coulomb: { method = "pme"; };
neighbor: { every = "check"; }; run: { dt = 0.001; thermo = 0; };
"""


def say(what):
    print(f"peers: {what}", file=sys.stderr, flush=True)


def fail(what):
    sys.exit(f"peers: {what}")


def lacking():
    """What this Python lacks for OpenMM, or None."""
    try:
        import numpy  # noqa: F401
        import openmm
    except ImportError as error:
        return str(error)
    of = openmm.Platform
    if PLATFORM in [of.getPlatform(k).getName() for k in range(of.getNumPlatforms())]:
        return None
    failures = "; ".join(of.getPluginLoadFailures())
    return f"OpenMM {openmm.__version__} has no platform {PLATFORM}: {failures[:400]}"


def packages():
    """OpenMM for the driver, which loads no kernels of a newer NVRTC."""
    if PLATFORM == "CPU":
        return ["openmm", "numpy"]
    release = ctypes.c_int()
    try:
        ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(release))
    except OSError as error:
        skip("OpenMM", f"there is no CUDA driver: {error}")
    major, minor = release.value // 1000, release.value % 1000 // 10
    if major not in (12, 13):
        why = f"the driver is of CUDA {major}.{minor}; OpenMM's packages are for 12 and 13"
        skip("OpenMM", why)
    nvrtc = "nvidia-cuda-nvrtc" + ("-cu12" if major == 12 else "")
    return [f"openmm[cuda{major}]", f"{nvrtc}=={major}.{minor}.*", "numpy"]


class Minimd:
    """Runs of minimd in a folder."""

    def __init__(self, program, folder):
        self.program, self.folder, self.salt = program, folder, folder / "in.salt"
        device, self.device = "gpu", ["--backend", "gpu"]
        if PLATFORM == "CPU":
            device, self.device = "cpu", ["--backend", "cpu", "--threads", "1"]
        self.lists = ("full", "half" if device == "cpu" else "tile")
        origin = origin_of(program, device)
        self.version = origin["version"]
        self.origin = (origin["date"], origin["commit"], origin["machine"])

    def run(self, source, *arguments, **settings):
        """The report of a run; settings are coulomb's, but for precision, list and skin."""
        command = [self.program, "-i", source, *self.device, "--format", "json", "--quiet"]
        command += ["-o", self.folder / "run.json", *arguments]
        for key, value in settings.items():
            own = key in ("precision", "list", "skin")
            command += [f"--{key}", value] if own else ["--set", f"coulomb.{key}={value}"]
        command = list(map(str, command))
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            fail(f"`{' '.join(command)}` failed:\n{(done.stderr + done.stdout).strip()[-400:]}")
        return json.loads((self.folder / "run.json").read_text())

    def forces(self, **settings):
        dump = self.folder / "rest.xyz"
        rest = ("--set", "system.keep_velocities=false", "--set", "system.temperature=0")
        self.run(self.salt, "--steps", 1, "--dt", REST, "--dump", dump, *rest, **settings)
        return last_frame(dump)[1][:, 3:6] / REST

    def time(self, steps, settings):
        report = self.run(self.salt, "--steps", steps, **settings)
        return 1e6 * report["timing"]["total"] / steps, report["coulomb"]


def last_frame(path, columns=8):
    """Edge of the box; positions, velocities, id and, of 9 columns, charge of the ions by id."""
    with open(path) as lines:
        skipped = int(next(lines)) + 2
        edge = float(next(lines).split('"')[1].split()[0])
        ions = numpy.loadtxt(lines, skiprows=skipped, usecols=range(1, columns))
    return edge, ions[numpy.argsort(ions[:, 6])]


class Salt:
    """The melt, left for minimd in molten.xyz, with its exact forces."""

    def __init__(self, minimd, cells):
        self.cells, dump = cells, minimd.folder / "melt.xyz"
        melt = ("--cells", cells, "--steps", 500, "--dump", dump, "--set", 'lj.shift="none"')
        minimd.run(ROOT / "inputs" / "in.nacl", *melt, precision="double")
        edge, ions = last_frame(dump, 9)
        self.edge = float(numpy.floor(edge * 4096 + 0.5) / 4096)
        self.x = numpy.mod(numpy.floor(ions[:, :3] * 4096 + 0.5) / 4096, self.edge)
        self.v, self.q = numpy.round(ions[:, 3:6], 4), ions[:, 7]
        minimd.salt.write_text(INPUT)
        box = " ".join(f"{number:.12f}" for number in self.edge * numpy.eye(3).ravel())
        columns = "species:S:1:pos:R:3:velo:R:3:id:I:1:charge:R:1"
        with open(minimd.folder / "molten.xyz", "w") as out:
            print(len(self.q), f'Lattice="{box}" Properties={columns}', sep="\n", file=out)
            for k, (x, v, q) in enumerate(zip(self.x.tolist(), self.v.tolist(), self.q)):
                print("Na" if q > 0 else "Cl", *x, *v, k + 1, q, file=out)
        tight = {"cutoff": 6, "alpha": 0.75, "order": 10, "mesh": 10 * cells}
        self.total = minimd.forces(precision="double", **tight)
        own = self.total - minimd.forces(precision="double", method='"none"')
        self.lj, self.meshes = {}, {}  # of OpenMM: forces, alpha and mesh by cutoff
        self.coulomb = own
        if len(self.q) <= MOST_EXACT:
            self.compare_exact(own)

    def compare_exact(self, own):
        mesh = legal(self.edge * 6)
        self.coulomb = OpenMM(self, "double", 8, 3.9 / 8, mesh, epsilon=0).forces()
        apart = f"{rms(self.coulomb - own):.3g}"
        say(f"{len(self.q)} ions: exact Coulomb forces of {rms(own):.4g} differ by {apart}")
        if not float(apart) < TARGET / 100:
            fail(f"exact Coulomb forces of minimd and OpenMM differ by {apart} > TARGET / 100")


class OpenMM:
    """A context at the melt; without a mesh it has LJ forces only, with epsilon 0 Coulomb only."""

    def __init__(self, salt, precision, cutoff, alpha=0, mesh=0, epsilon=1):
        self.salt, self.precision = salt, precision
        self.cutoff, self.alpha, self.mesh = cutoff, alpha, mesh
        system, force = openmm.System(), openmm.NonbondedForce()
        system.setDefaultPeriodicBoxVectors(*(salt.edge * numpy.eye(3)).tolist())
        for q in (salt.q * (mesh > 0) / CONSTANT**0.5).tolist():
            system.addParticle(1)
            force.addParticle(q, 1, epsilon)
        force.setNonbondedMethod(force.PME if mesh else force.CutoffPeriodic)
        force.setCutoffDistance(cutoff)
        force.setUseDispersionCorrection(False)
        force.setPMEParameters(alpha, mesh, mesh, mesh)
        system.addForce(force)
        self.integrator = openmm.VerletIntegrator(0.001)
        kind, properties = PLATFORM, {"Precision": precision, "DeviceIndex": "0"}
        if PLATFORM == "CPU":
            kinds = {"single": ("CPU", {"Threads": "1"}), "double": ("Reference", {})}
            kind, properties = kinds[precision]
        platform = openmm.Platform.getPlatformByName(kind)
        self.context = openmm.Context(system, self.integrator, platform, properties)
        if mesh and kind != "CPU":  # which takes even meshes as they are, but cannot always tell
            took = force.getPMEParametersInContext(self.context)[1:]
            if took != [mesh] * 3:
                fail(f"OpenMM took a mesh of {took}, not {mesh}")

    def forces(self):
        self.context.setPositions(self.salt.x)
        return self.context.getState(forces=True).getForces(asNumpy=True)._value

    def measure_error(self):
        if self.cutoff not in self.salt.lj:
            self.salt.lj[self.cutoff] = OpenMM(self.salt, "double", self.cutoff).forces()
        self.error = rms(self.forces() - self.salt.lj[self.cutoff] - self.salt.coulomb)
        say(f"OpenMM, {self.precision}, cutoff {self.cutoff:g}, mesh {self.mesh}: {self.error:.4g}")
        return self.error

    def us(self, steps):
        """From the melt, after a tenth as many steps; to ask for velocities waits for the GPU."""
        self.context.setPositions(self.salt.x)
        self.context.setVelocities(self.salt.v)
        for n in (max(50, steps // 10), steps):
            began = time.perf_counter()
            self.integrator.step(n)
            self.context.getState(velocities=True)
        return 1e6 * (time.perf_counter() - began) / steps

    def consider(self, steps, tried):
        self.short = self.us(steps)
        self.row = ("OpenMM", openmm.__version__, self.precision, len(self.salt.q), self.cutoff)
        self.row += (f"{self.alpha:.6g}", 5, "", "", self.mesh, f"{self.error:.4g}")
        tried(*self.row, f"{self.short:.4g}")
        return self


def rms(vectors):
    return float(numpy.sqrt((vectors**2).sum(axis=1).mean()))


def legal(points, step=2):
    """The first even number of factors 2, 3, 5 and 7 from `points` on, up or down."""
    mesh = 2 * int(-(-points // 2) if step > 0 else points // 2)
    while pow(2 * 3 * 5 * 7, 20, mesh):
        mesh += step
    return mesh


def coarsest(minimd, salt, precision, cutoff):
    """The context of the coarsest mesh; after another precision only finer meshes are tried."""
    down, found = cutoff not in salt.meshes, None
    if down:
        chosen = {"cutoff": cutoff, "order": 5, "tolerance": TARGET}
        chosen = minimd.run(minimd.salt, "--steps", 0, **chosen)["coulomb"]
        salt.meshes[cutoff] = chosen["alpha"], legal(chosen["mesh"][0])
    alpha, mesh = salt.meshes[cutoff]
    finest = 2 * mesh
    while mesh <= finest:
        context = OpenMM(salt, precision, cutoff, alpha, mesh)
        good = context.measure_error() < TARGET
        if good:
            found, salt.meshes[cutoff] = context, (alpha, mesh)
        if found and not (good and down):
            return found
        down = down and good
        mesh = legal(mesh - 2, -2) if good else legal(mesh + 2)
    say(f"OpenMM, {precision}, cutoff {cutoff:g}: no mesh is fine enough")


def fastest_openmm(minimd, salt, precision, steps, tried):
    """The fastest context."""
    found = (coarsest(minimd, salt, precision, cutoff) for cutoff in CUTOFFS)
    timed = (context.consider(steps, tried) for context in found if context)
    best = min(timed, key=lambda context: context.short, default=None)
    if best is None:
        fail(f"no setting of OpenMM has an error below {TARGET:g}")
    finer = OpenMM(salt, precision, best.cutoff, best.alpha, legal(best.mesh + 2))
    if finer.measure_error() < TARGET and finer.consider(steps, tried).short < best.short:
        return finer
    return best


def fastest_minimd(minimd, salt, precision, steps, tried):
    """Row and settings of the fastest."""
    small, large = salt.cells <= 8, salt.cells > 16
    other, kind = minimd.lists[::-1] if small else minimd.lists
    order, skin = (6, 0.6) if small else (8, 0.3 if large else 0.4)
    base = {"cutoff": 3.5, "order": order, "list": kind, "skin": skin}
    changes = [{}, {"cutoff": 3}, {"cutoff": 4}, {"order": 14 - order}, {"list": other}]
    changes += [{"skin": 0.3 if small else 0.6}]
    passing, errors = [], {}
    for change in changes:
        settings = {"precision": precision, "tolerance": TARGET, **base, **change}
        key = settings["cutoff"], settings["order"]
        if key not in errors:
            errors[key] = f"{rms(minimd.forces(**settings) - salt.total):.4g}"
        us, chosen = minimd.time(steps, settings)
        row = ("minimd", minimd.version, precision, len(salt.q), key[0], f"{chosen['alpha']:.6g}")
        row += (key[1], settings["list"], settings["skin"], chosen["mesh"][0], errors[key])
        tried(*row, f"{us:.4g}")
        if float(errors[key]) < TARGET:
            passing.append((us, row, settings))
    if not passing:
        fail(f"no setting of minimd has an error below {TARGET:g}")
    return min(passing, key=lambda one: one[0])[1:]


def race(minimd, salt, precision, raced, tried):
    steps = STEPS or (10000 if salt.cells <= 8 else 5000 if salt.cells <= 16 else 1000)
    short, times = max(1, steps // 5), ([], [])
    best, settings = fastest_minimd(minimd, salt, precision, short, tried)
    peer = fastest_openmm(minimd, salt, precision, short, tried)
    runs = (lambda n: minimd.time(n, settings)[0]), peer.us
    runs[0](short)
    for k in range(REPEATS):
        for own in (0, 1) if k % 2 else (1, 0):
            times[own].append(runs[own](steps))
    for row, own in zip((best, peer.row), times):
        ratio = statistics.median(a / b for a, b in zip(own, times[0]))
        figures = (statistics.median(own), min(own), max(own), ratio)
        raced(*row[:7], *row[9:], *(f"{figure:.4g}" for figure in figures))


def write(file, tell, *row):
    line = ",".join(map(str, row))
    tell(line)
    print(line, file=file, flush=True)


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve()
    results = ROOT / "docs" / "results" / "charges-peers-gpu.csv"
    path = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else results).resolve()
    global numpy, openmm
    possible = {"CUDA": {"single", "mixed", "double"}, "CPU": {"single"}}
    if not set(PRECISIONS) <= possible.get(PLATFORM, set()):
        fail("PLATFORM is CUDA, in single, mixed and double precision, or CPU, in single")
    if min(CUTOFFS) < 2.5:
        fail("CUTOFFS below 2.5 would cut OpenMM's LJ forces short")
    if not (build / "minimd").exists():
        fail(f"{build}/minimd is missing: `make` builds it")
    enter("OpenMM", build / "peers" / "openmm", lacking, packages)
    import numpy
    import openmm

    paths = path, path.with_name(path.stem + "-search.csv")
    parts = [file.with_name(file.name + ".tmp") for file in paths]
    with tempfile.TemporaryDirectory() as folder:
        minimd = Minimd(build / "minimd", pathlib.Path(folder))
        with open(parts[0], "w") as rows, open(parts[1], "w") as search:
            print(COLUMNS + "mesh,error,us_per_step,least,most,ratio", file=rows, flush=True)
            print(COLUMNS + "list,skin,mesh,error,us_per_step", file=search, flush=True)
            raced = functools.partial(write, rows, print, *minimd.origin)
            tried = functools.partial(write, search, say, *minimd.origin)
            try:
                for cells in CELLS:
                    salt = Salt(minimd, cells)
                    for precision in PRECISIONS:
                        race(minimd, salt, precision, raced, tried)
            except openmm.OpenMMException as error:
                fail(f"OpenMM failed: {error}")
    for file, part in zip(paths, parts):
        part.replace(file)


if __name__ == "__main__":
    main()

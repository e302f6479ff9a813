"""tests/cli/viewers.py OVITO|MDAnalysis FOLDER - what that package reads of minimd's files is what their text says.

OVITO's reading of a number may be off in the last digit.  FOLDER holds salt.* and mixture.* (xyz, lammpstrj, dcd,
data), of dt = 0.001 and four frames, two steps apart, and spheres.xyz.  OVITO writes in turn NAME.again.xyz, the last
frame, and NAME.again.data from NAME.data.
"""
import sys
import warnings

import numpy as np

folder = sys.argv[2] + '/'
NAMES = {'salt': ('Na', 'Cl'), 'mixture': ('Ni', 'P')}
MASSES = {'salt': (1., 1.), 'mixture': (1., .75)}


def last_frame(name):
    """Of NAME.xyz: edges, names, positions, velocities, charges if there are any."""
    lines = open(folder + name + '.xyz').read().splitlines()
    n = int(lines[0])
    edges = np.array(lines[-n - 1].split('"')[1].split(), float)[[0, 4, 8]]
    rows = [line.split() for line in lines[-n:]]
    numbers = np.array([row[1:] for row in rows], float)
    assert np.all(numbers[:, 6] == np.arange(1, n + 1))
    return edges, [row[0] for row in rows], numbers[:, :3], numbers[:, 3:6], numbers[:, 7:]


def first_data(name):
    """Of NAME.data: positions by id and velocities by id."""
    lines = open(folder + name + '.data').read().splitlines()
    atoms = next(k for k, line in enumerate(lines) if line.startswith('Atoms'))
    velocities = lines.index('Velocities')
    table = np.array([line.split() for line in lines[atoms + 2:velocities - 1]], float)
    return table[:, -6:-3], np.array([line.split()[1:] for line in lines[velocities + 2:]], float)


def same_image(a, b, edges, digits):
    """Positions are equal but for whole edges of the box."""
    away = a - b
    return np.allclose(away - np.round(away / edges) * edges, 0, atol=digits)


def check_ovito(name):
    from ovito.io import export_file, import_file
    from ovito.modifiers import LoadTrajectoryModifier
    edges, names, x, v, q = last_frame(name)

    def same(path, x, v, digits):
        pipeline = import_file(folder + path)
        frame = pipeline.compute(pipeline.source.num_frames - 1)
        atoms = frame.particles
        word = {t.id: t.name for t in atoms.particle_types.types}
        assert [word[t] for t in atoms.particle_types] == names, path
        assert np.all(frame.cell[:, :3] == np.diag(edges)) and not frame.cell[:, 3].any() and all(frame.cell.pbc), path
        assert same_image(atoms.positions, x, edges, digits), path
        assert np.allclose(atoms['Velocity'], v, rtol=1e-15, atol=1e-15), path
        assert 'Charge' not in atoms if q.size == 0 else np.all(atoms['Charge'] == q[:, 0]), path
        return pipeline, frame

    pipeline, frame = same(name + '.xyz', x, v, 1e-14)
    assert pipeline.source.num_frames == 4 and frame.attributes['Step'] == 6 and frame.attributes['Time'] == .006
    columns = ['Particle Type', 'Position', 'Velocity'] + (['Charge'] if q.size else [])
    export_file(pipeline, folder + name + '.again.xyz', 'xyz', columns=columns, frame=3, precision=17)
    pipeline, frame = same(name + '.lammpstrj', x, v, 1e-12)
    assert pipeline.source.num_frames == 4 and frame.attributes['Timestep'] == 6
    pipeline, frame = same(name + '.data', *first_data(name), 1e-14)
    assert tuple(t.mass for t in frame.particles.particle_types.types) == MASSES[name]
    style = {'atom_style': 'charge' if q.size else 'atomic', 'restricted_triclinic': True, 'precision': 17}
    export_file(pipeline, folder + name + '.again.data', 'lammps/data', **style)

    # OVITO puts the middle of a .dcd's box at the origin.
    trajectory = LoadTrajectoryModifier()
    trajectory.source.load(folder + name + '.dcd')
    pipeline.modifiers.append(trajectory)
    frame = pipeline.compute(3)
    assert trajectory.source.num_frames == 4 and np.allclose(frame.cell[:, :3], np.diag(edges), atol=1e-6)
    assert same_image(frame.particles.positions - frame.cell[:, 3], x, edges, 1e-6)


def check_spheres():
    from ovito.io import import_file
    rows = [line.split() for line in open(folder + 'spheres.xyz').read().splitlines()[2:]]
    spheres = import_file(folder + 'spheres.xyz').compute(0).particles
    assert np.allclose(spheres.positions, np.array([row[1:4] for row in rows], float), rtol=1e-15, atol=0)
    assert np.allclose(spheres['Radius'], [float(row[4]) for row in rows], rtol=1e-7, atol=0)


def check_mdanalysis(name):
    import MDAnalysis
    edges, names, x, v, q = last_frame(name)
    types = [str(NAMES[name].index(word) + 1) for word in names]
    style = 'id type charge x y z' if q.size else 'id type x y z'

    def last(universe, digits=1e-6, box=True):
        universe.trajectory[-1]
        assert universe.trajectory.n_frames == 4
        assert same_image(universe.atoms.positions, x, edges, digits)
        if box:
            assert np.allclose(universe.dimensions, [*edges, 90, 90, 90], rtol=1e-7, atol=0)
        return universe.atoms

    atoms = last(MDAnalysis.Universe(folder + name + '.lammpstrj', format='LAMMPSDUMP'))
    assert list(atoms.elements) == names and list(atoms.types) == types
    assert np.allclose(atoms.velocities, v, rtol=1e-6, atol=1e-6)
    assert not hasattr(atoms, 'charges') if q.size == 0 else np.all(atoms.charges == q[:, 0])
    assert atoms.universe.trajectory.ts.data['step'] == 6
    atoms = last(MDAnalysis.Universe(folder + name + '.xyz'), box=False)     # MDAnalysis takes no box from .xyz
    assert list(atoms.names) == names

    data = MDAnalysis.Universe(folder + name + '.data', atom_style=style, convert_units=False)
    x0, v0 = first_data(name)
    assert list(data.atoms.types) == types
    assert np.allclose(data.atoms.positions, x0, atol=1e-6) and np.allclose(data.atoms.velocities, v0, atol=1e-6)
    assert np.allclose(data.dimensions, [*edges, 90, 90, 90], rtol=1e-7, atol=0)
    assert np.all(data.atoms.masses == [MASSES[name][int(t) - 1] for t in types])
    assert q.size == 0 or np.all(data.atoms.charges == q[:, 0])

    # The clock of a LAMMPS .dcd: time steps in the units asked for.
    both = MDAnalysis.Universe(folder + name + '.data', folder + name + '.dcd', atom_style=style, format='LAMMPS',
                               timeunit='ps', lengthunit='A')
    last(both)
    assert np.isclose(both.trajectory.dt, .002, rtol=1e-6)


warnings.simplefilter('ignore')
for system in NAMES:
    check_ovito(system) if sys.argv[1] == 'OVITO' else check_mdanalysis(system)
if sys.argv[1] == 'OVITO':
    check_spheres()

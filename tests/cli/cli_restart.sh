#!/bin/sh
# tests/cli/cli_restart.sh MINIMD - trajectories, checkpoints, restarts, signals, full disks.
. tests/cli/cli.sh
partial=yes

run="--backend $backend --cells 5 --deterministic"
c=$dir/state
kept=$dir/kept

# A run stopped at 33 and gone on is the run that was not stopped, line for line.
for list in full half; do
  expect 0 $run --list $list --steps 60 --thermo 10 --format csv
  tail -n 2 "$dir/out" >"$dir/whole"
  expect 0 $run --list $list --steps 33 --thermo 10 --checkpoint "$c"
  mv "$c" "$kept"
  expect 0 --restart "$kept" --steps 60 --format csv
  tail -n 2 "$dir/out" >"$dir/rest"
  same "$dir/whole" "$dir/rest" "$list restarted"
done
expect 0 --restart "$kept" --steps 60
prints 'kept \(checkpoint\)'
prints 'at step 33, exactly'
prints '^27 steps, '
expect 0 --restart "$kept" --steps 60 --order row
prints 'for another order.curve'
expect 0 --restart "$kept" --steps 40 --format json -o "$dir/run.json"
grep -q '"exact": true' "$dir/run.json" || fail 'JSON does not say exact'
expect 0 --restart "$kept" --check
prints 'neighbor.list .*kept:[0-9]'

# What cannot be gone on from.
expect 3 --restart "$dir/none"
says 'none'
expect 2 --restart inputs/in.lj
says 'no checkpoint'
expect 2 --restart "$kept" --steps 20
says 'step 33 already'
expect 2 --restart "$kept" --steps 60 --cells 6
says 'system.cells'
cp "$kept" "$dir/cut"
cp "$kept" "$dir/cut.prev"
truncate -s 5000 "$dir/cut"
expect 3 --restart "$dir/cut"
says "cut' is cut off.*--restart $dir/cut.prev \(step 33\)"

# Names that cannot be written.
expect 2 $run --dump "$dir/a.pdb"
says 'xyz, .lammpstrj or .dcd'
expect 3 $run --dump "$dir/no/such.xyz"
expect 3 $run --checkpoint "$dir/no/such"
ln -s /dev/full "$dir/full.xyz"
ln -s /dev/full "$dir/full.lammpstrj"
expect 3 $run --steps 5 --dump "$dir/full.xyz"
says 'No space left'
expect 3 $run --steps 5 --dump "$dir/full.lammpstrj"
expect 3 $run --steps 5 --checkpoint /dev/full
says 'regular file'

# A full disk leaves the last good checkpoint.
mkdir "$dir/disk"
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=128k tmpfs "$dir/disk" 2>/dev/null; then
  expect 0 $run --steps 1 --checkpoint "$dir/disk/state"
  dd if=/dev/zero of="$dir/disk/fill" bs=1k count=60 2>/dev/null
  expect 3 $run --steps 5 --checkpoint "$dir/disk/state"
  says 'No space left'
  expect 3 $run --steps 500 --dump "$dir/disk/a.dcd" --dump-every 1
  expect 0 --restart "$dir/disk/state" --check
  umount "$dir/disk"
fi

# Trajectories: frames, and what is read back.
expect 0 $run --steps 20 --dump "$dir/a.xyz" --dump-every 5
[ "$(grep -c Lattice "$dir/a.xyz")" = 5 ] || fail 'frames of .xyz'
tail -n 502 "$dir/a.xyz" >"$dir/last.xyz"
tail -n 1 "$dir/out" >/dev/null
expect 0 $run --steps 20 --format csv
tail -n 1 "$dir/out" | cut -d, -f3 >"$dir/e_pair"
printf 'system: { read = "%s"; };\n' "$dir/last.xyz" >"$dir/in.last"
expect 0 -i "$dir/in.last" --backend "$backend" --steps 0 --format csv
tail -n 1 "$dir/out" | cut -d, -f3 >"$dir/e_read"
paste "$dir/e_pair" "$dir/e_read" | awk '{ d = $1 - $2; exit !(d < 1e-12 && d > -1e-12) }' ||
  fail 'the energy of a frame read back'
expect 0 $run --steps 20 --dump "$dir/a.lammpstrj" --dump-every 5
expect 0 $run --steps 20 --dump "$dir/a.dcd" --dump-every 5
expect 0 $run --steps 18 --dump "$dir/off.dcd" --dump-every 5 # the last step is between frames
expect 0 $run --steps 18 --dump "$dir/ends.dcd"               # the first and the last step
for form in xyz lammpstrj dcd; do
  expect 0 $run --steps 13 --dump "$dir/b.$form" --dump-every 5 --checkpoint "$c"
  expect 0 --restart "$c" --steps 20
  same "$dir/a.$form" "$dir/b.$form" 'a trajectory gone on with from between two frames'
done
expect 0 $run --steps 10 --dump "$dir/b.dcd" --dump-every 5 --checkpoint "$c"
expect 0 --restart "$c" --steps 20
same "$dir/a.dcd" "$dir/b.dcd" 'a trajectory gone on with'
printf x >"$dir/b.dcd"
expect 3 --restart "$c" --steps 20
says 'shorter'
if command -v python3 >/dev/null 2>&1; then
  cases=$((cases + 1))
  python3 - "$dir/a" <<'PY' || fail 'the formats disagree'
import os, struct, sys
frames = []
with open(sys.argv[1] + ".lammpstrj") as f:
    lines = f.read().splitlines()
n = int(lines[3])
for k in range(0, len(lines), n + 9):
    assert lines[k + 8] == "ITEM: ATOMS id type x y z vx vy vz ix iy iz"
    rows = [line.split() for line in lines[k + 9:k + 9 + n]]
    assert [int(row[0]) for row in rows] == list(range(1, n + 1))
    frames.append([[float(row[2 + d]) for row in rows] for d in range(3)])
assert len(frames) == 5
data = open(sys.argv[1] + ".dcd", "rb").read()
at = 0
def record():
    global at
    size, = struct.unpack_from("<I", data, at)
    body = data[at + 4:at + 4 + size]
    assert struct.unpack_from("<I", data, at + 4 + size)[0] == size
    at += 8 + size
    return body
head = record()
assert head[:4] == b"CORD" and len(head) == 84
count, first, every = struct.unpack_from("<3i", head, 4)
folder = os.path.dirname(sys.argv[1])
for name, steps in (("off.dcd", (4, 0, 5)), ("ends.dcd", (2, 0, 18))):
    whole = open(folder + "/" + name, "rb").read()
    assert struct.unpack_from("<3i", whole, 8) == steps, (name, struct.unpack_from("<3i", whole, 8))
    assert len(whole) == 196 + steps[0] * (len(data) - 196) // 5, name
assert (count, first, every) == (5, 0, 5) and struct.unpack_from("<i", head, 80)[0] == 24
record()
assert struct.unpack("<i", record())[0] == n
for frame in frames:
    a, gamma, b, beta, alpha, c = struct.unpack("<6d", record())
    assert a == b == c > 8 and alpha == beta == gamma == 90
    for d in range(3):
        x = struct.unpack("<%df" % n, record())
        assert max(abs(p - q) for p, q in zip(x, frame[d])) < 1e-6
assert at == len(data)
PY
fi
if python3 -c 'import ase.io' 2>/dev/null; then
  cases=$((cases + 1))
  python3 - "$dir/a" <<'PY' || fail 'ASE reads something else'
import sys, ase.io
xyz = ase.io.read(sys.argv[1] + ".xyz", ":")
trj = ase.io.read(sys.argv[1] + ".lammpstrj", ":", format="lammps-dump-text")
assert len(xyz) == len(trj) == 5
for a, b in zip(xyz, trj):
    assert len(a) == 500 and abs(a.positions - b.positions).max() < 1e-9
    assert abs(a.cell.lengths() - b.cell.lengths()).max() < 1e-9 and all(a.pbc)
PY
fi

# Charges are in the frames and come back with them; without charges there is no such column.
grep -q charge "$dir/a.xyz" && fail 'charges where there are none'
salt='--set system.lattice=nacl --set system.charges=2 --set coulomb.method=pme --cells 3 --set lj.cutoff=2
  --set coulomb.cutoff=2 --set coulomb.mesh=16 --set coulomb.alpha=1.2'
expect 0 $salt --backend "$backend" --steps 10 --dump "$dir/salt.xyz" --dump-every 10 --format csv
tail -n 1 "$dir/out" | cut -d, -f3 >"$dir/e_pair"
expect 0 $salt --backend "$backend" --steps 10 --dump "$dir/salt.lammpstrj" --dump-every 10
tail -n 218 "$dir/salt.xyz" >"$dir/last.xyz"
printf 'system: { read = "%s"; }; lj: { cutoff = 2.0; };
coulomb: { method = "pme"; cutoff = 2.0; mesh = [16, 16, 16]; alpha = 1.2; };\n' "$dir/last.xyz" >"$dir/in.last"
expect 0 -i "$dir/in.last" --backend "$backend" --steps 0 --format csv
tail -n 1 "$dir/out" | cut -d, -f3 >"$dir/e_read"
paste "$dir/e_pair" "$dir/e_read" | awk '{ d = $1 - $2; exit !($1 < -1 && d < 1e-11 && d > -1e-11) }' ||
  fail "the energy of a salt's frame read back: $(paste "$dir/e_pair" "$dir/e_read")"
grep -q '^ITEM: ATOMS .* iz q$' "$dir/salt.lammpstrj" || fail 'no charges in .lammpstrj'
awk 'NR == FNR { if (FNR > 2) q[$8] = $9; next } /^ITEM: ATOMS/ { atoms = 1; next } /^ITEM:/ { atoms = 0 }
  atoms && !($12 == q[$1] && ($12 == 2 || $12 == -2)) { bad = 1 } END { exit bad }' \
  "$dir/last.xyz" "$dir/salt.lammpstrj" || fail 'charges of the two formats disagree'

# SIGUSR1 saves and goes on; SIGTERM saves and stops.
cases=$((cases + 1))
rm -f "$c"
"$minimd" $run --steps 100000000 --checkpoint "$c" >"$dir/out" 2>"$dir/err" &
pid=$!
awaits grep -q '^ *0 ' "$dir/out"
saves_when_asked $pid "$c"
expect 0 --restart "$c" --check
expect 0 --restart "$c.prev" --check

# Without a file, SIGUSR1 warns and the run goes on.
cases=$((cases + 1))
"$minimd" $run --steps 100000000 >"$dir/out" 2>"$dir/err" &
pid=$!
awaits grep -q '^ *0 ' "$dir/out"
kill -USR1 $pid
awaits grep -q 'warning: asked' "$dir/err"
says '^minimd: warning: asked for a checkpoint, but --checkpoint names no file$'
kill -0 $pid || fail 'SIGUSR1 without a file ended the run'
kill -TERM $pid
wait $pid
[ $? = 143 ] || fail 'SIGTERM after SIGUSR1 without a file: exit code'

# Killed in the middle of writing, again and again: there is always a whole one.
cases=$((cases + 1))
whole=0
for k in $(seq 1 200); do
  "$minimd" $run --threads 1 --steps 100000000 --checkpoint "$c" --checkpoint-every 1 >/dev/null 2>&1 &
  pid=$!
  sleep 0.0$((k % 7 + 2))$k
  kill -KILL $pid
  wait $pid 2>/dev/null
  if "$minimd" --restart "$c" --check >/dev/null 2>&1; then whole=$((whole + 1)); fi
done 2>/dev/null
[ $whole = 200 ] || fail "$whole of 200 killed runs left a whole checkpoint"
# What the last one left is used again, and nothing stays but the two.
step=$("$minimd" --restart "$c" --steps 1 2>&1 | sed -n 's/.*step \([0-9]*\) already.*/\1/p')
expect 0 --restart "$c" --steps $((step + 3)) --set output.checkpoint_every=0
[ "$(ls -d "$c"*)" = "$c
$c.prev" ] || fail "beside the checkpoint: $(ls -d "$c"*)"

finish

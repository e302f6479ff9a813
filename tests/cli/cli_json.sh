#!/bin/sh
# tests/cli/cli_json.sh MINIMD - every JSON output is what its schema in docs/schema says (tests/cli/schema.py).
. tests/cli/cli.sh
command -v python3 >/dev/null 2>&1 || { finish; exit; }

# fits SCHEMA ARGS... : the command's JSON fits docs/schema/SCHEMA.json.
fits()
{
  schema=$1
  shift
  expect 0 "$@" --format json
  python3 tests/cli/schema.py "docs/schema/$schema.json" "$dir/out" >"$dir/log" 2>&1 ||
    fail "minimd $*: $(tail -3 "$dir/log")"
  [ -z "${KEEP:-}" ] || cp "$dir/out" "$KEEP/$schema.$cases"
}
cpu='--backend cpu --quiet'
small="$cpu --cells 4 --steps 4"
printf '0,4,r\n0x40,4,w\n' >"$dir/trace"
printf 'name = "toy"; kind = "cpu"; levels = ( { bytes = 8192; ways = 8; line = 64; } );\n' >"$dir/machine"

fits run $small --thermo 2
fits run $small --order none --list half --deterministic --precision mixed --set neighbor.stencil=block
fits run -i inputs/in.nacl --cells 4 --steps 2 $cpu
fits run -i inputs/in.kob-andersen --cells 5 --steps 2 $cpu
"$minimd" potential -o "$dir/Cu.eam.alloy" >/dev/null && cp inputs/in.eam "$dir"
metal="-i $dir/in.eam --cells 6 --steps 2 $cpu"
fits run $metal
fits run $small --rebuild check
fits run $small --skin auto --rebuild check --steps 40
fits settings $small --check
fits ordering ordering --order row --size 4
fits offsets ordering --order row --size 4 --stencil block:1 --offsets
fits stencils ordering --stencil block:1
fits cachemodel cachemodel --order row,hilbert --size 8 --stencil block:1 --line 1 --capacity 8
fits cachemodel-machine cachemodel $small --order row --machine "$dir/machine"
fits cachemodel-machine cachemodel $small --order row --machine h200 --warm
fits cachemodel-trace cachemodel --trace "$dir/trace" --capacity 64B
fits cachemodel-trace cachemodel --trace "$dir/trace" --capacity all --regions x=0-64
fits cachemodel-trace-machine cachemodel --trace "$dir/trace" --machine "$dir/machine"
fits cachemodel-trace-worst cachemodel --trace "$dir/trace" --capacity 1 --worst 2
fits compare compare $small --order none,row --repeat 2
fits compare compare $metal --order none,row --repeat 2
fits tune tune $small --for 0.02 --over order,list
fits spread spread --particles 200 --mesh 16 --repeat 1 --check $cpu
fits pack pack --particles 300 --occupancy 0.4 -o "$dir/p.xyz" --quiet
fits stokes stokes -i "$dir/p.xyz" --steps 1 $cpu
fits stokes stokes -i "$dir/p.xyz" --steps 1 --rhs 4 --algorithm mrhs $cpu
fits stokes stokes -i "$dir/p.xyz" --gap-cut 0.5 --steps 1 --replicas 2 $cpu
fits stokes-mobility stokes -i "$dir/p.xyz" --gap-cut 0.5 --hydrodynamics rpy --steps 1 $cpu
fits stokes-mobility stokes -i "$dir/p.xyz" --gap-cut 0.5 --hydrodynamics full --steps 1 $cpu
fits mobility mobility -i "$dir/p.xyz" --vectors 1,2 --repeat 1 --check $cpu
fits mobility-observe mobility -i "$dir/p.xyz" --observe diffusion,hq --waves 2 --probes 4 $cpu
fits gspmv gspmv --matrix mat1 --rows 200 --vectors 1,2 --repeat 1 $cpu
fits gspmv-nodes gspmv --matrix mat1 --rows 200 --vectors 1 --repeat 1 --nodes 2 $cpu
fits profile profile --quiet --cells 4 --steps 4 --order row --counters off
fits profile-cpu profile $small --order row --with model
fits profile-cpu profile $metal --order row --with model
fits profile-cpu-times profile $small --order row --times
fits config config --list
fits info info
finish

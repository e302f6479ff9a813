# Completion of minimd for bash, written by `minimd docs`.
_minimd_commands()
{
  echo 'run ordering cachemodel compare tune spread stokes gspmv mobility pack potential profile config convert info help docs'
}

_minimd_options()
{
  case $1 in
    run) echo '--help --order --list --newton --stencil --bin-size --sort-every --rebuild --skin --pair --potential --cutoff --backend --device --precision --block-size --threads --cells --steps --dt --thermo --seed --deterministic --cut --carrier --share-gpu --input --format-in --set --dump --dump-every --checkpoint --checkpoint-every --restart --check --trace --format --output --plot --quiet' ;;
    ordering) echo '--help --order --size --stencil --offsets --format --output --plot --quiet' ;;
    cachemodel) echo '--help --order --size --stencil --half --line --capacity --ways --policy --levels --format --output --plot --quiet --list --newton --bin-size --sort-every --rebuild --skin --pair --potential --cutoff --backend --device --precision --block-size --threads --cells --steps --dt --thermo --seed --deterministic --cut --carrier --share-gpu --input --format-in --set --machine --schedule --skip --stay --refill --bracket --registers --rows --warm --trace --trace-format --instructions --line-bytes --regions --worst' ;;
    compare) echo '--help --order --list --newton --stencil --bin-size --sort-every --rebuild --skin --pair --potential --cutoff --backend --device --precision --block-size --threads --cells --steps --dt --thermo --seed --deterministic --cut --carrier --share-gpu --input --format-in --set --repeat --format --output --plot --quiet' ;;
    tune) echo '--help --order --list --newton --stencil --bin-size --sort-every --rebuild --skin --pair --potential --cutoff --backend --device --precision --block-size --threads --cells --steps --dt --thermo --seed --deterministic --cut --carrier --share-gpu --input --format-in --set --for --over --error --exhaustive --trials --format --output --quiet' ;;
    spread) echo '--help --particles --mesh --order --method --vectors --repeat --backend --device --precision --distribution --box --check --seed --threads --deterministic --format --output --plot --quiet' ;;
    stokes) echo '--help --input --hydrodynamics --lambda --force --algorithm --rhs --guess --replicas --steps --dt --seed --gap-cut --gap-min --far-field --viscosity --method --tolerance --guess-tolerance --root --root-tolerance --preconditioner --max-iterations --storage --backend --device --threads --deterministic --trajectory --trajectory-every --checkpoint --checkpoint-every --restart --model --format --output --plot --quiet' ;;
    gspmv) echo '--help --matrix --vectors --backend --device --precision --storage --rows --repeat --seed --threads --write --map --nodes --latency --network --format --output --plot --quiet' ;;
    mobility) echo '--help --input --case --tolerance --vectors --check --map --moves --observe --hydrodynamics --probes --waves --gap-cut --gap-min --viscosity --backend --device --precision --repeat --seed --threads --deterministic --format --output --plot --quiet' ;;
    pack) echo '--help --particles --occupancy --radii --output --sweeps --iterations --seed --threads --contacts --format --plot --quiet' ;;
    potential) echo '--help --knots --cutoff --output' ;;
    profile) echo '--help --order --list --newton --stencil --bin-size --sort-every --rebuild --skin --pair --potential --cutoff --backend --device --precision --block-size --threads --cells --steps --dt --thermo --seed --deterministic --cut --carrier --share-gpu --input --format-in --set --at --launches --caches --counters --model --replay --machine --with --addresses --times --format --output --plot --quiet' ;;
    config) echo '--help --list --format --output' ;;
    convert) echo '--help --order --list --newton --stencil --bin-size --sort-every --rebuild --skin --pair --potential --cutoff --backend --device --precision --block-size --threads --cells --steps --dt --thermo --seed --deterministic --cut --carrier --share-gpu --input --format-in --set --output --to' ;;
    info) echo '--help --format --output' ;;
    help) echo '--help' ;;
    docs) echo '--help --form --output' ;;
  esac
}

# The words that may follow an option; fails where none follows.
_minimd_values()
{
  case $1:$2 in
    run:--order) echo 'none row column morton morton:kji hilbert hybrid gilbert random' ;;
    run:--list) echo 'full half tile' ;;
    run:--newton) echo 'on off' ;;
    run:--stencil) echo 'block sphere' ;;
    run:--bin-size) echo '' ;;
    run:--sort-every) echo '' ;;
    run:--rebuild) echo 'check' ;;
    run:--skin) echo 'auto' ;;
    run:--pair) echo 'lj eam' ;;
    run:--potential) echo 'FILE' ;;
    run:--cutoff) echo '' ;;
    run:--backend) echo 'auto cpu gpu' ;;
    run:--device) echo '' ;;
    run:--precision) echo 'single mixed double' ;;
    run:--block-size) echo '' ;;
    run:--threads) echo '' ;;
    run:--cells) echo '' ;;
    run:--steps) echo '' ;;
    run:--dt) echo '' ;;
    run:--thermo) echo '' ;;
    run:--seed) echo '' ;;
    run:--cut) echo 'auto curve bricks bisection' ;;
    run:--carrier) echo 'auto peer nccl mpi' ;;
    run:--input | run:-i) echo 'FILE' ;;
    run:--format-in) echo 'libconfig minimd lammps' ;;
    run:--set) echo 'system.units= system.lattice= system.cells= system.lattice_constant= system.density= system.temperature= system.seed= system.velocity= system.mass= system.charges= system.read= system.keep_velocities= species= potential.style= potential.file= lj.epsilon= lj.sigma= lj.cutoff= lj.shift= lj.pairs= lj.mix= coulomb.method= coulomb.mesh= coulomb.order= coulomb.alpha= coulomb.cutoff= coulomb.tolerance= coulomb.spread= neighbor.skin= neighbor.every= neighbor.list= neighbor.stencil= neighbor.bin_size= neighbor.newton= order.curve= order.sort_every= run.steps= run.dt= run.thermo= device.backend= device.index= device.precision= device.threads= device.block_size= device.carveout= device.deterministic= device.cut= device.carrier= device.share_gpu= output.dump= output.dump_every= output.checkpoint= output.checkpoint_every=' ;;
    run:--dump) echo 'FILE' ;;
    run:--dump-every) echo '' ;;
    run:--checkpoint) echo 'FILE' ;;
    run:--checkpoint-every) echo '' ;;
    run:--restart) echo 'FILE' ;;
    run:--trace) echo 'FILE' ;;
    run:--format) echo 'table csv json' ;;
    run:--output | run:-o) echo 'FILE' ;;
    run:--plot) echo 'FILE' ;;
    ordering:--order) echo 'LIST none row column morton morton:kji hilbert hybrid gilbert random' ;;
    ordering:--size) echo '' ;;
    ordering:--stencil) echo '' ;;
    ordering:--format) echo 'table csv json' ;;
    ordering:--output | ordering:-o) echo 'FILE' ;;
    ordering:--plot) echo 'FILE' ;;
    cachemodel:--order) echo 'LIST none row column morton morton:kji hilbert hybrid gilbert random' ;;
    cachemodel:--size) echo '' ;;
    cachemodel:--stencil) echo '' ;;
    cachemodel:--line) echo '' ;;
    cachemodel:--capacity) echo 'LIST all' ;;
    cachemodel:--ways) echo '' ;;
    cachemodel:--policy) echo 'lru fifo' ;;
    cachemodel:--levels) echo '' ;;
    cachemodel:--format) echo 'table csv json' ;;
    cachemodel:--output | cachemodel:-o) echo 'FILE' ;;
    cachemodel:--plot) echo 'FILE' ;;
    cachemodel:--list) echo 'LIST full half tile' ;;
    cachemodel:--newton) echo 'on off' ;;
    cachemodel:--bin-size) echo '' ;;
    cachemodel:--sort-every) echo '' ;;
    cachemodel:--rebuild) echo 'check' ;;
    cachemodel:--skin) echo 'auto' ;;
    cachemodel:--pair) echo 'lj eam' ;;
    cachemodel:--potential) echo 'FILE' ;;
    cachemodel:--cutoff) echo '' ;;
    cachemodel:--backend) echo 'auto cpu gpu' ;;
    cachemodel:--device) echo '' ;;
    cachemodel:--precision) echo 'single mixed double' ;;
    cachemodel:--block-size) echo '' ;;
    cachemodel:--threads) echo '' ;;
    cachemodel:--cells) echo '' ;;
    cachemodel:--steps) echo '' ;;
    cachemodel:--dt) echo '' ;;
    cachemodel:--thermo) echo '' ;;
    cachemodel:--seed) echo '' ;;
    cachemodel:--cut) echo 'auto curve bricks bisection' ;;
    cachemodel:--carrier) echo 'auto peer nccl mpi' ;;
    cachemodel:--input | cachemodel:-i) echo 'FILE' ;;
    cachemodel:--format-in) echo 'libconfig minimd lammps' ;;
    cachemodel:--set) echo 'system.units= system.lattice= system.cells= system.lattice_constant= system.density= system.temperature= system.seed= system.velocity= system.mass= system.charges= system.read= system.keep_velocities= species= potential.style= potential.file= lj.epsilon= lj.sigma= lj.cutoff= lj.shift= lj.pairs= lj.mix= coulomb.method= coulomb.mesh= coulomb.order= coulomb.alpha= coulomb.cutoff= coulomb.tolerance= coulomb.spread= neighbor.skin= neighbor.every= neighbor.list= neighbor.stencil= neighbor.bin_size= neighbor.newton= order.curve= order.sort_every= run.steps= run.dt= run.thermo= device.backend= device.index= device.precision= device.threads= device.block_size= device.carveout= device.deterministic= device.cut= device.carrier= device.share_gpu= output.dump= output.dump_every= output.checkpoint= output.checkpoint_every=' ;;
    cachemodel:--machine) echo 'h200 host FILE' ;;
    cachemodel:--schedule) echo 'round lockstep random oldest' ;;
    cachemodel:--skip) echo '' ;;
    cachemodel:--stay) echo '' ;;
    cachemodel:--refill) echo 'dynamic waves' ;;
    cachemodel:--registers) echo '' ;;
    cachemodel:--rows) echo '' ;;
    cachemodel:--trace) echo 'FILE' ;;
    cachemodel:--trace-format) echo 'auto minimd text lackey dinero csv' ;;
    cachemodel:--line-bytes) echo '' ;;
    cachemodel:--regions) echo 'LIST ' ;;
    cachemodel:--worst) echo '' ;;
    compare:--order) echo 'LIST none row column morton morton:kji hilbert hybrid gilbert random' ;;
    compare:--list) echo 'LIST full half tile' ;;
    compare:--newton) echo 'on off' ;;
    compare:--stencil) echo 'block sphere' ;;
    compare:--bin-size) echo '' ;;
    compare:--sort-every) echo '' ;;
    compare:--rebuild) echo 'check' ;;
    compare:--skin) echo 'auto' ;;
    compare:--pair) echo 'lj eam' ;;
    compare:--potential) echo 'FILE' ;;
    compare:--cutoff) echo '' ;;
    compare:--backend) echo 'auto cpu gpu' ;;
    compare:--device) echo '' ;;
    compare:--precision) echo 'single mixed double' ;;
    compare:--block-size) echo '' ;;
    compare:--threads) echo '' ;;
    compare:--cells) echo '' ;;
    compare:--steps) echo '' ;;
    compare:--dt) echo '' ;;
    compare:--thermo) echo '' ;;
    compare:--seed) echo '' ;;
    compare:--cut) echo 'LIST ' ;;
    compare:--carrier) echo 'auto peer nccl mpi' ;;
    compare:--input | compare:-i) echo 'FILE' ;;
    compare:--format-in) echo 'libconfig minimd lammps' ;;
    compare:--set) echo 'system.units= system.lattice= system.cells= system.lattice_constant= system.density= system.temperature= system.seed= system.velocity= system.mass= system.charges= system.read= system.keep_velocities= species= potential.style= potential.file= lj.epsilon= lj.sigma= lj.cutoff= lj.shift= lj.pairs= lj.mix= coulomb.method= coulomb.mesh= coulomb.order= coulomb.alpha= coulomb.cutoff= coulomb.tolerance= coulomb.spread= neighbor.skin= neighbor.every= neighbor.list= neighbor.stencil= neighbor.bin_size= neighbor.newton= order.curve= order.sort_every= run.steps= run.dt= run.thermo= device.backend= device.index= device.precision= device.threads= device.block_size= device.carveout= device.deterministic= device.cut= device.carrier= device.share_gpu= output.dump= output.dump_every= output.checkpoint= output.checkpoint_every=' ;;
    compare:--repeat) echo '' ;;
    compare:--format) echo 'table csv json' ;;
    compare:--output | compare:-o) echo 'FILE' ;;
    compare:--plot) echo 'FILE' ;;
    tune:--order) echo 'none row column morton morton:kji hilbert hybrid gilbert random' ;;
    tune:--list) echo 'full half tile' ;;
    tune:--newton) echo 'on off' ;;
    tune:--stencil) echo 'block sphere' ;;
    tune:--bin-size) echo '' ;;
    tune:--sort-every) echo '' ;;
    tune:--rebuild) echo 'check' ;;
    tune:--skin) echo 'auto' ;;
    tune:--pair) echo 'lj eam' ;;
    tune:--potential) echo 'FILE' ;;
    tune:--cutoff) echo '' ;;
    tune:--backend) echo 'auto cpu gpu' ;;
    tune:--device) echo '' ;;
    tune:--precision) echo 'single mixed double' ;;
    tune:--block-size) echo '' ;;
    tune:--threads) echo '' ;;
    tune:--cells) echo '' ;;
    tune:--steps) echo '' ;;
    tune:--dt) echo '' ;;
    tune:--thermo) echo '' ;;
    tune:--seed) echo '' ;;
    tune:--cut) echo 'auto curve bricks bisection' ;;
    tune:--carrier) echo 'auto peer nccl mpi' ;;
    tune:--input | tune:-i) echo 'FILE' ;;
    tune:--format-in) echo 'libconfig minimd lammps' ;;
    tune:--set) echo 'system.units= system.lattice= system.cells= system.lattice_constant= system.density= system.temperature= system.seed= system.velocity= system.mass= system.charges= system.read= system.keep_velocities= species= potential.style= potential.file= lj.epsilon= lj.sigma= lj.cutoff= lj.shift= lj.pairs= lj.mix= coulomb.method= coulomb.mesh= coulomb.order= coulomb.alpha= coulomb.cutoff= coulomb.tolerance= coulomb.spread= neighbor.skin= neighbor.every= neighbor.list= neighbor.stencil= neighbor.bin_size= neighbor.newton= order.curve= order.sort_every= run.steps= run.dt= run.thermo= device.backend= device.index= device.precision= device.threads= device.block_size= device.carveout= device.deterministic= device.cut= device.carrier= device.share_gpu= output.dump= output.dump_every= output.checkpoint= output.checkpoint_every=' ;;
    tune:--for) echo '' ;;
    tune:--over) echo 'LIST ' ;;
    tune:--error) echo '' ;;
    tune:--trials) echo 'FILE' ;;
    tune:--format) echo 'table csv json' ;;
    tune:--output | tune:-o) echo 'FILE' ;;
    spread:--particles) echo '' ;;
    spread:--mesh) echo '' ;;
    spread:--order) echo '' ;;
    spread:--method) echo 'particle single tiled coloured gather group hybrid auto all' ;;
    spread:--vectors) echo '' ;;
    spread:--repeat) echo '' ;;
    spread:--backend) echo 'auto cpu gpu' ;;
    spread:--device) echo '' ;;
    spread:--precision) echo 'single mixed double' ;;
    spread:--distribution) echo 'FILE' ;;
    spread:--box) echo '' ;;
    spread:--seed) echo '' ;;
    spread:--threads) echo '' ;;
    spread:--format) echo 'table csv json' ;;
    spread:--output | spread:-o) echo 'FILE' ;;
    spread:--plot) echo 'FILE' ;;
    stokes:--input | stokes:-i) echo 'FILE' ;;
    stokes:--hydrodynamics) echo 'lubrication rpy full' ;;
    stokes:--lambda) echo '' ;;
    stokes:--force) echo '' ;;
    stokes:--algorithm) echo 'original mrhs' ;;
    stokes:--rhs) echo 'auto' ;;
    stokes:--guess) echo 'solve series' ;;
    stokes:--replicas) echo '' ;;
    stokes:--steps) echo '' ;;
    stokes:--dt) echo '' ;;
    stokes:--seed) echo '' ;;
    stokes:--gap-cut) echo '' ;;
    stokes:--gap-min) echo '' ;;
    stokes:--far-field) echo '' ;;
    stokes:--viscosity) echo '' ;;
    stokes:--method) echo 'iterative cholesky' ;;
    stokes:--tolerance) echo '' ;;
    stokes:--guess-tolerance) echo '' ;;
    stokes:--root) echo 'pairs chebyshev lanczos cholesky' ;;
    stokes:--root-tolerance) echo '' ;;
    stokes:--preconditioner) echo 'none jacobi' ;;
    stokes:--max-iterations) echo '' ;;
    stokes:--storage) echo 'bcrs single pair' ;;
    stokes:--backend) echo 'cpu gpu' ;;
    stokes:--device) echo '' ;;
    stokes:--threads) echo '' ;;
    stokes:--trajectory) echo 'FILE' ;;
    stokes:--trajectory-every) echo '' ;;
    stokes:--checkpoint) echo 'FILE' ;;
    stokes:--checkpoint-every) echo '' ;;
    stokes:--restart) echo 'FILE' ;;
    stokes:--format) echo 'table csv json' ;;
    stokes:--output | stokes:-o) echo 'FILE' ;;
    stokes:--plot) echo 'FILE' ;;
    gspmv:--matrix) echo 'mat1 mat2 mat3 FILE' ;;
    gspmv:--vectors) echo 'LIST ' ;;
    gspmv:--backend) echo 'cpu gpu' ;;
    gspmv:--device) echo '' ;;
    gspmv:--precision) echo 'single double' ;;
    gspmv:--storage) echo 'bcrs single pair' ;;
    gspmv:--rows) echo '' ;;
    gspmv:--repeat) echo '' ;;
    gspmv:--seed) echo '' ;;
    gspmv:--threads) echo '' ;;
    gspmv:--write) echo 'FILE' ;;
    gspmv:--nodes) echo 'LIST ' ;;
    gspmv:--latency) echo '' ;;
    gspmv:--network) echo '' ;;
    gspmv:--format) echo 'table csv json' ;;
    gspmv:--output | gspmv:-o) echo 'FILE' ;;
    gspmv:--plot) echo 'FILE' ;;
    mobility:--input | mobility:-i) echo 'FILE' ;;
    mobility:--case) echo 'FILE' ;;
    mobility:--tolerance) echo '' ;;
    mobility:--vectors) echo 'LIST ' ;;
    mobility:--observe) echo 'LIST ' ;;
    mobility:--hydrodynamics) echo 'lubrication rpy full' ;;
    mobility:--probes) echo '' ;;
    mobility:--waves) echo 'LIST ' ;;
    mobility:--gap-cut) echo '' ;;
    mobility:--gap-min) echo '' ;;
    mobility:--viscosity) echo '' ;;
    mobility:--backend) echo 'auto cpu gpu' ;;
    mobility:--device) echo '' ;;
    mobility:--precision) echo 'single double' ;;
    mobility:--repeat) echo '' ;;
    mobility:--seed) echo '' ;;
    mobility:--threads) echo '' ;;
    mobility:--format) echo 'table csv json' ;;
    mobility:--output | mobility:-o) echo 'FILE' ;;
    mobility:--plot) echo 'FILE' ;;
    pack:--particles) echo '' ;;
    pack:--occupancy) echo '' ;;
    pack:--radii) echo 'ecoli FILE' ;;
    pack:--output | pack:-o) echo 'FILE' ;;
    pack:--sweeps) echo '' ;;
    pack:--iterations) echo '' ;;
    pack:--seed) echo '' ;;
    pack:--threads) echo '' ;;
    pack:--contacts) echo 'FILE' ;;
    pack:--format) echo 'table csv json' ;;
    pack:--plot) echo 'FILE' ;;
    potential:--knots) echo '' ;;
    potential:--cutoff) echo '' ;;
    potential:--output | potential:-o) echo 'FILE' ;;
    profile:--order) echo 'LIST none row column morton morton:kji hilbert hybrid gilbert random' ;;
    profile:--list) echo 'LIST full half tile' ;;
    profile:--newton) echo 'on off' ;;
    profile:--stencil) echo 'block sphere' ;;
    profile:--bin-size) echo '' ;;
    profile:--sort-every) echo '' ;;
    profile:--rebuild) echo 'check' ;;
    profile:--skin) echo 'auto' ;;
    profile:--pair) echo 'lj eam' ;;
    profile:--potential) echo 'FILE' ;;
    profile:--cutoff) echo '' ;;
    profile:--backend) echo 'auto cpu gpu' ;;
    profile:--device) echo '' ;;
    profile:--precision) echo 'single mixed double' ;;
    profile:--block-size) echo '' ;;
    profile:--threads) echo '' ;;
    profile:--cells) echo '' ;;
    profile:--steps) echo '' ;;
    profile:--dt) echo '' ;;
    profile:--thermo) echo '' ;;
    profile:--seed) echo '' ;;
    profile:--cut) echo 'auto curve bricks bisection' ;;
    profile:--carrier) echo 'auto peer nccl mpi' ;;
    profile:--input | profile:-i) echo 'FILE' ;;
    profile:--format-in) echo 'libconfig minimd lammps' ;;
    profile:--set) echo 'system.units= system.lattice= system.cells= system.lattice_constant= system.density= system.temperature= system.seed= system.velocity= system.mass= system.charges= system.read= system.keep_velocities= species= potential.style= potential.file= lj.epsilon= lj.sigma= lj.cutoff= lj.shift= lj.pairs= lj.mix= coulomb.method= coulomb.mesh= coulomb.order= coulomb.alpha= coulomb.cutoff= coulomb.tolerance= coulomb.spread= neighbor.skin= neighbor.every= neighbor.list= neighbor.stencil= neighbor.bin_size= neighbor.newton= order.curve= order.sort_every= run.steps= run.dt= run.thermo= device.backend= device.index= device.precision= device.threads= device.block_size= device.carveout= device.deterministic= device.cut= device.carrier= device.share_gpu= output.dump= output.dump_every= output.checkpoint= output.checkpoint_every=' ;;
    profile:--at) echo 'LIST ' ;;
    profile:--launches) echo '' ;;
    profile:--caches) echo 'LIST ' ;;
    profile:--counters) echo 'on off' ;;
    profile:--model) echo 'on off' ;;
    profile:--replay) echo 'application kernel' ;;
    profile:--machine) echo 'h200 FILE' ;;
    profile:--with) echo 'perf cachegrind model' ;;
    profile:--format) echo 'table csv json' ;;
    profile:--output | profile:-o) echo 'FILE' ;;
    profile:--plot) echo 'FILE' ;;
    config:--format) echo 'table csv json' ;;
    config:--output | config:-o) echo 'FILE' ;;
    convert:--order) echo 'none row column morton morton:kji hilbert hybrid gilbert random' ;;
    convert:--list) echo 'full half tile' ;;
    convert:--newton) echo 'on off' ;;
    convert:--stencil) echo 'block sphere' ;;
    convert:--bin-size) echo '' ;;
    convert:--sort-every) echo '' ;;
    convert:--rebuild) echo 'check' ;;
    convert:--skin) echo 'auto' ;;
    convert:--pair) echo 'lj eam' ;;
    convert:--potential) echo 'FILE' ;;
    convert:--cutoff) echo '' ;;
    convert:--backend) echo 'auto cpu gpu' ;;
    convert:--device) echo '' ;;
    convert:--precision) echo 'single mixed double' ;;
    convert:--block-size) echo '' ;;
    convert:--threads) echo '' ;;
    convert:--cells) echo '' ;;
    convert:--steps) echo '' ;;
    convert:--dt) echo '' ;;
    convert:--thermo) echo '' ;;
    convert:--seed) echo '' ;;
    convert:--cut) echo 'auto curve bricks bisection' ;;
    convert:--carrier) echo 'auto peer nccl mpi' ;;
    convert:--input | convert:-i) echo 'FILE' ;;
    convert:--format-in) echo 'libconfig minimd lammps' ;;
    convert:--set) echo 'system.units= system.lattice= system.cells= system.lattice_constant= system.density= system.temperature= system.seed= system.velocity= system.mass= system.charges= system.read= system.keep_velocities= species= potential.style= potential.file= lj.epsilon= lj.sigma= lj.cutoff= lj.shift= lj.pairs= lj.mix= coulomb.method= coulomb.mesh= coulomb.order= coulomb.alpha= coulomb.cutoff= coulomb.tolerance= coulomb.spread= neighbor.skin= neighbor.every= neighbor.list= neighbor.stencil= neighbor.bin_size= neighbor.newton= order.curve= order.sort_every= run.steps= run.dt= run.thermo= device.backend= device.index= device.precision= device.threads= device.block_size= device.carveout= device.deterministic= device.cut= device.carrier= device.share_gpu= output.dump= output.dump_every= output.checkpoint= output.checkpoint_every=' ;;
    convert:--output | convert:-o) echo 'FILE' ;;
    convert:--to) echo 'libconfig data xyz' ;;
    info:--format) echo 'table csv json' ;;
    info:--output | info:-o) echo 'FILE' ;;
    docs:--form) echo 'man bash zsh fish guide style' ;;
    docs:--output | docs:-o) echo 'FILE' ;;
    *) return 1 ;;
  esac
}

_minimd()
{
  local at=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]} prev begun= command=run before= reply
  while ((at > 1)) && [[ ${COMP_WORDS[at]} = : || ${COMP_WORDS[at-1]} = : ]]; do
    at=$((at - 1)) cur=${COMP_WORDS[at]}$cur
  done
  if [[ $COMP_WORDBREAKS = *:* ]]; then begun=${cur%"${cur##*:}"}; fi
  prev=${COMP_WORDS[at-1]}
  case $cur in
    =) cur= ;;
    --*=*) prev=${cur%%=*} before=${cur%%=*}= cur=${cur#*=} ;;
    *) if [ "$prev" = = ]; then prev=${COMP_WORDS[at-2]}; fi ;;
  esac
  if [[ " $(_minimd_commands) " = *" ${COMP_WORDS[1]} "* ]]; then command=${COMP_WORDS[1]}; fi
  COMPREPLY=()
  if reply=$(_minimd_values "$command" "$prev"); then
    if [[ $reply = *LIST* ]]; then
      if [[ $cur = *,* ]]; then before=$before${cur%,*}, cur=${cur##*,}; fi
      compopt -o nospace
    fi
    if [[ $reply = *FILE* ]]; then
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -P "$before" -f -- "$cur")
    fi
    if [ "$prev" = --set ]; then compopt -o nospace; fi
    reply=${reply//FILE/} reply=${reply//LIST/}
  elif ((at > 2)) && [[ ${COMP_WORDS[at]} = = || ${COMP_WORDS[at-1]} = = ]]; then
    return
  else
    reply=$(_minimd_options "$command")
    if [ "$COMP_CWORD" = 1 ]; then reply="$(_minimd_commands) --version $reply"; fi
    if [ "$command" = help ]; then reply=$(_minimd_commands); fi
  fi
  mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -P "$before" -W "$reply" -- "$cur")
  COMPREPLY=("${COMPREPLY[@]#"$begun"}")
}
complete -F _minimd minimd

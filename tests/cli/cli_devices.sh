#!/bin/sh
# tests/cli/cli_devices.sh MINIMD - which CUDA device a run takes, and what it says where there is none.
. tests/cli/cli.sh

run="--cells 4 --steps 2"
expect 2 --device last $run
says 'device\.index = last: expected an integer in 0\.\.1023 \| first'
expect 2 --device -1 $run
says 'device\.index = -1: expected an integer in 0\.\.1023'
expect 2 --device 1.0 $run
says 'device\.index = 1\.0: expected an integer'
expect 0 --device 1 $run --check
prints 'device\.index +1 +--device'
# Without meaning on the CPU.
expect 0 --backend cpu --device 7 $run
# No machine has so many; a build without CUDA, and a machine without a device, say that.
expect 4 --device 1023 $run
says 'no CUDA device 1023: expected 0\.\.|no CUDA device found|this build has no CUDA'
expect 4 --backend gpu --device 1023 $run
says 'no CUDA device 1023: expected 0\.\.|no CUDA device found|this build has no CUDA'

# So do the other commands that compute.
expect 0 pack --particles 60 --radii inputs/radii.two --occupancy 0.1 --sweeps 1 -o "$dir/spheres" --quiet
for command in 'spread --particles 9 --mesh 8 --order 4 --repeat 1' 'gspmv --matrix mat1 --rows 2000 --vectors 1 --repeat 1' \
  "stokes -i $dir/spheres --steps 1"; do
  expect 2 $command --device last
  says 'device: expected an integer in 0\.\.1023, not .last'
  expect 2 $command --backend cpu --device 1024
  says 'device: expected an integer'
  expect 0 $command --backend cpu --device 7 --quiet
  expect 4 $command --backend gpu --device 1023
  says 'no CUDA device 1023: expected 0\.\.|no CUDA device found|this build has no CUDA'
done

# auto says why it takes the CPU.
CUDA_VISIBLE_DEVICES=-1 expect 0 $run
prints '^backend +cpu \((no CUDA device found \(.*\)|this build has no CUDA)'
expect 0 info
prints '^gpu '

finish

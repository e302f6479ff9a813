#!/bin/sh
# tests/cli/cli_kernels.sh MINIMD - the cache model's table of kernels is what the compiler made of them: registers of a
# thread, as ptxas reported beside each object.
. tests/cli/cli.sh

objects=$(dirname "$minimd")/obj/force
if [ ! -e "$objects/force_full_gpu.prec.p0.cu.ptxas" ]; then
  echo "0 cases, 0 failures (built without CUDA)"
  exit 0
fi
precision=0
for word in single mixed double; do
  for case in full,lj,plain half,lj,plain full,kob-andersen,plain_typed half,kob-andersen,plain_typed; do
    list=${case%%,*} input=${case#*,} of=${case##*,}
    compiled=$(awk -v kernel="${list}_${of}10" '/Compiling entry function/ { ours = index($0, kernel) }
      ours && /Used [0-9]+ registers/ { sub(/.*Used /, ""); print $1; exit }' \
      "$objects/force_${list}_gpu.prec.p$precision.cu.ptxas")
    expect 0 cachemodel -i "inputs/in.${input%,*}" --cells 6 --steps 0 --backend cpu --machine h200 --list $list --precision $word
    grep -q " $compiled registers" "$dir/err" ||
      fail "$list lists, $word, $of: ${compiled:-no} registers compiled, the model says: $(cat "$dir/err")"
  done
  precision=$((precision + 1))
done
finish

#!/usr/bin/env bash
# Checks the CUDA family on a GPU of this computer, in under six minutes: that kernels come out as
# on the simulator, that the interpreter of PTX does what the device does, that measurements can
# be trusted, and how long kernels take beside what the simulator says.
#
#   benches/device/cuda.sh pack FOLDER       here: fills FOLDER with all that is needed there
#   benches/device/cuda.sh FOLDER [RESULTS]  there: no network, no Rust, no compiler needed
#
# KERNELS=FOLDER packs kernels beside those of problems (PROBLEM__NAME.cu, without cuda/), such as a
# search has found; PROGRAM is the program that proposes kernels for large shapes.
#
# Results are tables in RESULTS (or $OUT, or a new folder). Each part has a time limit and says
# whether it ran; one that fails takes no other with it. FAKE=libfake.so tries the script with a
# driver that has no GPU (crates/families/cuda/family/examples/emulated-driver.rs). PARTS="kernels
# faults" runs these alone: special corners pairs kernels plain programs faults large vendor.
set -u
export LC_ALL=C
ARCHITECTURE=${ARCHITECTURE:-sm90}

# Shapes that no simulator runs in full, with what the rewriter makes of the naive kernels.
large() {
  while read -r name change; do
    problem=$folder/kernels/problems/$name
    cp -r "problems/cuda/$name" "$problem"
    # The first instance alone, in another size.
    awk '/^\[\[instance/ { n += 1; left = n > 1 } /^$/ { left = 0 } !left' \
      "problems/cuda/$name/family.toml" | sed "$change" > "$problem/family.toml"
    "${PROGRAM:-target/release/autocomp}" propose "$problem" --count 4 \
      --target "cuda-$ARCHITECTURE" --out "$problem/drafts" > /dev/null || continue
    for draft in "$problem"/drafts/*.cu; do
      mv "$draft" "$problem/$(basename "$draft" | tr - _)"
    done
    rm -r "$problem/drafts"
  done << 'LARGE'
gemm-f16 s/= 256/= 4096/
gemm-bf16 s/= 256/= 4096/
gemm-i8 s/= 256/= 4096/
gemm s/= 512/= 4096/
softmax s/M = 1024/M = 8192/;s/N = 1024/N = 4096/
rmsnorm s/M = 1024/M = 8192/;s/N = 1024/N = 4096/
transpose s/= 1024/= 4096/
gelu s/= 1048576/= 33554432/
reduce-sum s/= 1048576/= 33554432/
histogram s/= 1048576/= 33554432/
LARGE
  target/debug/examples/on-device pack-large "cache=$cache" "$folder/kernels" \
    "cuda-$ARCHITECTURE" "$folder"/kernels/problems/*
}

pack() {
  set -e
  folder=$1
  cache=${AUTOCOMP_CACHE_DIR:-$HOME/.cache/autocomp}
  CARGO_INCREMENTAL=0 cargo build -q -p autocomp-cuda --features examples --example on-device
  rm -rf "$folder"
  mkdir -p "$folder/kernels"
  target/debug/examples/on-device pack "cache=$cache" "$folder/kernels" "cuda-$ARCHITECTURE"
  mkdir "$folder/kernels/found" "$folder/kernels/problems"
  [ -z "${KERNELS:-}" ] || cp "$KERNELS"/*__*.cu "$folder/kernels/found"
  large
  tar -cJf "$folder/kernels.tar.xz" -C "$folder" kernels
  rm -r "$folder/kernels"
  cp target/debug/examples/on-device "$folder/on-device"
  strip "$folder/on-device"
  xz -9 "$folder/on-device"
  # With the pinned compiler, kernels are compiled there, and references are computed.
  tar -cf "$folder/toolchains.tar" -C "$cache/toolchains" .
  xz --x86 --lzma2=preset=9,dict=192MiB "$folder/toolchains.tar"
  du -sh "$folder"
}

if [ "${1:-}" = pack ] && [ $# = 2 ]; then
  pack "$2"
  exit
fi
if [ $# -lt 1 ] || [ ! -d "$1" ]; then
  sed -n '2,15p' "$0" | cut -c3-
  exit 2
fi

carried=$(cd "$1" && pwd)
results=${2:-${OUT:-}}
[ -n "$results" ] || results=$(mktemp -d)
mkdir -p "$results"
results=$(cd "$results" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
began=$(date +%s)
# All parts together; each gets what is left at most.
total=${TOTAL:-345}
log=$results/log.txt
: > "$log"
processes=$(nproc 2>/dev/null || echo 2)
[ "$processes" -gt 10 ] && processes=10

say() { echo "$*" | tee -a "$log"; }
left() { echo $((total - $(date +%s) + began)); }

# part NAME SECONDS COMMAND…: runs it within its time, standard output into NAME.tsv.
part() {
  name=$1
  seconds=$2
  shift 2
  case " ${PARTS:-$name} " in
    *" $name "*) ;;
    *) return 1 ;;
  esac
  [ "$seconds" -gt "$(left)" ] && seconds=$(left)
  if [ "$seconds" -lt 3 ]; then
    say "not run: $name (no time is left)"
    return 1
  fi
  from=$(date +%s)
  timeout -k 5 "$seconds" "$@" > "$results/$name.tsv" 2>> "$log"
  code=$?
  rows=$(wc -l < "$results/$name.tsv")
  took=$(($(date +%s) - from))
  case $code in
    0) say "ran: $name ($rows rows, $took s)" ;;
    124 | 137) say "cut: $name after $seconds s ($rows rows so far)" ;;
    *) say "failed: $name (exit code $code, $rows rows, $took s; see log.txt)" ;;
  esac
  return $code
}

unpack() {
  xz -dc < "$carried/on-device.xz" > "$work/on-device" || python3 -c '
import lzma, sys
open(sys.argv[2], "wb").write(lzma.open(sys.argv[1]).read())' "$carried/on-device.xz" "$work/on-device"
  chmod +x "$work/on-device"
  mkdir -p "$work/cache/toolchains"
  for archive in kernels:. toolchains:cache/toolchains; do
    file=$carried/${archive%%:*}.tar.xz
    [ -e "$file" ] || continue
    tar -xJf "$file" -C "$work/${archive##*:}" 2>> "$log" || python3 -c '
import sys, tarfile
tarfile.open(sys.argv[1]).extractall(sys.argv[2], filter="fully_trusted")' "$file" "$work/${archive##*:}" 2>> "$log"
  done
}

on_device=$work/on-device
run() {
  command=$1
  shift
  "$on_device" "$command" "cache=$work/cache" "library=${FAKE:-}" \
    "kernels=$work/kernels/found" "$@"
}
export -f run
export on_device work FAKE

# in_parallel COMMAND SECONDS ARGUMENT… -- NAME…: one process for each name, their rows together.
in_parallel() {
  command=$1
  shift
  fixed=()
  while [ "$1" != -- ]; do
    fixed+=("$1")
    shift
  done
  shift
  printf '%s\n' "$@" | xargs -P "$processes" -I NAME bash -c 'run "$@" 2>&1' _ "$command" "${fixed[@]}" NAME
}
export -f in_parallel
export processes

fuzz() {
  seq 0 $((processes - 1)) | xargs -P "$processes" -I SEED bash -c 'run "$@" 2>&1' _ programs "$1" SEED "$processes"
}
export -f fuzz

say "$(date -u +%FT%TZ) $(uname -rm), $(nproc) processors"
unpack
if [ ! -x "$on_device" ] || ! "$on_device" problems > "$work/problems" 2>> "$log"; then
  say "not run: anything (the program of $carried does not start here)"
  exit 3
fi
{
  timeout 20 nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,clocks.max.sm,power.draw,temperature.gpu,mig.mode.current,compute_mode --format=csv || true
  timeout 20 nvidia-smi --query-compute-apps=pid,name --format=csv || true
  timeout 20 nvcc --version || true
} > "$results/environment.txt" 2>&1
if ! PARTS="" part environment 60 "$on_device" environment "library=${FAKE:-}"; then
  say "not run: everything else (no GPU that can be used here: $(grep '^environment:' "$log" | tail -1))"
  exit 3
fi
cat "$results/environment.tsv"
# Few files are wanted back.
cat "$results/environment.tsv" >> "$results/environment.txt"
rm "$results/environment.tsv"

mapfile -t problems < "$work/problems"
if part special 40 "$on_device" special "library=${FAKE:-}"; then
  cat "$results/special.tsv"
fi
if part corners 60 "$on_device" corners "library=${FAKE:-}"; then
  say "corners: $(grep -c -P '\t0 *$' "$results/corners.tsv") instructions alike, $(grep -v -c -P '\t0 *$' "$results/corners.tsv") otherwise"
  grep -v -P '\t0 *$' "$results/corners.tsv" | cut -c1-150
fi
if part pairs 95 "$on_device" pairs "library=${FAKE:-}" 100 33 "$work/kernels"; then
  cat "$results/pairs.tsv"
fi
right=0
if part kernels 170 bash -c 'in_parallel kernels -- "$@"' _ "${problems[@]}" || [ -s "$results/kernels.tsv" ]; then
  right=$(grep -c -P '\tok\t' "$results/kernels.tsv")
  say "kernels: $right right on simulator, reference and device; $(grep -v -c -P '\tok\t' "$results/kernels.tsv") otherwise"
  grep -v -P '\tok\t' "$results/kernels.tsv" | cut -c1-300 | head -12
fi
if [ "$right" -lt 10 ] && part plain 80 bash -c 'in_parallel plain "$work/kernels" -- "$@"' _ "${problems[@]}"; then
  # Where the compiler or references do not run here: kernels compiled before, simulator's answers.
  say "plain: $(grep -c 'as the simulator' "$results/plain.tsv") as the simulator, $(grep -v -c 'as the simulator' "$results/plain.tsv") otherwise"
fi
if part programs 75 bash -c 'fuzz 45'; then
  awk -F'\t' '$1 == "programs" { n += $2; d += $4 } END { print "programs: " n+0 " compared, " d+0 " different" }' "$results/programs.tsv" | tee -a "$log"
  grep -h '^different' "$results/programs.tsv" | head -5
fi
if part faults 75 "$on_device" faults "library=${FAKE:-}"; then
  cut -c1-200 "$results/faults.tsv"
fi
shapes=()
for problem in "$work"/kernels/problems/*; do
  [ -d "$problem" ] && shapes+=("$problem")
done
if part large 120 "$on_device" large "library=${FAKE:-}" "$work/kernels" "${shapes[@]}"; then
  cut -c1-120 "$results/large.tsv"
fi
if part vendor 60 python3 "$(dirname "$0")/vendor.py" \
  $(sed s,cuda/,, "$work/problems") $(cut -f1 "$results/large.tsv" 2>> "$log" | sed s,.*/,, | sort -u); then
  cat "$results/vendor.tsv"
fi
{
  timeout 20 nvidia-smi --query-gpu=clocks.sm,clocks.mem,power.draw,temperature.gpu --format=csv || true
} >> "$results/environment.txt" 2>&1
say "done after $(($(date +%s) - began)) s; tables in $results"

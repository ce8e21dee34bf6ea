#!/bin/sh
# build.sh : compiles the programs in src/ into elf/, in the environment of the
# suite beside this one. Needs: pip install ziglang==0.17.0
set -e
here=$(cd "$(dirname "$0")" && pwd)
suite=../../gemmini-rtl/src
for b in ${*:-$(cd "$here/src" && ls *.c | sed s,.c$,,)}; do
  (cd "$here/src" && ${ZIG:-${PYTHON:-python3} -m ziglang} cc --target=riscv64-freestanding-none -mcpu=baseline_rv64 \
    -mcmodel=medany -O2 -Xclang -O3 -ffreestanding -fno-builtin -nostdlib -static \
    -fomit-frame-pointer -fno-sanitize=undefined -fno-stack-protector \
    -fno-asynchronous-unwind-tables -UNDEBUG -I"$suite" -fdebug-compilation-dir=. -ffile-prefix-map="$here"=. \
    -T "$suite/cal.ld" "$suite/start.S" "$b.c" -o "../elf/$b.elf")
done

#!/bin/sh
# Makes the flat programs from C with clang 22, here that of Zig 0.17:
#     CC="zig cc" OBJCOPY=llvm-objcopy sh build.sh
# They begin at 0x8000_0000 and never end.
set -e
build() {
    $CC -target riscv64-freestanding-none -mcpu=baseline_rv64+m+a+f+d+c -mcmodel=medany "$3" \
        -ffreestanding -fno-math-errno -fno-builtin -fno-vectorize -fno-slp-vectorize \
        -fno-sanitize=all -fno-stack-protector -fno-unwind-tables \
        -fno-asynchronous-unwind-tables -nostdlib -Wl,-T,link.ld -o "$2.elf" "$1.c"
    $OBJCOPY -O binary "$2.elf" "$2.bin"
    rm "$2.elf"
}
for source in *.c; do
    build "${source%.c}" "${source%.c}" -O2
done
# As it is debugged.
build records records-unoptimized -O0

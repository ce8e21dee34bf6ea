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
# With vectors of 128 bits and more.
for source in vectors/*.c; do
    $CC -target riscv64-freestanding-none -mcpu=baseline_rv64+m+a+f+d+c+v -mcmodel=medany -O2 \
        -ffreestanding -fno-vectorize -fno-slp-vectorize -fno-sanitize=all -fno-stack-protector \
        -fno-unwind-tables -fno-asynchronous-unwind-tables -nostdlib -Wl,-T,link.ld \
        -o "${source%.c}.elf" "$source"
    $OBJCOPY -O binary "${source%.c}.elf" "${source%.c}.bin"
    rm "${source%.c}.elf"
done

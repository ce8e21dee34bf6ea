/* Entry of a kernel program in machine mode.

   The host places buffers, sets a0..a7 to the kernel's arguments and starts
   here, or starts at the kernel itself with ra = autocomp_return. The kernel
   has finished when control reaches autocomp_return. */
#ifndef AUTOCOMP_ENTRY
#define AUTOCOMP_ENTRY solution
#endif

    .section .text.start, "ax", @progbits
    .globl _start
    .type _start, @function
_start:
    .option push
    .option norelax
    lla     gp, __global_pointer$
    .option pop
    lla     sp, __stack_top
    li      t0, 0x1e000                 /* floating point and accelerator state: dirty */
    csrs    mstatus, t0
    csrwi   fcsr, 0
    lla     t0, autocomp_trap
    csrw    mtvec, t0
    li      t0, -1                      /* all memory open to the accelerator's DMA */
    csrw    pmpaddr0, t0
    li      t0, 0x1f
    csrw    pmpcfg0, t0
    call    AUTOCOMP_ENTRY
    .globl autocomp_return
autocomp_return:
    fence
    li      t0, 1                       /* exit code 0 */
    lla     t1, tohost
    sd      t0, 0(t1)
1:  j       1b

    .balign 4
    .globl autocomp_trap
autocomp_trap:
    csrr    t0, mcause
    slli    t0, t0, 1
    addi    t0, t0, 0x201               /* exit code 256 + cause */
    lla     t1, tohost
    sd      t0, 0(t1)
2:  j       2b

    .section .tohost, "aw", @progbits
    .globl tohost
    .globl fromhost
    .balign 64
tohost:
    .dword  0
    .balign 64
fromhost:
    .dword  0

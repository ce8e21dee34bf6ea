// expect: rejected
// Puts a loop of assembly beside the kernel.
__asm__(".globl solution\nsolution: ret");

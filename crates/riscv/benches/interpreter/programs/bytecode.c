// An interpreter of bytecode: one jump by table for each operation.

#include "program.h"

enum { PUSH, LOAD, STORE, ADD, SUB, MUL, LT, JZ, JMP, PRINT, DUP, DROP, HALT };

static const u8 prog[] = {PUSH, 0,   STORE, 0,  PUSH, 1,     STORE, 1,    LOAD,  0,
                          PUSH, 100, LT,    JZ, 36,   LOAD,  1,     LOAD, 0,     DUP,
                          MUL,  ADD, PUSH,  3,  SUB,  STORE, 1,     LOAD, 0,     PUSH,
                          1,    ADD, STORE, 0,  JMP,  8,     LOAD,  1,    PRINT, HALT};
static i64 vars[4], result;

NOINLINE static void run(const u8 *c) {
    i64 stack[16], *sp = stack;
    const u8 *p = c;
    for (;;)
        switch (*p++) {
        case PUSH:
            *sp++ = *p++;
            break;
        case LOAD:
            *sp++ = vars[*p++];
            break;
        case STORE:
            vars[*p++] = *--sp;
            break;
        case ADD:
            sp--;
            sp[-1] += sp[0];
            break;
        case SUB:
            sp--;
            sp[-1] -= sp[0];
            break;
        case MUL:
            sp--;
            sp[-1] *= sp[0];
            break;
        case LT:
            sp--;
            sp[-1] = sp[-1] < sp[0];
            break;
        case JZ:
            if (!*--sp)
                p = c + *p;
            else
                p++;
            break;
        case JMP:
            p = c + *p;
            break;
        case PRINT:
            result ^= *--sp;
            break;
        case DUP:
            *sp = sp[-1];
            sp++;
            break;
        case DROP:
            sp--;
            break;
        default:
            return;
        }
}

MAIN {
    for (;;)
        run(prog);
}

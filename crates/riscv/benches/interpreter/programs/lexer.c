// A state machine over a text: branches hard to predict.

#include "program.h"

static const char text[] =
    "int main(int argc, char **argv) { double x = 3.25e-1; /* a comment */ if (argc > 1 && x <= "
    "10) { return foo(\"a string\\n\", 'c') + 0x1f; } for (i = 0; i != 100; ++i) sum += table[i] * "
    "weight[i] >> 2; // end\n while (p->next) p = p->next; return -1; }\n";
static int counts[12];
MAIN {
    for (;;) {
        int state = 0;
        for (const char *p = text; *p; p++) {
            char c = *p;
            switch (state) {
            case 0:
                if (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_')
                    state = 1;
                else if (c >= '0' && c <= '9')
                    state = 2;
                else
                    switch (c) {
                    case ' ':
                    case '\n':
                    case '\t':
                        break;
                    case '"':
                        state = 3;
                        break;
                    case '\'':
                        state = 4;
                        break;
                    case '/':
                        state = 5;
                        break;
                    case '<':
                    case '>':
                    case '=':
                    case '!':
                    case '+':
                    case '-':
                    case '&':
                        state = 8;
                        break;
                    default:
                        counts[8]++;
                    }
                break;
            case 1:
                if (!(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
                      c == '_')) {
                    counts[1]++;
                    state = 0;
                    p--;
                }
                break;
            case 2:
                if (!(c >= '0' && c <= '9' || c == '.' || c == 'x' || c >= 'a' && c <= 'f')) {
                    counts[2]++;
                    state = 0;
                    p--;
                }
                break;
            case 3:
                if (c == '\\')
                    state = 9;
                else if (c == '"') {
                    counts[3]++;
                    state = 0;
                }
                break;
            case 4:
                if (c == '\'') {
                    counts[4]++;
                    state = 0;
                }
                break;
            case 5:
                if (c == '*')
                    state = 6;
                else if (c == '/')
                    state = 10;
                else {
                    counts[5]++;
                    state = 0;
                }
                break;
            case 6:
                if (c == '*')
                    state = 7;
                break;
            case 7:
                if (c == '/') {
                    counts[6]++;
                    state = 0;
                } else if (c != '*')
                    state = 6;
                break;
            case 8:
                counts[7]++;
                state = 0;
                if (c != '=' && c != '+' && c != '&' && c != '>')
                    p--;
                break;
            case 9:
                state = 3;
                break;
            case 10:
                if (c == '\n') {
                    counts[9]++;
                    state = 0;
                }
                break;
            }
        }
        KEEP(counts);
    }
}

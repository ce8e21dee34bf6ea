#include <math.h>

void reference(const float x[4096][7168], float y[4096][7168]) {
    for (int i = 0; i < 4096; i++)
        for (int j = 0; j < 7168; j++) y[i][j] = (float)(x[i][j] / (1.0 + exp(-(double)x[i][j])));
}

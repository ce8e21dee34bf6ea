int i = blockIdx.x * blockDim.x + threadIdx.x;
y[i] = a * x[i] + y[i];

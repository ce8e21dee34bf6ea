__shared__ float tile[32][33];
tile[threadIdx.y][threadIdx.x] = in[y * N + x];
__syncthreads();
out[x2 * M + y2] = tile[threadIdx.x][threadIdx.y];

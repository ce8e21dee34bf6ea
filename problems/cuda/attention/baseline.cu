// Three launches: scores, softmax, weighted sum.
__global__ void scores(const float* q, const float* k, float* s) {
  int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
  float dot = 0.0f;
  for (int d = 0; d < {{ D }}; d++) dot += q[i * {{ D }} + d] * k[j * {{ D }} + d];
  s[i * {{ S }} + j] = j <= i ? dot / sqrtf({{ D }}) : -INFINITY;
}

__global__ void softmax(float* s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float top = -INFINITY, sum = 0.0f;
  for (int j = 0; j <= i; j++) top = fmaxf(top, s[i * {{ S }} + j]);
  for (int j = 0; j <= i; j++) sum += expf(s[i * {{ S }} + j] - top);
  for (int j = 0; j < {{ S }}; j++) s[i * {{ S }} + j] = j <= i ? expf(s[i * {{ S }} + j] - top) / sum : 0.0f;
}

__global__ void weigh(const float* s, const float* v, float* o) {
  int d = threadIdx.x, i = blockIdx.x;
  float sum = 0.0f;
  for (int j = 0; j < {{ S }}; j++) sum += s[i * {{ S }} + j] * v[j * {{ D }} + d];
  o[i * {{ D }} + d] = sum;
}

void solution(const float* Q, const float* K, const float* V, float* O) {
  float* s;
  cudaMalloc(&s, {{ S }} * {{ S }} * sizeof(float));
  scores<<<dim3({{ S }} / 16, {{ S }} / 16), dim3(16, 16)>>>(Q, K, s);
  softmax<<<{{ S }} / 64, 64>>>(s);
  weigh<<<{{ S }}, {{ D }}>>>(s, V, O);
}

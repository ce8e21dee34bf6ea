int i = blockIdx.x * blockDim.x + threadIdx.x;
float4 u = reinterpret_cast<const float4*>(x)[i];
float4 v = reinterpret_cast<float4*>(y)[i];
v.x += a * u.x; v.y += a * u.y; v.z += a * u.z; v.w += a * u.w;
reinterpret_cast<float4*>(y)[i] = v;

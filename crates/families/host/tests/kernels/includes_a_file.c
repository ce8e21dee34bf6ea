// build_failed compile-error
#include "/etc/passwd"
void solution(float x[3000], float y[3000]) {}

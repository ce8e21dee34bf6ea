void solution(float x[1]) { x[0] = 100; }

// expect: rejected
// Hides the word for assembly from those who read the text.
#define PASTE(a, b) a##b
void solution(float X[5][333], float S[5]) {
  PASTE(__as, m__) volatile("nop");
  S[0] = 0;
}

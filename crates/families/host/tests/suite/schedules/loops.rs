//! Loops that are no plain products.

use super::{CLOSE, REAL, problem, walk};

#[test]
fn rows_that_are_summed_and_scaled_stay_right() {
    let signature = "float X[9][333], float Y[9][333]";
    let buffers = [
        ("X", "float32", "9, 333", "input"),
        ("Y", "float32", "9, 333", "output"),
    ];
    let text = problem(signature, CLOSE, &buffers, &format!("fill.X = {REAL}"));
    let plain = "void solution(float X[9][333], float Y[9][333]) {
  for (int i = 0; i < 9; i++) {
    float top = X[i][0];
    for (int j = 1; j < 333; j++) {
      top = X[i][j] > top ? X[i][j] : top;
    }
    float sum = 0.0f;
    for (int j = 0; j < 333; j++) {
      Y[i][j] = expf(X[i][j] - top) + tanhf(X[i][j]);
      sum += Y[i][j];
    }
    for (int j = 0; j < 333; j++) {
      Y[i][j] /= sum;
    }
  }
}
";
    walk(&text, plain, 6);
}

#[test]
fn transpositions_stay_right() {
    let signature = "float X[37][50], float Y[50][37]";
    let buffers = [
        ("X", "float32", "37, 50", "input"),
        ("Y", "float32", "50, 37", "output"),
    ];
    let text = problem(
        signature,
        "kind = \"exact\"",
        &buffers,
        &format!("fill.X = {REAL}"),
    );
    let plain = "void solution(float X[37][50], float Y[50][37]) {
  for (int i = 0; i < 37; i++) {
    for (int j = 0; j < 50; j++) {
      Y[j][i] = X[i][j];
    }
  }
}
";
    walk(&text, plain, 6);
}

#[test]
fn running_sums_stay_right() {
    let buffers = [
        ("X", "int32", "1003", "input"),
        ("Y", "int32", "1003", "output"),
    ];
    let fill = "fill.X = { kind = \"uniform\", low = -9, high = 9 }";
    let text = problem(
        "int32_t X[1003], int32_t Y[1003]",
        "kind = \"exact\"",
        &buffers,
        fill,
    );
    let plain = "void solution(int32_t X[1003], int32_t Y[1003]) {
  int32_t sum = 0;
  for (int i = 0; i < 1003; i++) {
    sum += X[i];
    Y[i] = sum;
  }
}
";
    walk(&text, plain, 4);
}

#[test]
fn counters_stay_right() {
    let buffers = [
        ("X", "int32", "1003", "input"),
        ("H", "int32", "17", "output"),
    ];
    let fill = "fill.X = { kind = \"uniform\", low = 0, high = 16 }";
    let text = problem(
        "int32_t X[1003], int32_t H[17]",
        "kind = \"exact\"",
        &buffers,
        fill,
    );
    let plain = "void solution(int32_t X[1003], int32_t H[17]) {
  for (int b = 0; b < 17; b++) {
    H[b] = 0;
  }
  for (int i = 0; i < 1003; i++) {
    H[X[i]]++;
  }
}
";
    walk(&text, plain, 4);
}

#[test]
fn sparse_products_stay_right() {
    let signature = "int32_t J[101][9], float A[101][9], float X[60], float Y[101]";
    let buffers = [
        ("J", "int32", "101, 9", "input"),
        ("A", "float32", "101, 9", "input"),
        ("X", "float32", "60", "input"),
        ("Y", "float32", "101", "output"),
    ];
    let fills = format!(
        "fill.J = {{ kind = \"uniform\", low = 0, high = 59 }}\nfill.A = {REAL}\nfill.X = {REAL}"
    );
    let text = problem(signature, CLOSE, &buffers, &fills);
    let plain = "void solution(int32_t J[101][9], float A[101][9], float X[60], float Y[101]) {
  for (int i = 0; i < 101; i++) {
    float sum = 0;
    for (int e = 0; e < 9; e++) {
      sum += A[i][e] * X[J[i][e]];
    }
    Y[i] = (float)sum;
  }
}
";
    walk(&text, plain, 6);
}

#[test]
fn attention_stays_right() {
    let signature = "float Q[64][20], float K[64][20], float V[64][20], float O[64][20]";
    let buffers = ["Q", "K", "V", "O"].map(|name| {
        let role = if name == "O" { "output" } else { "input" };
        (name, "float32", "64, 20", role)
    });
    let fills = format!("fill.Q = {REAL}\nfill.K = {REAL}\nfill.V = {REAL}");
    let text = problem(signature, CLOSE, &buffers, &fills);
    let plain =
        "void solution(float Q[64][20], float K[64][20], float V[64][20], float O[64][20]) {
  for (int i = 0; i < 64; i++) {
    float scores[64], top = -FLT_MAX;
    for (int j = 0; j < 64; j++) {
      float score = 0;
      for (int d = 0; d < 20; d++) {
        score += Q[i][d] * K[j][d];
      }
      scores[j] = score * (float)(1.0 / 4.5);
      top = scores[j] > top ? scores[j] : top;
    }
    float sum = 0;
    for (int j = 0; j < 64; j++) {
      scores[j] = expf(scores[j] - top);
      sum += scores[j];
    }
    for (int d = 0; d < 20; d++) {
      float value = 0;
      for (int j = 0; j < 64; j++) {
        value += scores[j] * V[j][d];
      }
      O[i][d] = (float)(value / sum);
    }
  }
}
";
    walk(&text, plain, 9);
}

/// Variables of an iteration that follow an inner loop, and those that look something up, stay with
/// what needs them.
#[test]
fn variables_stay_with_what_needs_them() {
    for body in [
        "int p = X[i][j] >> 2;\n      Y[i][j] = T[p];",
        "int lo[2];\n      for (int k = 0; k < 2; k++) lo[k] = X[i][j + k];\n      int a = lo[0] + lo[1];\n      Y[i][j] = a >> 1;",
        "int lo[2];\n      for (int k = 0; k < 2; k++) lo[k] = X[i][j + k];\n      int a = lo[0] + lo[1];\n      int b = lo[0] * 2;\n      Y[i][j] = (a > b ? a - b : b - a) >> 2;",
    ] {
        let problem = problem(
            "uint8_t X[28][66], uint8_t T[256], uint8_t Y[28][64]",
            "kind = \"exact\"",
            &[
                ("X", "uint8", "28, 66", "input"),
                ("T", "uint8", "256", "input"),
                ("Y", "uint8", "28, 64", "output"),
            ],
            "fill.X = { kind = \"uniform\", low = 0, high = 255 }\nfill.T = { kind = \"uniform\", low = 0, high = 255 }",
        );
        let plain = format!(
            "void solution(uint8_t X[28][66], uint8_t T[256], uint8_t Y[28][64]) {{\n  for (int i = 0; i < 28; i++) {{\n    for (int j = 0; j < 64; j++) {{\n      {body}\n    }}\n  }}\n}}\n"
        );
        walk(&problem, &plain, 24);
    }
}

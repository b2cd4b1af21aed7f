// A softmax of each row, launched from C through the CUDA driver, and checked against one computed here.
//
//   weft compile examples/row_softmax.ttir --target sm_90 --emit c-launcher -o row_softmax.h
//   cc -std=c11 -I. examples/c/row_softmax.c -o row_softmax -lm -ldl && ./row_softmax

#include "row_softmax.h"

#include "device.h"

#include <math.h>

enum { rows = 500, columns = 1008, elements = rows * columns };

int main(void) {
  device gpu;
  open_device(&gpu);
  float *x = (float *)malloc(elements * sizeof(float));
  float *out = (float *)malloc(elements * sizeof(float));
  if (x == NULL || out == NULL) return EXIT_FAILURE;
  // Numbers from -4 to 4 in no order, by a generator of Lehmer's.
  uint32_t state = 1;
  for (int i = 0; i < elements; i++) {
    state = (uint32_t)((uint64_t)state * 48271 % 2147483647);
    x[i] = (float)state / 2147483647.0f * 8.0f - 4.0f;
  }
  uint64_t there = on_device(&gpu, x, elements * sizeof(float));
  uint64_t result = on_device(&gpu, NULL, elements * sizeof(float));

  row_softmax_kernel kernel;
  must(&gpu, "loading", row_softmax_load(&gpu.driver, &kernel));
  // A block a row.
  must(&gpu, "launching", row_softmax_launch(&gpu.driver, &kernel, rows, 1, 1, NULL, there, result, columns));
  must(&gpu, "running", gpu.synchronize());
  must(&gpu, "copying out", gpu.copy_out(out, result, elements * sizeof(float)));
  // The kernel was compiled for rows whose length is a multiple of 16.
  int refused = row_softmax_launch(&gpu.driver, &kernel, rows, 1, 1, NULL, there, result, columns - 1);
  must(&gpu, "unloading", row_softmax_unload(&gpu.driver, &kernel));
  must(&gpu, "freeing", gpu.release_memory(there));
  must(&gpu, "freeing", gpu.release_memory(result));

  double worst = 0;
  for (int row = 0; row < rows; row++) {
    const float *given = x + row * columns;
    double most = given[0], sum = 0;
    for (int i = 1; i < columns; i++) most = fmax(most, given[i]);
    for (int i = 0; i < columns; i++) sum += exp(given[i] - most);
    for (int i = 0; i < columns; i++) {
      double expected = exp(given[i] - most) / sum;
      worst = fmax(worst, fabs(out[row * columns + i] - expected) / expected);
    }
  }
  printf("row_softmax of %d rows of %d: largest relative error %.1e\n", rows, columns, worst);
  printf("rows of %d: %s\n", columns - 1, refused == WEFT_INVALID_VALUE ? "refused" : "NOT refused");
  free(x);
  free(out);
  // `worst <= …` is false for what is no number.
  return worst <= 2e-5 && refused == WEFT_INVALID_VALUE ? EXIT_SUCCESS : EXIT_FAILURE;
}

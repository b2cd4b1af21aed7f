// Memory and a context on a GPU, for the examples: what a program does by itself, through the same
// driver that its kernels are launched with.
#ifndef EXAMPLES_DEVICE_H
#define EXAMPLES_DEVICE_H

#include <stdio.h>
#include <stdlib.h>

// A header of a compiled kernel stands before this one.
#ifndef WEFT_DRIVER
#error "include the header of a kernel first"
#endif

typedef struct device {
  weft_driver driver;
  void *context;
  int (*init)(unsigned flags);
  int (*get)(int *device, int ordinal);
  int (*retain)(void **context, int device);
  int (*release)(int device);
  int (*set_current)(void *context);
  int (*synchronize)(void);
  int (*allocate)(uint64_t *address, size_t bytes);
  int (*release_memory)(uint64_t address);
  int (*copy_in)(uint64_t to, const void *from, size_t bytes);
  int (*copy_out)(void *to, uint64_t from, size_t bytes);
} device;

// Ends the program where the driver refused something.
static inline void must(const device *gpu, const char *what, int error) {
  if (error == 0) return;
  fprintf(stderr, "%s: %s\n", what, weft_driver_error(&gpu->driver, error));
  exit(EXIT_FAILURE);
}

// The first GPU, with its primary context current. Without a driver the program ends with status 77.
static inline void open_device(device *gpu) {
  const char *missing = weft_driver_open(&gpu->driver);
  if (missing != NULL) {
    fprintf(stderr, "%s\n", missing);
    exit(77);
  }
  if (!weft_driver_find(&gpu->driver, "cuInit", &gpu->init) ||
      !weft_driver_find(&gpu->driver, "cuDeviceGet", &gpu->get) ||
      !weft_driver_find(&gpu->driver, "cuDevicePrimaryCtxRetain", &gpu->retain) ||
      !weft_driver_find(&gpu->driver, "cuDevicePrimaryCtxRelease_v2", &gpu->release) ||
      !weft_driver_find(&gpu->driver, "cuCtxSetCurrent", &gpu->set_current) ||
      !weft_driver_find(&gpu->driver, "cuCtxSynchronize", &gpu->synchronize) ||
      !weft_driver_find(&gpu->driver, "cuMemAlloc_v2", &gpu->allocate) ||
      !weft_driver_find(&gpu->driver, "cuMemFree_v2", &gpu->release_memory) ||
      !weft_driver_find(&gpu->driver, "cuMemcpyHtoD_v2", &gpu->copy_in) ||
      !weft_driver_find(&gpu->driver, "cuMemcpyDtoH_v2", &gpu->copy_out)) {
    fprintf(stderr, "the CUDA driver is too old\n");
    exit(EXIT_FAILURE);
  }
  int ordinal = 0;
  must(gpu, "opening the driver", gpu->init(0));
  must(gpu, "finding a GPU", gpu->get(&ordinal, 0));
  must(gpu, "making a context", gpu->retain(&gpu->context, ordinal));
  must(gpu, "making it current", gpu->set_current(gpu->context));
}

// Memory with these bytes, or with zeros.
static inline uint64_t on_device(const device *gpu, const void *bytes, size_t count) {
  uint64_t address = 0;
  void *zeros = bytes == NULL ? calloc(count, 1) : NULL;
  must(gpu, "allocating", gpu->allocate(&address, count));
  must(gpu, "copying in", gpu->copy_in(address, bytes == NULL ? zeros : bytes, count));
  free(zeros);
  return address;
}

#endif  // EXAMPLES_DEVICE_H

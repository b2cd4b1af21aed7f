// The CUDA driver: what launching takes of it, opened where the program runs. Several headers of
// compiled kernels share this part.
#ifndef WEFT_DRIVER
#define WEFT_DRIVER 1

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// CUDA_ERROR_INVALID_VALUE
#define WEFT_INVALID_VALUE 1

// Contexts, modules, functions and streams are the driver's handles (CUcontext, CUmodule, …) as
// pointers to void, addresses on the GPU (CUdeviceptr) are uint64_t, and results (CUresult) are int.
typedef struct weft_driver {
  void *library;
  int (*module_load)(void **module, const void *image);
  int (*module_unload)(void *module);
  int (*module_function)(void **function, void *module, const char *name);
  int (*function_set)(void *function, int attribute, int value);
  int (*launch)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream,
                void **arguments, void **extra);
  int (*error_string)(int error, const char **text);
} weft_driver;

// Puts a function of the driver where a pointer to one lies; whether it is there.
static inline int weft_driver_find(const weft_driver *driver, const char *name, void *place) {
  void *symbol = dlsym(driver->library, name);
  memcpy(place, &symbol, sizeof symbol);
  return symbol != NULL;
}

// Opens the driver: NULL, or what is in the way.
static inline const char *weft_driver_open(weft_driver *driver) {
  driver->library = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver->library == NULL) return "the CUDA driver, libcuda.so.1, cannot be opened";
  if (weft_driver_find(driver, "cuModuleLoadData", &driver->module_load) &&
      weft_driver_find(driver, "cuModuleUnload", &driver->module_unload) &&
      weft_driver_find(driver, "cuModuleGetFunction", &driver->module_function) &&
      weft_driver_find(driver, "cuFuncSetAttribute", &driver->function_set) &&
      weft_driver_find(driver, "cuLaunchKernel", &driver->launch) &&
      weft_driver_find(driver, "cuGetErrorString", &driver->error_string))
    return NULL;
  dlclose(driver->library);
  driver->library = NULL;
  return "libcuda.so.1 has not the functions of a CUDA driver";
}

// A result in words.
static inline const char *weft_driver_error(const weft_driver *driver, int error) {
  const char *text = NULL;
  if (driver->error_string(error, &text) != 0 || text == NULL) return "an unknown error";
  return text;
}

// Loads a text and finds its kernel; `shared_bytes` is what must be asked for, or 0.
static inline int weft_load(const weft_driver *driver, void **module, void **function,
                            const char *image, const char *name, int shared_bytes) {
  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
  const int dynamic_shared_bytes = 8;
  int error = driver->module_load(module, image);
  if (error != 0) return error;
  error = driver->module_function(function, *module, name);
  if (error == 0 && shared_bytes > 0)
    error = driver->function_set(*function, dynamic_shared_bytes, shared_bytes);
  if (error != 0) driver->module_unload(*module);
  return error;
}

#endif  // WEFT_DRIVER

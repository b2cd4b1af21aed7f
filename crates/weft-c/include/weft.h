// Weft from C and C++: a request as JSON in, its answer as JSON out.
//
//   char *answer = weft_invoke("{\"request\": \"machines\", \"target\": \"sm_90\"}");
//   puts(answer);
//   weft_free(answer);
//
// Link with libweft.so, or with libweft.a and -lpthread -ldl -lm. Every function may be called from any
// number of threads at once. None reads files, the clock or the environment, keeps anything between
// calls, or ends the process but for want of memory.
#ifndef WEFT_H
#define WEFT_H

// The version of this header; `weft_version` tells the library's.
#define WEFT_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

// Answers a request: UTF-8 that ends with a zero byte, which the caller keeps. The same request gives
// the same bytes as `weft … --json` and Weft from Python.
//
// The answer is never NULL, UTF-8 with one zero byte, at its end; it is the caller's until `weft_free`
// takes it. What cannot be answered gives {"error": {"kind": …, "message": …, …}}, and so do NULL and
// bytes that are not UTF-8.
char *weft_invoke(const char *request);

// Frees an answer, once; NULL is nothing to free.
void weft_free(char *answer);

// The version of the library, such as "0.1.0"; it is the library's.
const char *weft_version(void);

#ifdef __cplusplus
}
#endif

#endif  // WEFT_H

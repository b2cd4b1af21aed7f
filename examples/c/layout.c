// Where does thread 5 hold its elements of a tile? Weft's library is asked, and the answer is checked
// against the definition of the layout.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft.h"

// Each thread holds four neighbours of a row, and eight threads make a row of 32.
static const char request[] =
    "{\"request\": \"layout\", \"shape\": [16, 32], \"element\": \"f16\", \"attribute\": "
    "\"#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
    "order = [1, 0]}>\"}";

// Its registers walk along the row, then its lanes, then lanes and warps down the rows.
static const char expected[] =
    "\"bases\":{\"register\":[[0,1],[0,2]],\"lane\":[[0,4],[0,8],[0,16],[1,0],[2,0]],"
    "\"warp\":[[4,0],[8,0]]";

static int failures = 0;

static void check(const char *what, int holds) {
  printf("%-28s %s\n", what, holds ? "as expected" : "NOT as expected");
  failures += !holds;
}

int main(void) {
  char *answer = weft_invoke(request);
  char *refusal = weft_invoke("{\"request\": \"weave\"}");
  char *nothing = weft_invoke(NULL);
  printf("Weft %s says\n%s\n", weft_version(), answer);
  check("the header and the library", strcmp(weft_version(), WEFT_VERSION) == 0);
  check("the layout", strstr(answer, expected) != NULL);
  check("a request that nobody knows", strstr(refusal, "there is no request `weave`") != NULL);
  check("no request", strstr(nothing, "\"error\"") != NULL);
  weft_free(answer);
  weft_free(refusal);
  weft_free(nothing);
  weft_free(NULL);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

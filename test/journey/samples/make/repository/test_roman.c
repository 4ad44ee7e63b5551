#include <stdio.h>

#include "roman.h"

static int passed, failed;

static void check(const char *numeral, int expected) {
  int got = roman(numeral);
  if (got == expected) {
    passed++;
  } else {
    failed++;
    printf("%s is %d, expected %d\n", numeral, got, expected);
  }
}

int main(void) {
  check("III", 3);
  check("XVI", 16);
  check("IX", 9);
  check("MCMXCIV", 1994);
  check("Z", -1);
  printf("%d passed, %d failed\n", passed, failed);
  return failed > 0;
}

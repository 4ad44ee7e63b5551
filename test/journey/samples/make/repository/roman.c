#include "roman.h"

static int value(char letter) {
  switch (letter) {
    case 'I': return 1;
    case 'V': return 5;
    case 'X': return 10;
    case 'L': return 50;
    case 'C': return 100;
    case 'D': return 500;
    case 'M': return 1000;
    default: return -1;
  }
}

int roman(const char *numeral) {
  int sum = 0;
  for (const char *at = numeral; *at; at++) {
    int here = value(*at);
    if (here < 0) return -1;
    sum += here;
  }
  return sum;
}

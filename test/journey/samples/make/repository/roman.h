/* The value of a Roman numeral; -1 when a letter is none. */
int roman(const char *numeral);

/* Processor nanoseconds a row of what to_c has written, with the rows of its test program. */

#define main compare
#include "model_test.c"
#undef main

#include <time.h>

int main(void)
{
    const int repeats = 20000, is_wrong = compare();
    volatile int last = 0;
    const clock_t start = clock();
    for (int k = 0; k < repeats; k++)
        for (int i = 0; i < N_ROWS; i++)
            last = model_predict(rows[i]);
    (void)last;
    printf("%g\n", 1e9 * (double)(clock() - start) / CLOCKS_PER_SEC / repeats / N_ROWS);
    return is_wrong;
}

/* The test program of to_c, and how many instructions a row takes.
 *
 * QEMU's option -icount shift=0 makes every instruction last one nanosecond, and the SysTick of the
 * board mps2-an386 counts 25 MHz: a tick is 40 instructions. On a chip it counts cycles.
 */

#define main compare
#include "model_test.c"
#undef main

#include <stdint.h>

#define SYSTICK ((volatile uint32_t *)0xE000E010)
#define REPEATS 20

int main(void)
{
    const int is_wrong = compare();
    volatile int last = 0;
    SYSTICK[1] = 0xFFFFFF; /* 24 bits, downwards */
    SYSTICK[2] = 0;
    SYSTICK[0] = 5;
    const uint32_t start = SYSTICK[2];
    for (int k = 0; k < REPEATS; k++)
        for (int i = 0; i < N_ROWS; i++)
            last = model_predict(rows[i]);
    const uint32_t ticks = (start - SYSTICK[2]) & 0xFFFFFF;
    (void)last;
    printf("%lu instructions a row\n", (unsigned long)(40ull * ticks / (REPEATS * N_ROWS)));
    return is_wrong;
}

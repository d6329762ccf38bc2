/* The least that a Cortex-M needs before main: a stack, the FPU, .data, .bss and a way to print. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern uint32_t stack_end[], data_load[], data_start[], data_end[], bss_start[], bss_end[];
extern void initialise_monitor_handles(void); /* of librdimon: printf over semihosting */
extern int main(void);

void start(void)
{
#ifdef __ARM_FP
    *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20; /* CPACR: the FPU is off after a reset */
    __asm volatile("dsb\n isb");
#endif
    memcpy(data_start, data_load, (size_t)((char *)data_end - (char *)data_start));
    memset(bss_start, 0, (size_t)((char *)bss_end - (char *)bss_start));
    initialise_monitor_handles();
    exit(main());
}

/* What exit() of newlib calls; C has nothing to do there. */
void _fini(void)
{
}

static void fault(void)
{
    abort();
}

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))stack_end, start, fault, fault, fault, fault, fault,
};

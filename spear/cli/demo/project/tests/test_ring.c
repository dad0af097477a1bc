#include <stdio.h>

#include "ring.h"

static int failures;

static void expect(int index, int size, int wanted)
{
    int got = ring_next(index, size);
    if (got != wanted) {
        printf("FAIL: ring_next(%d, %d) is %d, not %d\n", index, size, got, wanted);
        failures++;
    }
}

int main(void)
{
    expect(0, 4, 1);
    expect(2, 4, 3);
    expect(3, 4, 0);
    if (failures == 0)
        printf("3 checks passed\n");
    return failures != 0;
}

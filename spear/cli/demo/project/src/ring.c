#include "ring.h"

int ring_next(int index, int size)
{
    index = index + 1;
    if (index > size)
        index = 0;
    return index;
}

#ifndef RING_H
#define RING_H

/* The index that follows `index` in a ring of `size` slots. */
int ring_next(int index, int size);

#endif

// Flags of Node for processes that live for minutes at most and run most of their code only a few times.

/**
 * Makes V8 optimize a function only when it has run fifteen times as much as by default. A process of the tests ends before
 * an optimization pays for itself; otherwise, compiling and discarding optimized code takes a seventh of its processor time.
 */
export const SHORT_LIVED: readonly string[] = ['--interrupt-budget=1000000']

// Flags of Node for processes that live for minutes at most and run most of their code only a few times.

/**
 * Makes V8 optimize a function only when it has run fifteen times as much as by default: a process of the tests mostly ends
 * before an optimization pays for itself. 302 tests of routes and spending took 62.9 instead of 65.6 s of processor time
 * (means of two runs each in turn, load 5 to 6).
 */
export const SHORT_LIVED: readonly string[] = ['--interrupt-budget=1000000']

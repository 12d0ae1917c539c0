// Flags of Node for processes that live for minutes at most and run most of their code only a few times.

/**
 * - V8 optimizes a function only when it has run fifteen times as much as by default: a process of the tests mostly ends
 *   before an optimization pays for itself. 302 tests of routes and spending took 62.9 instead of 65.6 s of processor time
 *   (means of two runs each in turn, load 5 to 6). Node 22 and later do not know the flag.
 * - New objects have the 16 MB at once that V8 otherwise grows to step by step, collecting garbage at each. Tests of routes,
 *   spending, bundles and starts took 28.2 instead of 33.9 s of processor time (means of two runs each in turn, load 7).
 */
export const SHORT_LIVED: readonly string[] = [
  ...(Number(process.versions.node.split('.')[0]) < 22 ? ['--interrupt-budget=1000000'] : []),
  '--min-semi-space-size=16',
]

// Flags of Node for processes that live for minutes at most and run most of their code only a few times.

/**
 * - V8 optimizes a function only after fifteen times the default amount of execution: most test processes end
 *   before an optimization pays off. 302 tests of routes and spending took 62.9 instead of 65.6 s of processor time
 *   (means of two alternating runs each, load 5 to 6). Node 22 and later do not have the flag.
 * - New objects get 16 MB at once. By default, V8 grows to that in steps and collects garbage at each. Tests of routes,
 *   spending, bundles and starts took 28.2 instead of 33.9 s of processor time (means of two alternating runs each, load 7).
 * - Garbage is collected by the main thread alone: while other tests keep the cores busy, more threads only add work. 201
 *   tests of chats, projects and MCP took 93 instead of 100 s of processor time (means of four alternating runs each).
 */
export const SHORT_LIVED: readonly string[] = [
  ...(Number(process.versions.node.split('.')[0]) < 22 ? ['--interrupt-budget=1000000'] : []),
  '--min-semi-space-size=16',
  '--single-threaded-gc',
]

// Programs of the tests that run as child processes: started from a build, without a TypeScript loader.
import { join } from 'node:path'
import { inject } from 'vitest'
import type { PROGRAMS } from './built.ts'
import { SHORT_LIVED } from './short-lived.ts'

/**
 * The programs, below `tests/support/`. In its build each is a single file, so a program cannot find files beside its
 * sources, nor start child programs of the server. It starts with a third of the work: 0.5 instead of 1.8 s of processor
 * time for one that opens a database (load 20).
 */
type Program = (typeof PROGRAMS)[number]

/** Arguments with which Node runs this program. */
export const builtProgram = (program: Program): string[] => [
  ...SHORT_LIVED,
  join(inject('programBuild'), `${program}.mjs`),
]

// Replaces server/lib/child-entry.ts in tests: child programs are started from the build, without a TypeScript loader.
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { inject } from 'vitest'
import type * as real from '../../server/lib/child-entry.ts'
import { SHORT_LIVED } from './short-lived.ts'

export const childEntry: typeof real.childEntry = (place) => ({
  file: join(inject('serverBuild'), `${place}.js`),
  execArgv: SHORT_LIVED,
})

export const startWorker: typeof real.startWorker = (place, options) =>
  new Worker(childEntry(place).file, options)

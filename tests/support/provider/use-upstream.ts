// Hooks that start the scripted provider for a test file, reset it between tests and close it at the end.
import { afterAll, afterEach, beforeEach } from 'vitest'
import { startUpstream, type Upstream } from './upstream.ts'

/**
 * One provider for all tests of a file or `describe`, so that a server's configuration can refer to it. Its script is
 * reset before each test.
 */
export async function useUpstream(): Promise<Upstream> {
  const upstream = await startUpstream()
  beforeEach(() => upstream.reset())
  afterAll(() => upstream.close())
  return upstream
}

/** A new provider on a new port for each test, for tests that count requests or break connections. */
export function useFreshUpstream(): Upstream {
  let current: Upstream
  beforeEach(async () => {
    current = await startUpstream()
  })
  afterEach(() => current.close())
  return {
    get url() {
      return current.url
    },
    get port() {
      return current.port
    },
    get requests() {
      return current.requests
    },
    get models() {
      return current.models
    },
    set models(models) {
      current.models = models
    },
    enqueue: (...turns) => current.enqueue(...turns),
    enqueueFor: (target, ...turns) => current.enqueueFor(target, ...turns),
    program: (program) => current.program(program),
    reset: () => current.reset(),
    nextRequest: () => current.nextRequest(),
    expectDone: () => current.expectDone(),
    close: () => current.close(),
  }
}

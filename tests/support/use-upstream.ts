// The scripted provider of a test file: started, forgetful between tests, closed at the end.
import { afterAll, afterEach, beforeEach } from 'vitest'
import { startUpstream, type Upstream } from './upstream.ts'

/**
 * One provider for all tests of a file or `describe`, which may stand in the configuration of a server. Before each test
 * it forgets what it was scripted to say.
 */
export async function useUpstream(): Promise<Upstream> {
  const upstream = await startUpstream()
  beforeEach(() => upstream.reset())
  afterAll(() => upstream.close())
  return upstream
}

/** A new provider for each test, at an address of its own: for tests that count requests and break connections. */
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

// A server with two accounts, for tests of what belongs to one user and is hidden from another.
import { beforeAll } from 'vitest'
import { register, TEST_JWT_SECRET, type TestServer } from './server.ts'

export interface TwoAccounts {
  readonly server: TestServer
  /** The token of the first account, which is an administrator. */
  readonly ann: string
  /** The token of the other account. */
  readonly bob: string
  /** Sends one JSON request, as ann unless another token is given. */
  call(method: string, path: string, body?: unknown, token?: string): ReturnType<TestServer['call']>
}

/** Starts the server and registers both accounts before the first test. Call inside `describe`. */
export function useTwoAccounts(
  start: (config: Record<string, unknown>) => Promise<TestServer>,
  config: Record<string, unknown> = {},
): TwoAccounts {
  let server: TestServer
  let ann = ''
  let bob = ''
  beforeAll(async () => {
    server = await start({ auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET, ...config })
    ann = await register(server, 'ann')
    bob = await register(server, 'bob')
  })
  return {
    get server() {
      return server
    },
    get ann() {
      return ann
    },
    get bob() {
      return bob
    },
    call: (method, path, body, token = ann) =>
      server.call(method, path, { token, ...(body === undefined ? {} : { body }) }),
  }
}

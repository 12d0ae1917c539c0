// Routes with large responses: few are prepared at a time, and a user with many does not delay the others.
import Fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { boundLargeResponses } from '../../../server/http/app/slow-clients.ts'
import type { UserId } from '../../../server/protocol/ids.ts'

/** Requests name their user; a response is ready when the test says so. */
function prepare() {
  const app = Fastify()
  onTestFinished(() => app.close())
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  app.addHook('onRequest', async (request) => {
    const id = String(request.headers['x-user']) as UserId // what signing in would yield
    Object.assign(request, { user: { id } })
  })
  boundLargeResponses(app, undefined)
  app.get<{ Params: { name: string } }>(
    '/large/:name',
    { config: { large: true } },
    ({ params: { name } }) =>
      new Promise((resolve) => {
        begun.push(name)
        ends.set(name, () => resolve(name))
      }),
  )
  const ask = (user: string, name: string) =>
    app.inject({ url: `/large/${name}`, headers: { 'x-user': user } })
  return { begun, ask, end: (name: string) => ends.get(name)?.() }
}

test('a response of another user is prepared while many of one user wait, and those keep their order', async () => {
  const { begun, ask, end } = prepare()
  const many = Array.from({ length: 6 }, (_, at) => ask('ada', `ada-${at}`))
  await expect.poll(() => begun).toEqual(['ada-0'])
  const other = ask('bob', 'bob')
  await expect.poll(() => begun).toEqual(['ada-0', 'bob'])
  const third = ask('cid', 'cid')
  end('bob')
  expect((await other).body).toBe('bob')
  await expect.poll(() => begun).toEqual(['ada-0', 'bob', 'cid'])
  end('cid')
  await third
  for (let at = 0; at < many.length; at += 1) {
    await expect.poll(() => begun).toContain(`ada-${at}`)
    end(`ada-${at}`)
    expect((await many[at])?.body).toBe(`ada-${at}`)
  }
})

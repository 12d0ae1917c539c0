// Long lists in bodies are validated in pieces, with the same outcome as at once.
import Fastify from 'fastify'
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { validateLongLists, validatorOfRoutes } from '../../../server/http/app/json-body.ts'
import { registerErrorHandler } from '../../../server/http/error-handler.ts'

const Item = z.object({ role: z.enum(['user', 'assistant']), n: z.number().default(7) })
const Body = z
  .object({ name: z.string(), list: z.array(Item).min(1).max(300) })
  .refine(({ name }) => name !== 'refused', { error: 'another name' })

async function prepare() {
  const app = Fastify().withTypeProvider<ZodTypeProvider>()
  onTestFinished(() => app.close())
  app.setValidatorCompiler(validatorOfRoutes)
  app.setSerializerCompiler(serializerCompiler)
  registerErrorHandler(app)
  validateLongLists(app)
  const handler = async ({ body }: { body: unknown }) => ({ body })
  app.post('/pieces', { config: { longList: 'list' }, schema: { body: Body } }, handler)
  app.post('/whole', { schema: { body: Body } }, handler)
  return async (payload: object) => {
    const [pieces, whole] = await Promise.all(
      ['/pieces', '/whole'].map(async (url) => {
        const { statusCode, body } = await app.inject({ method: 'POST', url, payload })
        const { request_id: _id, ...rest } = JSON.parse(body)
        return { statusCode, ...rest }
      }),
    )
    expect(pieces).toEqual(whole)
    return pieces
  }
}

const items = (count: number, at = -1, odd: object = {}) =>
  Array.from({ length: count }, (_, index) => (index === at ? odd : { role: 'user', extra: 1 }))

test('a body with a long list is accepted or refused as it would be at once, with the place of each fault', async () => {
  const send = await prepare()
  const accepted = await send({ name: 'a', list: items(300), unknown: true })
  expect(accepted.statusCode).toBe(200)
  expect(accepted.body.list[299]).toEqual({ role: 'user', n: 7 })
  expect((await send({ name: 'a', list: items(3) })).statusCode).toBe(200)
  expect((await send({ name: 'a', list: 'text' })).statusCode).toBe(400)
  expect((await send({ name: 'refused', list: items(200) })).statusCode).toBe(400)
})

test('a fault in an item, in the length of the list or in another field is named', async () => {
  const send = await prepare()
  for (const [body, place] of [
    [{ name: 'a', list: items(200, 173, { role: 'robot' }) }, 'list.173'],
    [{ name: 'a', list: items(301) }, 'list'],
    [{ name: 5, list: items(200) }, 'name'],
  ] as const)
    expect(JSON.stringify(await send(body))).toContain(place)
})

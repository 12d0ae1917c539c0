// The API reference matches the served routes: every route is documented, and every `$ref` resolves.
import { beforeAll, expect, test } from 'vitest'
import { type TestServer, useServers } from '../../support/server.ts'

const { start } = useServers()
let server: TestServer
let text = ''
let document: Record<string, Record<string, Record<string, { summary?: string }>>>

beforeAll(async () => {
  server = await start()
  text = await (await fetch(`${server.url}/openapi.json`)).text()
  document = JSON.parse(text)
})

test('every route of the API is described', () => {
  const described = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(described.length).toBeGreaterThan(40)
  expect(new Set(described).size).toBe(described.length)
  const without = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.summary === undefined)
      .map(([method]) => `${method} ${path}`),
  )
  expect(without).toEqual([])
})

test('every reference leads to a schema of the document', () => {
  const references = new Set(
    [...text.matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? ''),
  )
  expect(references.size).toBeGreaterThan(10)
  const dangling = [...references].filter((reference) => {
    let node: unknown = document
    for (const part of reference.replace(/^#\//, '').split('/'))
      node = Reflect.get(Object(node), part)
    return !reference.startsWith('#/') || node === undefined
  })
  expect(dangling).toEqual([])
})

test('the reference page loads nothing from other hosts', async () => {
  const answer = await fetch(`${server.url}/docs`)
  expect(answer.status).toBe(200)
  expect(await answer.text()).not.toMatch(/(src|href)="https?:/)
  expect(await (await fetch(`${server.url}/docs/json`)).json()).toEqual(document)
})

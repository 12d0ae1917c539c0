// No secret leaves the server: not in a log, an event, an error or a tool result.
import { pino } from 'pino'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  createRedactor,
  redactedLog,
  secretsIn,
  storedSecrets,
} from '../../../server/lib/redact.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents } from '../../support/server/events.ts'
import { type TestServer, useServers } from '../../support/server/server.ts'

const upstream = await useUpstream()

const KEY = 'kq7/secret"key+value-zx9w'

describe('the redactor', () => {
  test('removes a secret in every form in which it is written', () => {
    const redactor = createRedactor()
    redactor.add([KEY])
    const forms = [
      KEY,
      JSON.stringify({ key: KEY }),
      JSON.stringify(JSON.stringify(KEY)),
      encodeURIComponent(KEY),
      Buffer.from(KEY).toString('base64'),
    ]
    for (const form of forms) {
      const redacted = redactor.redact(`before ${form} after`)
      expect(redacted).toContain('[secret]')
      expect(redacted).not.toContain('zx9w')
      expect(redacted.startsWith('before ')).toBe(true)
      expect(redacted.endsWith(' after')).toBe(true)
    }
  })

  test('leaves short texts and placeholders alone', () => {
    const redactor = createRedactor()
    redactor.add(['abc', 'ollama', '', null, undefined])
    expect(redactor.redact('abc of ollama')).toBe('abc of ollama')
  })

  test('finds the secrets of a configuration under any key', () => {
    const found = secretsIn({
      models: [{ id: 'public-model', api_url: 'https://a.test/v1', api_key: 'model-key-1' }],
      db_password: 'db-password-1',
      database_url: 'postgresql://user:url%2Fpassword@db/x',
      mcp_servers: {
        s: {
          env: { SOME_TOKEN: 'env-token-1', LANG: 'C.UTF-8' },
          headers: { Authorization: 'Bearer head-1' },
        },
      },
      smtp: { host: 'mail.test', password: 'smtp-password-1' },
    })
    for (const secret of [
      'model-key-1',
      'db-password-1',
      'url/password',
      'env-token-1',
      'head-1',
      'smtp-password-1',
    ])
      expect(found).toContain(secret)
    for (const open of ['public-model', 'C.UTF-8', 'mail.test']) expect(found).not.toContain(open)
  })

  test('finds a stored key and the values of all headers, but not those that say nothing', () => {
    const headers = {
      'x-tenant': 'tenant-value-1',
      authorization: 'Bearer head-value-1',
      accept: 'application/json',
      'anthropic-version': '2023-06-01',
    }
    const sealed = `key and headers: ${JSON.stringify({ apiKey: 'stored-key-1', headers })}`
    for (const found of [
      storedSecrets(sealed),
      secretsIn({ models: [{ api_key: 'stored-key-1', headers }] }),
    ]) {
      for (const secret of ['stored-key-1', 'tenant-value-1', 'head-value-1'])
        expect(found).toContain(secret)
      for (const open of ['application/json', '2023-06-01']) expect(found).not.toContain(open)
    }
    expect(storedSecrets('a-key-alone')).toEqual(['a-key-alone'])
  })

  test('filters every line of a log and of its children, including stack and cause', () => {
    const lines: string[] = []
    const redactor = createRedactor()
    redactor.add([KEY])
    const log = redactedLog(pino({}, { write: (line: string) => lines.push(line) }), redactor)
    const error = new Error(`refused ${KEY}`, { cause: new Error(`cause ${KEY}`) })
    log.error({ err: error }, `message ${KEY}`)
    log.child({ key: KEY }).warn({ deep: { list: [KEY] } }, 'child')
    expect(lines).toHaveLength(2)
    expect(lines.join('')).not.toContain('zx9w')
    for (const line of lines) expect(JSON.parse(line)).toBeTypeOf('object')
  })
})

describe('a provider that repeats the key', () => {
  const { start } = useServers()
  let server: TestServer
  beforeAll(async () => {
    server = await start({
      config: {
        models: [{ id: 'scripted', api_url: upstream.url, api_key: KEY }],
        titles: 'off',
      },
    })
  })

  test.each([
    ['as a message', turn.error(400, `bad key ${KEY}`)],
    ['in a page', turn.error(400, `<html><body>nginx at 10.1.2.3:8080 says ${KEY}</body></html>`)],
    [
      'in a page within a message',
      turn.error(503, `upstream-host.internal:8443 says ${KEY} <html>nginx</html>`),
    ],
  ])('%s reveals neither the key nor its host in the log or in an event', async (_name, answer) => {
    upstream.program(() => answer)
    const { json } = await server.call('POST', '/api/conversations', { body: {} })
    const stream = await openEvents(`${server.url}/api/conversations/${json.data.id}/messages`, {
      body: { text: 'Go' },
    })
    const events = await stream.all()
    expect(events.at(-1)?.event).toBe('error')
    for (const seen of [JSON.stringify(events), server.logged()]) {
      expect(seen).not.toContain('zx9w')
    }
    expect(JSON.stringify(events.at(-1))).not.toMatch(/html|10\.1\.2\.3|8443|nginx/)
  })
})

// What the doctor says about the services around a server: mail, a bucket, MCP servers; and what a refused email says.
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { Config } from '../../../server/config/schema.ts'
import { checkMcp } from '../../../server/doctor/check-mcp.ts'
import { checkBlobs } from '../../../server/doctor/checks/blobs.ts'
import { checkReranker } from '../../../server/doctor/checks/reranker.ts'
import { checkMail } from '../../../server/doctor/doctor.ts'
import { tryMcpServers } from '../../../server/doctor/mcp-servers.ts'
import { createMailer } from '../../../server/messaging/mailer.ts'
import { startUpstream } from '../../support/provider/upstream.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { startMailServer } from '../messaging/receivers.ts'

const MAIL = { id: 'x', to: ['kim@example.org'], subject: 'hi', text: 'hi' }

/** A port on which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** A mail server that offers STARTTLS with a self-signed certificate. */
async function startTlsMailServer() {
  const encrypted = await startMailServer(false, { isEncrypted: true })
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.write('220 test ESMTP\r\n')
    socket.on('data', (chunk) => {
      const line = chunk.toString('utf8')
      if (/^EHLO/i.test(line)) socket.write('250-test\r\n250 STARTTLS\r\n')
      else if (/^STARTTLS/i.test(line)) {
        socket.write('220 go on\r\n')
        socket.removeAllListeners('data')
        encrypted.accept(socket)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return { ...encrypted.smtp, port }
}

test('a reranker that scores texts has a finding without advice; one that does not is named without its key', async () => {
  expect(await checkReranker(null)).toEqual([])
  const upstream = await startUpstream()
  onTestFinished(() => upstream.close())
  let answer: object = { results: [{ index: 0, relevance_score: 0.9 }] }
  upstream.program(() => turn.json(200, answer))
  const settings = {
    apiUrl: upstream.url,
    apiKey: 'key-of-the-reranker',
    model: 'judge',
    candidates: 50,
    form: 'cohere' as const,
  }
  expect(await checkReranker(settings)).toMatchObject([{ state: 'ok', code: 'rerank_ok' }])
  for (const wrong of [{ results: [] }, { scores: [] }]) {
    answer = wrong
    const findings = await checkReranker(settings)
    expect(findings).toMatchObject([{ state: 'fail', code: 'rerank_broken' }])
    expect(JSON.stringify(findings)).not.toContain('key-of-the-reranker')
  }
})

test('a mail server that works has a finding without advice, and without one there is none', async () => {
  const { smtp, mails } = await startMailServer()
  const [finding] = await checkMail(smtp)
  expect(finding).toMatchObject({ state: 'ok', code: 'mail_ok' })
  expect(finding?.advice).toBeUndefined()
  expect(mails).toEqual([])
  expect(await checkMail(null)).toEqual([])
})

test('a mail server with a self-signed certificate is named as such, and email to it says so', async () => {
  const smtp = await startTlsMailServer()
  expect(await checkMail(smtp)).toMatchObject([
    {
      state: 'fail',
      code: 'mail_certificate',
      params: { failure: 'delivery_mail_certificate_self_signed' },
      detail: expect.stringContaining('is self-signed'),
      advice: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    },
  ])
  expect(await createMailer(smtp)(MAIL, new AbortController().signal)).toMatchObject({
    ok: false,
    retry: true,
    failure: { reason: 'delivery_mail_certificate_self_signed' },
  })
})

test.each([
  [
    'that rejects the password',
    async () => ({
      ...(await startMailServer(false, { refusesLogin: true })).smtp,
      user: 'bot',
      password: 'very-secret-word',
    }),
    'delivery_mail_login_refused',
  ],
  [
    'on which nothing listens',
    async () => ({ host: '127.0.0.1', port: await closedPort(), from: 'a@example.org' }),
    'delivery_mail_refused_connection',
  ],
  [
    'whose name does not exist',
    async () => ({ host: 'mail.invalid', port: 587, from: 'a@example.org' }),
    'delivery_mail_host_unknown',
  ],
])('a mail server %s is described by its cause', async (_case, settings, failure) => {
  const smtp = await settings()
  const findings = await checkMail(smtp)
  expect(findings).toMatchObject([{ state: 'fail', code: 'mail_broken', params: { failure } }])
  expect(JSON.stringify(findings)).not.toContain('very-secret-word')
  expect(await createMailer(smtp)(MAIL, new AbortController().signal)).toMatchObject({
    ok: false,
    retry: true,
    failure: { reason: failure },
  })
})

test('a bucket on a service that does not respond is a failure with its cause, before the first start too', async () => {
  const s3 = {
    endpoint: `http://127.0.0.1:${await closedPort()}`,
    bucket: 'files',
    region: 'us-east-1',
    accessKeyId: 'id',
    secretAccessKey: 'very-secret-key',
    prefix: '',
  }
  const findings = await checkBlobs(
    { dialect: 'sqlite', file: '/nonexistent/nanoclaw.db' },
    { folder: '/nonexistent', s3 },
  )
  expect(findings).toMatchObject([
    { state: 'fail', code: 'bucket_broken', params: { reason: 'it refused the connection' } },
  ])
  expect(JSON.stringify(findings)).not.toContain('very-secret-key')
})

test('an MCP server whose program is missing, ends or has no folder is named with its cause and what it printed last', async () => {
  const config = Config.parse({
    mcp_servers: {
      missing: { command: '/opt/tools/no-such-program' },
      keyless: {
        command: process.execPath,
        args: [
          '-e',
          'console.error("starting"); console.error("Error: NOTES_KEY is missing, seed " + process.env.SEED); process.exit(1)',
        ],
        env: { SEED: 'very-secret-seed' },
      },
      homeless: { command: process.execPath, cwd: '/nonexistent/folder' },
    },
  })
  const findings = await checkMcp(() => tryMcpServers(config))
  expect(findings).toMatchObject([
    {
      state: 'fail',
      code: 'mcp_broken',
      subject: 'MCP server missing',
      detail: 'its command “no-such-program” was not found on the server',
      params: { failure: 'mcp_command_not_found', command: 'no-such-program' },
    },
    {
      state: 'fail',
      code: 'mcp_broken_output',
      params: {
        failure: 'mcp_ended',
        output: 'starting | Error: NOTES_KEY is missing, seed [redacted]',
      },
    },
    { state: 'fail', code: 'mcp_broken', params: { failure: 'mcp_folder_not_found' } },
  ])
  expect(await checkMcp(() => tryMcpServers(Config.parse({})))).toEqual([])
})

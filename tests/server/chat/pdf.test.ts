// PDF files in messages: as they are to models that read PDF, over each API, and as text to all others.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { messagesTurn } from '../../support/provider/messages-turns.ts'
import { responsesTurn, said } from '../../support/provider/responses-turns.ts'
import { type Turn, turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'
import { uploadFile } from '../../support/server/uploads.ts'

const upstream = await useUpstream()
const handbook = readFileSync(join(import.meta.dirname, '../../fixtures/documents/handbook-zh.pdf'))
const data = handbook.toString('base64')
const apis: [api: string, answer: Turn, block: object][] = [
  [
    'chat',
    turn.text('Read.'),
    {
      type: 'file',
      file: { filename: '手册.pdf', file_data: `data:application/pdf;base64,${data}` },
    },
  ],
  [
    'responses',
    responsesTurn([said('Read.')]),
    {
      type: 'input_file',
      filename: '手册.pdf',
      file_data: `data:application/pdf;base64,${data}`,
    },
  ],
  [
    'messages',
    messagesTurn([{ type: 'text', text: 'Read.' }]),
    {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data },
      title: '手册.pdf',
    },
  ],
]

describeOnEachServer('a PDF in a message', (start) => {
  let server: TestServer
  beforeAll(async () => {
    const models = apis.map(([api]) => ({ id: api, api, api_url: upstream.url, pdf: true }))
    server = await start({
      models: [
        ...models,
        { id: 'small', api_url: upstream.url, pdf: true, context_window: 3_000 },
        { id: 'plain', api_url: upstream.url },
      ],
      titles: 'off',
    })
  })
  const send = async (model: string, name: string, content: Uint8Array) => {
    const file = await uploadFile(server.url, name, content)
    expect(file.status).toBe(200)
    const { json } = await server.call('POST', '/api/conversations', { body: { model } })
    await server.call('POST', `/api/conversations/${json.data.id}/messages`, {
      body: { text: 'Read it.', attachments: [{ file_id: file.json.data.id }], stream: false },
    })
    return json.data.id
  }
  const lastBody = () => JSON.stringify(upstream.requests.at(-1)?.body)

  test.each(apis)('is sent to the model unchanged over the API %s', async (api, answer, block) => {
    upstream.enqueue(answer)
    await send(api, '手册.pdf', handbook)
    const { messages, input } = upstream.requests.at(-1)?.body ?? {}
    expect(messages ?? input).toContainEqual(
      expect.objectContaining({
        role: 'user',
        content: expect.arrayContaining([expect.objectContaining(block)]),
      }),
    )
    expect(lastBody()).not.toContain('<file name=')
  })

  test('is sent as text to a model that does not read PDF, also in a conversation started with one that does', async () => {
    upstream.enqueue(turn.text('Read.'), turn.text('Again.'))
    const id = await send('chat', '手册.pdf', handbook)
    expect(lastBody()).toContain(data.slice(0, 100))
    await server.call('POST', `/api/conversations/${id}/messages`, {
      body: { text: 'Once more.', model: 'plain', stream: false },
    })
    expect(lastBody()).toContain('<file name=')
    expect(lastBody()).toContain('手册.pdf')
    expect(lastBody()).not.toContain(data.slice(0, 100))
  })

  test('without text, such as a scan, is sent unchanged to a model that reads PDF, and as a note to others', async () => {
    const objects = [
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>',
    ].map((object, at) => `${at + 1} 0 obj ${object} endobj\n`)
    const scan = Buffer.from(`%PDF-1.4\n${objects.join('')}trailer << /Root 1 0 R >>\n%%EOF`)
    upstream.enqueue(turn.text('Read.'), turn.text('Again.'))
    const id = await send('chat', 'scan.pdf', scan)
    expect(lastBody()).toContain(scan.toString('base64'))
    await server.call('POST', `/api/conversations/${id}/messages`, {
      body: { text: 'Once more.', model: 'plain', stream: false },
    })
    expect(lastBody()).toContain('No text could be read from this file.')
    expect(lastBody()).not.toContain(scan.toString('base64'))
  })

  test('that takes up too much of the context window is sent as the beginning of its text', async () => {
    upstream.enqueue(turn.text('Read.'))
    await send('small', '手册.pdf', handbook)
    expect(lastBody()).toContain('<file name=')
    expect(lastBody()).not.toContain(data.slice(0, 100))
  })
})

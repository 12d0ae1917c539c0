// Files that programs send inside their requests: they are read like those that people attach. Also the list of what a response answers.
import OpenAI from 'openai'
import sharp from 'sharp'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'

const upstream = await useUpstream()
const model = 'nanoclaw/scripted'
const CSV = 'name,age\nAnna Kettering,41\n'
const base64 = Buffer.from(CSV).toString('base64')

describeOnEachServer('files of programs', (start) => {
  let server: TestServer
  let client: OpenAI
  beforeAll(async () => {
    server = await start({ models: [{ id: 'scripted', api_url: upstream.url, vision: true }] })
    client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 })
  })
  const upload = async () => {
    const form = new FormData()
    form.append('file', new Blob([CSV]), 'people.csv')
    const response = await fetch(`${server.url}/api/files`, { method: 'POST', body: form })
    return z.object({ data: z.object({ id: z.string() }) }).parse(await response.json()).data.id
  }
  const lastMessage = () => JSON.stringify(upstream.requests.at(-1)?.messages.at(-1))

  test('reach the model from every format, as content or by the id of an upload', async () => {
    const fileId = await upload()
    const files = [
      { filename: 'people.csv', file_data: `data:text/csv;base64,${base64}` },
      { filename: 'people.csv', file_data: base64 },
      { file_id: fileId },
    ]
    for (const file of files) {
      upstream.enqueue(turn.text('Read.'))
      await client.chat.completions.create({
        model,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Who?' },
              { type: 'file', file },
            ],
          },
        ],
      })
      expect(lastMessage()).toContain('Anna Kettering')
      upstream.enqueue(turn.text('Read.'))
      await client.responses.create({
        model,
        input: [{ role: 'user', content: [{ type: 'input_file', ...file }] }],
      })
      expect(lastMessage()).toContain('Anna Kettering')
    }
    upstream.enqueue(turn.text('Read.'))
    const source = { type: 'base64', media_type: 'text/csv', data: base64 }
    const document = { type: 'document', title: 'people.csv', source }
    const question = { role: 'user', content: [document, { type: 'text', text: 'Who?' }] }
    const { status } = await server.call('POST', '/v1/messages', {
      body: { model, max_tokens: 100, messages: [question] },
    })
    expect(status).toBe(200)
    expect(lastMessage()).toContain('Anna Kettering')
  })

  test('are refused with a text that says what to do, and start nothing', async () => {
    const before = upstream.requests.length
    const send = (part: object) =>
      client.chat.completions.create({
        model,
        messages: [{ role: 'user', content: [part as never] }],
      })
    await expect(send({ type: 'file', file: { filename: 'a.txt' } })).rejects.toMatchObject({
      status: 400,
      code: 'sent_file_empty',
    })
    await expect(send({ type: 'file', file: { file_id: 'file-abc' } })).rejects.toMatchObject({
      status: 404,
      code: 'file_id_unknown',
    })
    const sound = Buffer.concat([Buffer.from('RIFF....WAVEfmt '), Buffer.alloc(64, 1)])
    const data = sound.toString('base64')
    const audio = { type: 'input_audio', input_audio: { data, format: 'wav' } }
    await expect(send(audio)).rejects.toMatchObject({ code: 'file_type_unsupported' })
    const web = { type: 'input_file', file_url: 'https://example.com/a.pdf' } as never
    await expect(
      client.responses.create({ model, input: [{ role: 'user', content: [web] }] }),
    ).rejects.toThrow('base64')
    expect(upstream.requests).toHaveLength(before)
  })

  const storedFiles = async (): Promise<number> =>
    (await server.call('GET', '/api/quota/storage')).json.data.items.find(
      ({ kind }: { kind: string }) => kind === 'files',
    ).count

  test('are stored once, however often a program sends them with the results of its calls', async () => {
    const before = await storedFiles()
    const file = { filename: 'rounds.csv', file_data: base64 }
    const image = {
      filename: 'rounds.jpg',
      file_data: (
        await sharp({ create: { width: 40, height: 30, channels: 3, background: 'red' } })
          .jpeg()
          .withExif({ IFD0: { Artist: 'Anna' } })
          .toBuffer()
      ).toString('base64'),
    }
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Who?' },
          { type: 'file', file },
          { type: 'file', file: image },
        ],
      },
    ]
    const tools: OpenAI.ChatCompletionTool[] = [
      { type: 'function', function: { name: 'look', parameters: { type: 'object' } } },
    ]
    for (let round = 0; round < 10; round += 1) {
      upstream.enqueue(turn.toolCalls([{ name: 'look', arguments: {} }]))
      const { choices } = await client.chat.completions.create({ model, messages, tools })
      const message = choices[0]?.message
      const call = message?.tool_calls?.[0]
      if (message === undefined || call === undefined) throw new Error('no call')
      messages.push(message, { role: 'tool', tool_call_id: call.id, content: `${round}` })
    }
    expect(await storedFiles()).toBe(before + 2)
    const renamed = { ...file, filename: 'another.csv' }
    upstream.enqueue(turn.text('Read.'))
    await client.chat.completions.create({
      model,
      messages: [{ role: 'user', content: [{ type: 'file', file: renamed }] }],
    })
    expect(await storedFiles()).toBe(before + 3)
  })

  test('of a refused request do not stay, unless they were there before', async () => {
    const before = await storedFiles()
    const send = (filename: string) =>
      client.chat.completions.create({
        model: 'nanoclaw/nobody',
        messages: [
          { role: 'user', content: [{ type: 'file', file: { filename, file_data: base64 } }] },
        ],
      })
    await expect(send('refused.csv')).rejects.toMatchObject({ code: 'model_not_found' })
    expect(await storedFiles()).toBe(before)
    const kept = await upload()
    await expect(send('people.csv')).rejects.toMatchObject({ code: 'model_not_found' })
    expect((await fetch(`${server.url}/api/files/${kept}`)).status).toBe(200)
  })

  test('what a response answers is listed in pages of the requested size, in both orders', async () => {
    upstream.enqueue(turn.text('Done.'))
    const roles = ['user', 'assistant', 'user', 'assistant', 'user'] as const
    const { id } = await client.responses.create({
      model,
      input: roles.map((role, at) => ({ role, content: `${at}` })),
    })
    for (const order of ['asc', 'desc'] as const) {
      const page = await client.responses.inputItems.list(id, { order, limit: 2 })
      expect(page).toMatchObject({ has_more: true })
      const texts: unknown[] = []
      for await (const item of page) if ('content' in item) texts.push(Object(item.content)[0].text)
      const expected = ['0', '1', '2', '3', '4']
      expect(texts).toEqual(order === 'asc' ? expected : expected.toReversed())
    }
    await expect(client.responses.inputItems.list(id, { limit: 0 })).rejects.toMatchObject({
      status: 400,
    })
  })
})

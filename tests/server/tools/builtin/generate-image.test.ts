// The `generate_image` tool in conversations, against a scripted server that answers like the images API.
import sharp from 'sharp'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { turn } from '../../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../../support/provider/use-upstream.ts'
import { describeOnEachServer, type TestServer } from '../../../support/server/server.ts'
import { uploadFile } from '../../../support/server/uploads.ts'
import { startWebSite } from '../../../support/web-site.ts'

const upstream = await useUpstream()
const site = await startWebSite()
const paint = (background: string) =>
  sharp({ create: { width: 30, height: 20, channels: 3, background } })
    .png()
    .toBuffer()
const [red, blue] = await Promise.all([paint('red'), paint('blue')])

/** What the service received, and what it answers next. */
let received: { path: string; type: string; key: string; body: string }[] = []
let answer: { status: number; body: unknown }

for (const path of ['/v1/images/generations', '/v1/images/edits'])
  site.page(path, async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const { 'content-type': type = '', authorization: key = '' } = request.headers
    received.push({ path, type, key, body: Buffer.concat(pieces).toString('latin1') })
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer.body))
  })
site.serve('/files/blue.png', 'image/png', blue)

const images = (over: object) => ({
  created: 1,
  data: [{ b64_json: red.toString('base64'), ...over }],
})

describeOnEachServer('generate_image', (start) => {
  let server: TestServer
  beforeAll(async () => {
    server = await start({
      models: [{ id: 'scripted', api_url: upstream.url, vision: true }],
      titles: 'off',
      approval: { default: 'auto_medium' },
      image_generation: {
        api_url: `${site.origin}/v1`,
        api_key: 'key-of-images',
        model: 'painter',
        price: { currency: 'EUR', image: 0.5, input: 10, output: 40 },
      },
      limits: { user_cost_per_month: 4 },
    })
  })
  beforeEach(() => {
    upstream.reset()
    received = []
    answer = { status: 200, body: images({}) }
  })

  const call = (method: string, path: string, body?: unknown) =>
    server.call(method, path, body === undefined ? {} : { body })
  const newConversation = async (settings: object = {}): Promise<string> =>
    (await call('POST', '/api/conversations', settings)).json.data.id
  /** Performs one call and returns the answer's message and the call's result. */
  const paintIn = async (id: string, args: object, body: object = {}) => {
    upstream.enqueue(
      turn.toolCalls([{ name: 'generate_image', arguments: args }]),
      turn.text('Here.'),
    )
    const { json } = await call('POST', `/api/conversations/${id}/messages`, {
      text: 'Paint.',
      stream: false,
      ...body,
    })
    const { message } = json.data
    const step = message.process_steps.find((one: { type: string }) => one.type === 'tool_result')
    return { message, step, result: JSON.parse(step.content) }
  }

  test('a call waits for approval and shows the planned image, because it costs money', async () => {
    const id = await newConversation({ approval: 'ask' })
    upstream.enqueue(turn.toolCalls([{ name: 'generate_image', arguments: { prompt: 'A cat' } }]))
    const { json } = await call('POST', `/api/conversations/${id}/messages`, {
      text: 'Paint.',
      stream: false,
    })
    const { status, pending_approvals } = json.data.run
    expect([status, pending_approvals[0]]).toMatchObject([
      'awaiting_approval',
      {
        risk_level: 'medium',
        preview: { display_code: 'image', display_params: { content: 'A cat' } },
      },
    ])
    expect(received).toEqual([])
    await call('POST', `/api/runs/${json.data.run.id}/stop`)
  })

  test('an image becomes a file of the answer and of the project, and its tokens determine its cost', async () => {
    answer.body = {
      ...images({ revised_prompt: 'A red cat' }),
      usage: { input_tokens: 50, output_tokens: 1_000 },
    }
    const project = (await call('POST', '/api/projects', { name: 'Art' })).json.data
    const id = await newConversation({ project_id: project.id })
    const { message, step, result } = await paintIn(id, {
      prompt: 'A cat',
      size: '1024x1024',
      save_as: 'art/cat.png',
    })
    expect(result).toMatchObject({
      success: true,
      data: {
        name: 'cat.png',
        width: 30,
        height: 20,
        path: 'art/cat.png',
        revised_prompt: 'A red cat',
      },
    })
    expect(received.map(({ path, key, body }) => [path, key, JSON.parse(body)])).toEqual([
      [
        '/v1/images/generations',
        'Bearer key-of-images',
        { model: 'painter', prompt: 'A cat', size: '1024x1024', n: 1, response_format: 'b64_json' },
      ],
    ])
    const fileId = result.data.file_id
    expect(step.artifact.files).toMatchObject([
      { name: 'cat.png', mime: 'image/png', file_id: fileId },
    ])
    expect(message.attachments).toMatchObject([{ file_id: fileId, name: 'cat.png', width: 30 }])
    expect(message.usage.cost).toEqual({ EUR: 0.0405 })
    const shown = await fetch(`${server.url}/api/files/${fileId}`)
    expect(Buffer.from(await shown.arrayBuffer()).equals(red)).toBe(true)
    const copy = await fetch(`${server.url}/api/projects/${project.id}/files/art/cat.png?raw=1`)
    expect(Buffer.from(await copy.arrayBuffer()).equals(red)).toBe(true)
    expect((await call('DELETE', `/api/files/${fileId}`)).status).toBe(409)
    const stats = (await call('GET', '/api/stats/tokens?period=daily')).json.data
    expect(stats.by_model.painter).toMatchObject({
      completion_tokens: 1_000,
      cost: { EUR: 0.0405 },
    })

    // Nothing is asked for, and so nothing paid, where the copy could not be stored.
    const taken = await paintIn(id, { prompt: 'A cat', save_as: 'art/cat.png' })
    expect(taken.result).toMatchObject({
      success: false,
      error: expect.stringContaining('art/cat.png'),
    })
    expect(received).toHaveLength(1)
  })

  test('a copy gives a conversation files of its own only once the image is there', async () => {
    const id = await newConversation()
    const scratch = async () =>
      (await call('GET', `/api/conversations/${id}`)).json.data.scratch_project_id
    answer = { status: 401, body: { error: { message: 'Wrong key.', code: 'invalid_api_key' } } }
    const failed = await paintIn(id, { prompt: 'A cat', save_as: 'cat.png' })
    expect(failed.result).toMatchObject({ success: false })
    expect(await scratch()).toBeNull()
    answer = { status: 200, body: images({}) }
    const made = await paintIn(id, { prompt: 'A cat', save_as: 'cat.png' })
    expect(made.result).toMatchObject({ success: true, data: { path: 'cat.png' } })
    const copy = await fetch(`${server.url}/api/projects/${await scratch()}/files/cat.png?raw=1`)
    expect(Buffer.from(await copy.arrayBuffer()).equals(red)).toBe(true)
  })

  test('attached and generated images are edited as parts of a form', async () => {
    // An attached picture may be of others' making, so the mode auto_medium would ask.
    const id = await newConversation({ approval: 'auto' })
    const photo = (await uploadFile(server.url, 'photo.png', blue)).json.data
    const attachments = [{ file_id: photo.id }]
    const first = await paintIn(
      id,
      { prompt: 'Make it red', images: ['photo.png'] },
      { attachments },
    )
    const { file_id } = first.result.data
    await paintIn(id, { prompt: 'Again', images: ['newest'] })
    await paintIn(id, { prompt: 'Both', images: [file_id, 'photo.png'] })
    expect(received.map(({ path }) => path)).toEqual(Array(3).fill('/v1/images/edits'))
    const [one, two, both] = received.map(({ body }) => body)
    expect(one).toContain('name="image"; filename="photo.png"')
    expect(one).toContain(blue.toString('latin1'))
    expect(two).toContain(red.toString('latin1'))
    expect(both?.split('name="image[]"')).toHaveLength(3)
    expect(received[0]?.type).toContain('multipart/form-data')
    const missing = await paintIn(id, { prompt: 'Edit', images: ['nothing.png'] })
    expect(missing.result.error).toContain('There is no image "nothing.png"')
  })

  test('an image URL is downloaded, refusals and errors give the reason, and a result that is not an image is refused but charged', async () => {
    const id = await newConversation()
    answer.body = { data: [{ b64_json: null, url: `${site.origin}/files/blue.png` }] }
    const downloaded = await paintIn(id, { prompt: 'A blue cat' })
    expect(downloaded.message.attachments).toMatchObject([{ name: 'A-blue-cat.png' }])
    expect(downloaded.message.usage.cost).toEqual({ EUR: 0.5 })

    const failures: [number, unknown, string][] = [
      [
        400,
        { error: { message: 'Not allowed.', code: 'content_policy_violation' } },
        'rejected this request: Not allowed.',
      ],
      [401, { error: { message: 'Wrong key.', code: 'invalid_api_key' } }, 'HTTP 401: Wrong key.'],
      [500, 'oops', 'HTTP 500'],
      [200, { data: [] }, 'without an image'],
      [200, { data: [{ url: 'http://10.0.0.1/cat.png' }] }, 'could not be downloaded'],
    ]
    for (const [status, body, reason] of failures) {
      answer = { status, body }
      const { result, message } = await paintIn(id, { prompt: 'A cat' })
      expect(result).toMatchObject({ success: false, error: expect.stringContaining(reason) })
      expect([message.attachments, message.usage.cost]).toEqual([undefined, {}])
    }
    answer = { status: 200, body: images({ b64_json: Buffer.from('<svg/>').toString('base64') }) }
    const noImage = await paintIn(id, { prompt: 'A cat' })
    expect([noImage.result.success, noImage.message.usage.cost]).toEqual([false, { EUR: 0.5 }])
  })

  test('calls of one iteration share the rest of a limit', async () => {
    const id = await newConversation()
    const { json } = await call('GET', '/api/quota')
    const left =
      4 - json.data.items.find(({ kind }: { kind: string }) => kind === 'cost_per_month').used
    const wanted = Array.from({ length: 10 }, (_, index) => ({
      name: 'generate_image',
      arguments: { prompt: `Cat ${index}` },
    }))
    upstream.enqueue(turn.toolCalls(wanted), turn.text('Done.'))
    await call('POST', `/api/conversations/${id}/messages`, { text: 'Paint.', stream: false })
    expect(received).toHaveLength(Math.ceil(left / 0.5))
  })
})

// Pictures that tools return: the model sees them in the run, in later turns, and after a restart.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startScriptedMcpServer } from '../../fixtures/mcp-scripted-server.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { callServer } from '../../support/server/call-server.ts'
import { openEvents } from '../../support/server/events.ts'
import { databaseKeys } from '../../support/server/server.ts'
import { serverPlace } from '../../support/server/server-process.ts'
import { useDatabases } from '../../support/store/databases.ts'
import { DIALECTS } from '../../support/store/dialects.ts'

const upstream = await useUpstream()

describe.each(DIALECTS)('a picture of a tool (%s)', (dialect) => {
  const databases = useDatabases()

  test('is in the next request, in the next turn, and there after a restart', async () => {
    const png = await sharp({ create: { width: 30, height: 20, channels: 3, background: '#c33' } })
      .png()
      .toBuffer()
    const data = png.toString('base64')
    const mcp = await startScriptedMcpServer({
      tools: [{ name: 'shot', inputSchema: { type: 'object' } }],
      call: () => ({
        content: [
          { type: 'text', text: 'Taken.' },
          { type: 'image', mimeType: 'image/png', data },
        ],
      }),
    })
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-pictures-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const place = await serverPlace(folder, {
      ...databaseKeys(await databases.settings(dialect)),
      models: [
        { id: 'sees', api_url: upstream.url, vision: true },
        { id: 'blind', api_url: upstream.url, vision: false },
      ],
      titles: 'off',
      approval: { default: 'auto' },
      mcp_servers: { camera: { url: mcp.url } },
    })
    onTestFinished(() => place.close())
    let server = await place.start()
    const call = (method: string, path: string, body?: unknown) =>
      callServer(server.url, method, path, body)
    await expect
      .poll(async () => (await call('GET', '/api/mcp')).data.servers[0].state)
      .toBe('connected')
    const { data: conversation } = await call('POST', '/api/conversations', {})
    const ask = async (text: string, model: string) => {
      const stream = await openEvents(
        `${server.url}/api/conversations/${conversation.id}/messages`,
        {
          body: { text, model },
        },
      )
      await stream.all()
      return JSON.stringify(upstream.requests.at(-1)?.messages)
    }
    const url = `data:image/png;base64,${data}`

    upstream.enqueue(turn.toolCalls([{ name: 'mcp__camera__shot' }]), turn.text('A red picture.'))
    expect(await ask('Take one', 'sees')).toContain(url)
    upstream.enqueue(turn.text('Still red.'))
    expect(await ask('And now?', 'sees')).toContain(url)
    await server.kill('SIGKILL')
    server = await place.start()
    upstream.enqueue(turn.text('Red.'))
    expect(await ask('After all?', 'sees')).toContain(url)
    upstream.enqueue(turn.text('I cannot see it.'))
    const blind = await ask('And you?', 'blind')
    expect(blind).not.toContain(data)
    expect(blind).toContain('image(s) of this result omitted')
  })
})

// The examples for client libraries run as their first lines say, here with the demo model.
import { beforeAll, expect, test, vi } from 'vitest'
import { type TestServer, useServers } from '../support/server/server.ts'

const { start } = useServers()
let server: TestServer
beforeAll(async () => {
  server = await start({ config: { titles: 'off' } })
})

test.each(['openai', 'ai-sdk', 'langchain', 'mcp-client'])(
  '%s.mjs prints an answer',
  async (name) => {
    const lines: string[] = []
    vi.spyOn(console, 'log').mockImplementation((...parts) => void lines.push(parts.join(' ')))
    vi.stubEnv('NANOCLAW_URL', server.url)
    const { argv } = process
    process.argv = [...argv.slice(0, 2), 'What is 12 * 34?']
    try {
      await import(`../../examples/${name}.mjs`)
    } finally {
      process.argv = argv
      vi.unstubAllEnvs()
    }
    expect(lines.join('\n')).toContain('408')
  },
)

// The core of the page in Firefox and in WebKit, where they are installed.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { builtPage } from '../support/built.ts'
import { missingForFirefox, startFirefox } from '../support/page/firefox.ts'
import type { Reader } from '../support/page/readers.ts'
import { missingForWebKit, startWebKit } from '../support/page/webkit.ts'
import { scripted } from '../support/provider/scripted.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { type TestServer, useServers } from '../support/server/server.ts'

const ANSWER = [
  'It is **forty-two**.',
  '```python\nprint(6 * 7)\n```',
  '| a | b |\n| - | - |\n| 1 | 2 |',
  '```mermaid\ngraph TD; A --> B --> C\n```',
].join('\n\n')

const hasText = (text: string): string =>
  `document.body.innerText.includes(${JSON.stringify(text)})`
const exists = (selector: string): string =>
  `document.querySelector(${JSON.stringify(selector)}) !== null`

/** `missing`: the Debian package that would have to be installed. */
const BROWSERS = [
  { name: 'Firefox', missing: missingForFirefox, start: startFirefox },
  { name: 'WebKit', missing: missingForWebKit, start: startWebKit },
]

for (const { name, missing, start } of BROWSERS)
  describe.skipIf(missing !== undefined)(
    missing === undefined
      ? `the page in ${name}`
      : `the page in ${name} (not here: install ${missing})`,
    () => {
      const servers = useServers()
      let upstream: Upstream
      let server: TestServer
      let reader: Reader
      beforeAll(async () => {
        upstream = await startUpstream()
        const config = scripted(upstream)
        server = await servers.start({ config, webRoot: await builtPage() })
        reader = await start()
      })
      afterAll(async () => {
        await reader.close()
        await upstream.close()
      })

      const sees = (expression: string) =>
        expect.poll(() => reader.evaluate(expression), { message: expression }).toBe(true)
      const say = async (text: string): Promise<void> => {
        await sees(exists('#composer'))
        await reader.click('#composer')
        await reader.type(text)
        await reader.press('Enter')
      }

      test('a message can be sent, answered, stopped, approved, reloaded and found', async () => {
        const { json } = await server.call('POST', '/api/projects', { body: { name: 'Notes' } })
        await reader.open(`${server.url}/?project=${json.data.id}`)
        upstream.enqueue(
          turn.toolCalls([{ name: 'calculator', arguments: { expression: '6 * 7' } }], {
            thinking: 'I had better calculate that.',
          }),
          turn.text(ANSWER),
        )
        await say('What is six times seven?')
        await sees(exists('article table'))
        await sees(exists('button[aria-label="Regenerate"]'))
        await sees(exists('article img[src^="data:image/svg"], article img[src^="blob:"]'))
        // The question is at the top of the view, however long its answer is.
        await sees(
          `(() => {
            const row = document.querySelector('article[aria-label="Your message"]').closest('[data-message]')
            const top = row.getBoundingClientRect().top - document.querySelector('section[tabindex="0"]').getBoundingClientRect().top
            return top >= 0 && top < 40
          })()`,
        )
        await sees(`document.querySelector('article pre').textContent.includes('print(6 * 7)')`)

        let goOn = (): void => undefined
        const gate = new Promise<void>((resolve) => {
          goOn = resolve
        })
        const whole = turn.text('This goes on and on.', { chunkSize: 5 })
        upstream.enqueue({
          ...whole,
          actions: [...whole.actions.slice(0, 3), { until: gate }, ...whole.actions.slice(3)],
        })
        await say('Do not stop.')
        await sees(hasText('This goes'))
        await reader.press('Escape')
        await sees(hasText('Stopped.'))
        goOn()

        upstream.enqueue(
          turn.toolCalls([
            { name: 'file_write', arguments: { path: 'tea.md', content: 'Green.' } },
          ]),
          turn.text('Written.'),
        )
        await say('Write down that I like tea.')
        await sees(exists('[data-approval]'))
        await reader.evaluate(`document.querySelector('[data-approval]').focus()`)
        await reader.press('a')
        await sees(hasText('Written.'))

        await reader.reload()
        await sees(hasText('Written.'))
        await sees(hasText('forty-two'))
        await reader.press('Control+k')
        await sees(exists('[role="dialog"] input'))
        await reader.type('forty-two')
        await sees(exists('[role="dialog"] [role="option"] mark'))
        expect(reader.faults()).toEqual([])
      })
    },
  )

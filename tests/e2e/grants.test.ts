// Permissions in a real browser: given with an approval as a rule in words, seen at each call that they let through, removed in the settings.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser, expectAccessible, leave, say } from '../support/page/page.ts'
import { scripted } from '../support/provider/scripted.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { type TestServer, useServers } from '../support/server/server.ts'

/** Where pictures of the page are kept, to be looked at; none by default. */
const PICTURES = process.env.PICTURES

describeInBrowser('permissions in the page', (visitor) => {
  const servers = useServers()
  let upstream: Upstream
  let server: TestServer
  let project: string
  beforeAll(async () => {
    upstream = await startUpstream()
    server = await servers.start({ config: scripted(upstream), webRoot: visitor.webRoot() })
    const { json } = await server.call('POST', '/api/projects', { body: { name: 'Diary' } })
    project = json.data.id
    let calls = 0
    upstream.program(({ messages }) => {
      const last = messages.at(-1)
      if (last?.role !== 'user') return turn.text('Written.')
      calls += 1
      const [path = '', content = ''] = (String(last.content).split('\n').at(-1) ?? '').split(' ')
      return turn.toolCalls([
        { id: `call_${calls}`, name: 'file_write', arguments: { path, content } },
      ])
    })
  })
  afterAll(() => upstream.close())

  const newConversation = async (): Promise<string> => {
    const { json } = await server.call('POST', '/api/conversations', {
      body: { project_id: project },
    })
    return json.data.id
  }

  test.each([
    ['a laptop', { theme: 'light' }],
    ['a phone', { theme: 'dark', phone: true }],
  ] as const)(
    'on %s, a call is approved as a rule, the next one runs with a quiet line, and the rule is found and removed',
    async (device, options) => {
      const conversation = await newConversation()
      const page = await visitor.open(`${server.url}/c/${conversation}`, options)
      const picture = async (name: string): Promise<void> => {
        if (PICTURES !== undefined)
          await page.screenshot({ path: `${PICTURES}/${device.replace(' ', '-')}-${name}.png` })
      }
      await say(page, 'notes/monday.md sunny')
      const choice = page.getByRole('switch', { name: 'Don’t ask again for calls like this' })
      await choice.focus()
      await page.keyboard.press('Space')
      const rule = page.getByText('From now on, such calls run without asking:')
      await rule.waitFor()
      await page.getByText('notes/monday.md', { exact: true }).first().waitFor()
      await page.getByRole('switch', { name: /^Also with another value: Content/ }).click()
      await page.getByText('anything', { exact: true }).waitFor()
      await page.getByText(/it would have allowed/).waitFor()
      for (const name of ['One day', '10 times']) {
        const bound = page.getByRole('radio', { name, exact: true })
        await bound.hover()
        await bound.click()
        // The mouse stays over it.
        await expect.poll(() => bound.getAttribute('aria-checked')).toBe('true')
      }
      await picture('card')
      await expectAccessible(page)
      await page.getByRole('button', { name: 'Approve', exact: true }).click()
      await page.getByText('Written.').first().waitFor()

      const [bounded] = (await server.call('GET', '/api/grants')).json.data.items
      expect(bounded.max_uses).toBe(10)
      const day = 86_400_000
      expect(Date.parse(bounded.expires_at) - Date.parse(bounded.created_at)).toBeLessThanOrEqual(
        day,
      )
      expect(Date.parse(bounded.expires_at)).toBeGreaterThan(Date.parse(bounded.created_at))

      await say(page, 'notes/monday.md rainy')
      const used = page.getByRole('link', { name: 'Allowed by a permission' })
      await used.waitFor()
      await page.getByText('Written.').nth(1).waitFor()
      await picture('use')
      await used.click()
      await page.getByText('used once').first().waitFor()
      await page.getByText('10 times at most').first().waitFor()
      await page.getByText('anything', { exact: true }).first().waitFor()
      await picture('settings')
      await expectAccessible(page)
      await page
        .getByRole('button', { name: /^Remove the permission/ })
        .first()
        .click()
      await page.getByText('No permissions. The agent asks you each time.').waitFor()
      expect((await server.call('GET', '/api/grants')).json.data.items).toEqual([])
      await leave(page)
    },
  )
})

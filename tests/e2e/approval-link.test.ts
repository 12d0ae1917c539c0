// The page of a link: who is signed out may sign in to approve; who is signed in as somebody else can only reject.
import { expect, test } from 'vitest'
import { describeInBrowser, leave, signIn } from '../support/page/page.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { useUpstream } from '../support/provider/use-upstream.ts'
import { openEvents } from '../support/server/events.ts'
import { register, TEST_JWT_SECRET, useServers } from '../support/server/server.ts'

const upstream = await useUpstream()

describeInBrowser('the page of a link', (visitor) => {
  const servers = useServers()

  test('offers the sign-in to a visitor, the approval to its person, and neither to another account', async () => {
    const server = await servers.start({
      config: {
        auth_mode: 'multi',
        registration: 'open',
        jwt_secret: TEST_JWT_SECRET,
        models: [{ id: 'scripted', api_url: upstream.url }],
        titles: 'off',
      },
      webRoot: visitor.webRoot(),
    })
    const [token] = [await register(server, 'ada'), await register(server, 'bob')]
    upstream.program(() =>
      turn.toolCalls([{ name: 'file_write', arguments: { path: 'a.md', content: 'text' } }]),
    )
    const project = await server.call('POST', '/api/projects', { body: { name: 'Linked' }, token })
    const { json } = await server.call('POST', '/api/conversations', {
      body: { project_id: project.json.data.id },
      token,
    })
    const stream = await openEvents(`${server.url}/api/conversations/${json.data.id}/messages`, {
      body: { text: 'Go', on_disconnect: 'continue' },
      token,
    })
    const { data } = await stream.next(({ event }) => event === 'approval_required')
    const link = await server.call('POST', `/api/approvals/${data.approval_id}/link`, {
      body: {},
      token,
    })
    const { pathname } = new URL(link.json.data.url)

    for (const [username, offered] of [
      ['ada', 'Approve'],
      ['bob', null],
    ] as const) {
      const page = await visitor.open(`${server.url}${pathname}`)
      await page.getByRole('button', { name: 'Sign in to approve' }).click()
      await signIn(page, username)
      await page.getByRole('button', { name: 'Reject' }).waitFor()
      const buttons = await page.locator('footer').getByRole('button').allInnerTexts()
      expect(buttons).toEqual(offered === null ? ['Reject'] : ['Reject', offered])
      await leave(page)
    }
    stream.leave()
  })
})

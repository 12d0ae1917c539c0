// Who else decides in a project: added by name in its settings, sees the call and whose it is, and decides it.
import { expect, test } from 'vitest'
import { describeInBrowser, expectAccessible, leave, signIn } from '../support/page/page.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { useUpstream } from '../support/provider/use-upstream.ts'
import { openEvents } from '../support/server/events.ts'
import { register, TEST_JWT_SECRET, useServers } from '../support/server/server.ts'

const upstream = await useUpstream()
/** Where pictures of the page are kept, to be looked at; none by default. */
const PICTURES = process.env.PICTURES

describeInBrowser('an approver', (visitor) => {
  const servers = useServers()

  test('is added by name, finds the call of the other person on the page, and approves it', async () => {
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
    const [token] = [await register(server, 'olga'), await register(server, 'petra')]
    upstream.program(({ messages }) =>
      messages.at(-1)?.role === 'user'
        ? turn.toolCalls([{ name: 'file_write', arguments: { path: 'a.md', content: 'text' } }])
        : turn.text('Done.'),
    )
    const project = await server.call('POST', '/api/projects', { body: { name: 'Ours' }, token })
    const { id } = project.json.data
    const enter = async (username: string, path: string, phone: boolean) => {
      const page = await visitor.open(`${server.url}${path}`, { phone, ownContext: true })
      await signIn(page, username)
      return page
    }

    const olga = await enter('olga', `/projects/${id}`, false)
    await olga.getByRole('tab', { name: 'Settings' }).click()
    // Members are added in a form beside it.
    const form = olga.getByRole('form', { name: 'Who else decides' })
    await form.getByLabel('Name of the account or group').fill('Petra')
    await form.getByRole('button', { name: 'Add', exact: true }).click()
    await form.getByRole('button', { name: 'Remove petra' }).waitFor()
    if (PICTURES !== undefined) await olga.screenshot({ path: `${PICTURES}/approvers-set.png` })
    await expectAccessible(olga)
    await leave(olga)

    const { json } = await server.call('POST', '/api/conversations', {
      body: { project_id: id, title: 'Private title' },
      token,
    })
    const stream = await openEvents(`${server.url}/api/conversations/${json.data.id}/messages`, {
      body: { text: 'Go', on_disconnect: 'continue' },
      token,
    })
    await stream.next(({ event }) => event === 'approval_required')
    const petra = await enter('petra', '/waiting', true)
    await petra.getByText('olga').first().waitFor()
    if (PICTURES !== undefined) await petra.screenshot({ path: `${PICTURES}/approvers-decide.png` })
    await expectAccessible(petra)
    expect(await petra.locator('main').innerText()).not.toContain('Private title')
    await petra.getByRole('button', { name: 'Approve', exact: true }).click()
    await stream.next(({ event }) => event === 'done')
    await leave(petra)
  })
})

// A colleague in a project: added by name by its owner, uses it on a phone, is not offered what he may not do, and leaves it.
import { expect, test } from 'vitest'
import { describeInBrowser, expectAccessible, leave, say, signIn } from '../support/page/page.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { useUpstream } from '../support/provider/use-upstream.ts'
import { register, TEST_JWT_SECRET, useServers } from '../support/server/server.ts'

const upstream = await useUpstream()
/** Where pictures of the page are kept, to be looked at; none by default. */
const PICTURES = process.env.PICTURES

describeInBrowser('a colleague', (visitor) => {
  const servers = useServers()

  test('is added to a project by name, talks in it on a phone, changes nothing, and leaves it', async () => {
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
    const tokens = { ann: await register(server, 'ann'), bob: await register(server, 'bob') }
    const as = async (token: string, method: string, path: string, body?: object) =>
      await server.call(method, path, { token, ...(body === undefined ? {} : { body }) })
    const made = await as(tokens.ann, 'POST', '/api/projects', { name: 'Trip to Oslo' })
    const { id } = made.json.data
    const file = `/api/projects/${id}/files/plan.txt`
    await as(tokens.ann, 'PUT', file, { content: 'Take the train.\n' })
    upstream.program(() => turn.text('By train.'))
    const enter = async (username: string, path: string, phone: boolean) => {
      const page = await visitor.open(`${server.url}${path}`, { phone, ownContext: true })
      await signIn(page, username)
      return page
    }

    const ann = await enter('ann', `/projects/${id}`, false)
    await ann.getByRole('tab', { name: 'Settings' }).click()
    const form = ann.getByRole('form', { name: 'Members' })
    await form.getByLabel('Name of the account or group').fill('Bob')
    await form.getByRole('button', { name: 'Add', exact: true }).click()
    await ann.getByRole('button', { name: 'Remove bob' }).waitFor()
    expect(await ann.getByRole('combobox', { name: 'Role of bob' }).inputValue()).toBe('use')
    // Who owns it leaves it with a question, not by one click.
    expect(await ann.getByRole('button', { name: 'Remove ann' }).count()).toBe(0)
    if (PICTURES !== undefined) await ann.screenshot({ path: `${PICTURES}/members-set.png` })
    await expectAccessible(ann)
    // Nobody is removed by one click.
    await ann.getByRole('button', { name: 'Remove bob' }).click()
    await ann.getByRole('alertdialog').getByRole('heading', { name: 'Remove bob?' }).waitFor()
    if (PICTURES !== undefined) await ann.screenshot({ path: `${PICTURES}/members-remove.png` })
    await ann.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
    await ann.getByRole('button', { name: 'Remove bob' }).waitFor()
    await leave(ann)

    const bob = await enter('bob', '/projects', true)
    const card = bob.getByRole('link', { name: /Trip to Oslo/ })
    await card.getByText('Shared by ann').waitFor()
    await card.tap()
    await bob.getByRole('button', { name: 'Start a conversation' }).tap()
    await say(bob, 'How do we get there?')
    await bob.getByText('By train.').waitFor()
    const [talk] = (await as(tokens.bob, 'GET', '/api/conversations')).json.data.items
    expect(talk).toMatchObject({ project_id: id })
    expect((await as(tokens.ann, 'GET', `/api/conversations/${talk.id}`)).status).toBe(404)

    // What he may not do is not offered, and the page says why.
    await bob.goto(`${server.url}/projects/${id}?file=plan.txt`)
    // On a phone, the list of files, which says it too, is not shown beside an open file.
    const readOnly = bob
      .getByText('You can use this project, but not change it.')
      .filter({ visible: true })
    const text = bob.locator('.cm-content')
    await text.getByText('Take the train.').waitFor()
    expect(await text.getAttribute('aria-readonly')).toBe('true')
    await text.click()
    await bob.keyboard.type('Fly. ')
    await bob.keyboard.press('Control+s')
    expect(await text.innerText()).not.toContain('Fly')
    await readOnly.first().waitFor()
    expect(await bob.getByRole('switch', { name: 'Searchable' }).isDisabled()).toBe(true)
    const none = async (name: string): Promise<void> =>
      expect(await bob.getByRole('button', { name, exact: true }).count(), name).toBe(0)
    await none('Save')
    await bob.getByRole('button', { name: 'Actions for this file' }).tap()
    await bob.getByRole('menuitem', { name: 'Download' }).waitFor()
    expect(await bob.getByRole('menuitem').count()).toBe(1)
    await bob.keyboard.press('Escape')
    if (PICTURES !== undefined) await bob.screenshot({ path: `${PICTURES}/members-file.png` })
    await expectAccessible(bob)
    await bob.getByRole('tab', { name: 'History' }).tap()
    await bob.getByRole('button', { name: 'Compare' }).first().waitFor()
    await none('Restore')

    await bob.goto(`${server.url}/projects/${id}`)
    await bob.getByRole('button', { name: 'Search in files' }).waitFor()
    for (const name of ['Upload files', 'Upload a folder', 'New file', 'New folder'])
      await none(name)
    await readOnly.first().waitFor()
    if (PICTURES !== undefined) await bob.screenshot({ path: `${PICTURES}/members-files.png` })
    await bob.getByRole('tab', { name: 'Settings' }).tap()
    await readOnly.last().waitFor()
    // He sees which skills his conversations here have.
    const skills = bob.getByRole('list', { name: 'Skills' })
    expect(await skills.getByRole('switch', { name: 'research' }).isDisabled()).toBe(true)
    await none('Add a skill')
    await bob.getByRole('button', { name: 'Leave project' }).scrollIntoViewIfNeeded()
    await expectAccessible(bob)
    if (PICTURES !== undefined) await bob.screenshot({ path: `${PICTURES}/members-leave.png` })
    await bob.getByRole('button', { name: 'Leave project' }).tap()
    await bob.getByRole('alertdialog').getByRole('button', { name: 'Leave project' }).tap()
    await expect.poll(() => new URL(bob.url()).pathname).toBe('/projects')
    await card.waitFor({ state: 'detached' })
    expect((await as(tokens.bob, 'GET', `/api/projects/${id}`)).status).toBe(404)
    const kept = await as(tokens.bob, 'GET', `/api/conversations/${talk.id}`)
    expect(kept.json.data.project_id).toBeNull()
    await leave(bob)
  })
})

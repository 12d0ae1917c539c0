// A project as an assistant: its icon, starters and defaults, where it is chosen, and its copy and archive.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { pictureWith } from '../support/character-cards.ts'
import {
  describeInBrowser,
  expectAccessible,
  expectNoScrolling,
  leave,
} from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { scripted } from '../support/provider/scripted.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { useUpstream } from '../support/provider/use-upstream.ts'

const upstream = await useUpstream()
/** Where pictures of the page are kept, to be looked at; none by default. */
const PICTURES = process.env.PICTURES

describeInBrowser('a project as an assistant', (visitor) => {
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-assistants-'))
  const on = usePageServer(visitor, scripted(upstream))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const newProject = async (name: string): Promise<string> => {
    const { json } = await on.server.call('POST', '/api/projects', { body: { name } })
    return json.data.id
  }

  test('gets an icon, starters and defaults in its settings, and a chosen starter begins a conversation with them', async () => {
    const name = `Herons ${Math.random()}`
    const id = await newProject(name)
    const page = await visitor.open(`${on.server.url}/projects/${id}`)
    await page.getByRole('tab', { name: 'Settings' }).click()
    const form = page.locator('form', { has: page.getByLabel('Icon', { exact: true }) })
    await form.getByRole('button', { name: '📚' }).click()
    await form.getByLabel('Description').fill('Knows birds.')
    await form.getByRole('button', { name: 'Add a starter' }).click()
    await form.getByLabel('Title of starter 1').fill('Count')
    await form.getByText('A starter needs a title and a message.').waitFor()
    expect(await form.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    await form.getByLabel('Message of starter 1').fill('How many herons are there?')
    await form.getByLabel('Approval for risky tools').selectOption('auto')
    await form.getByLabel('Temperature').fill('0.5')
    await expectAccessible(page)
    await form.getByRole('button', { name: 'Save' }).click()
    await expect
      .poll(async () => (await on.server.call('GET', `/api/projects/${id}`)).json.data)
      .toMatchObject({
        icon: '📚',
        description: 'Knows birds.',
        starters: [{ title: 'Count', text: 'How many herons are there?' }],
        defaults: { approval: 'auto', temperature: 0.5 },
      })

    upstream.enqueue(turn.text('Eleven herons.'))
    await page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: `📚 ${name}` })
      .click()
    await page.getByRole('heading', { name: `📚 ${name}` }).waitFor()
    await page.getByRole('link', { name: 'Files, history and settings' }).waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Count' }).click()
    await page.getByText('Eleven herons.').waitFor()
    expect(upstream.requests.at(-1)).toMatchObject({ body: { temperature: 0.5 } })
    await page.waitForURL(/\/c\//)
    const conversation = page.url()
    await page.goto(`${on.server.url}/?project=${id}`)
    const overview = page.getByRole('region', { name: 'In this project' })
    await overview.getByRole('listitem').getByRole('link').click()
    await page.getByText('Eleven herons.').waitFor()
    expect(page.url()).toBe(conversation)
    await leave(page)
  })

  test('is copied, saved as an archive and imported from it, also on a phone', async () => {
    const name = `Archive ${Math.random()}`
    const id = await newProject(name)
    await on.server.call('PUT', `/api/projects/${id}/files/note.txt`, {
      body: { content: 'a heron' },
    })
    const page = await visitor.open(`${on.server.url}/projects`, { phone: true })
    await expectNoScrolling(page)
    const actions = page.getByRole('button', { name: `Actions for “${name}”` })
    await actions.tap()
    await page.getByRole('menuitem', { name: 'Copy…' }).tap()
    await page.getByRole('dialog').getByLabel('Name').fill(`${name} again`)
    await page.getByRole('dialog').getByRole('button', { name: 'OK' }).tap()
    await page.getByRole('link', { name: `${name} again` }).waitFor()

    await actions.tap()
    const downloading = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'Save as archive' }).tap()
    const archive = join(folder, 'archive.zip')
    await (await downloading).saveAs(archive)
    await page.getByRole('button', { name: 'Import a project' }).tap()
    await page.getByRole('dialog').locator('input[type=file]').setInputFiles(archive)
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Open / })
      .tap()
    await page.waitForURL(/\/projects\/[\w-]+$/)
    const imported = page.url().split('/').at(-1) ?? ''
    expect(imported).not.toBe(id)
    const { json } = await on.server.call('GET', `/api/projects/${imported}/files/note.txt`)
    expect(json.data.content).toBe('a heron')
    await leave(page)
  })

  test('is made of the assistants of another program, and a report says what became of their parts', async () => {
    const page = await visitor.open(`${on.server.url}/projects`)
    await page.getByRole('button', { name: 'Import a project' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Character cards (PNG, JSON, CHARX)').waitFor()
    await expectAccessible(page)
    if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/import.png` })
    const choose = async (content: unknown, name = 'models.json'): Promise<void> =>
      await dialog.locator('input[type=file]').setInputFiles({
        name,
        mimeType: 'application/octet-stream',
        buffer: Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content)),
      })
    await choose({ hello: 'world' })
    await dialog.getByRole('alert').getByText('nor agents of LibreChat').waitFor()
    const model = (name: string) => ({
      id: name,
      name,
      base_model_id: 'llama3:8b',
      params: { system: `You are ${name}, {{USER_NAME}}.`, temperature: 0.5, num_ctx: 4096 },
      meta: { description: 'A helper', toolIds: ['weather'], suggestion_prompts: [] },
    })
    const mark = String(Math.random())
    await choose([
      model(`Heron ${mark}`),
      model(`Crane ${mark}`),
      { id: 'x', name: 'X', object: 'model' },
    ])
    await dialog.getByRole('heading', { name: 'What was imported' }).waitFor()
    await dialog.getByText('were skipped: 1').waitFor()
    const heron = dialog
      .getByRole('listitem')
      .filter({ has: page.getByRole('heading', { name: `Heron ${mark}` }) })
    await heron.getByText('This server does not offer it.').waitFor()
    await heron.getByText('{{USER_NAME}}').waitFor()
    await heron.getByRole('button', { name: 'Read the instructions' }).click()
    await heron
      .getByRole('region', { name: 'Instructions' })
      .getByText(`You are Heron ${mark}`)
      .waitFor()
    await expectAccessible(page)
    if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/import-report.png` })
    await dialog.getByRole('button', { name: `Open Crane ${mark}` }).click()
    await page.getByRole('heading', { name: `Crane ${mark}` }).waitFor()
    await leave(page)
  })

  test('has an image as its icon wherever its name is, and a folder when the image is gone', async () => {
    const name = `Gallery ${Math.random()}`
    const id = await newProject(name)
    const page = await visitor.open(`${on.server.url}/projects/${id}`)
    await page.getByRole('tab', { name: 'Settings' }).click()
    const form = page.locator('form', { has: page.getByLabel('Icon', { exact: true }) })
    await form.locator('input[type=file]').setInputFiles({
      name: 'green.png',
      mimeType: 'image/png',
      buffer: pictureWith([]),
    })
    const shown = page.getByRole('img', { name: 'Image of the project' })
    await shown.locator('img').waitFor()
    await page.getByRole('button', { name: 'Remove image' }).waitFor()
    await expectAccessible(page)
    if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/icon-form.png` })
    await shown.locator('xpath=ancestor::form').getByRole('button', { name: 'Save' }).click()
    const stored = async () =>
      (await on.server.call('GET', `/api/projects/${id}`)).json.data.icon as string | null
    await expect.poll(stored).toMatch(/^[\w-]{8,}$/)
    const icon = await stored()

    const places = async (): Promise<void> => {
      const side = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name })
      await side.locator(ICON).waitFor()
      await side.click()
      await page.getByRole('heading', { name }).locator(ICON).waitFor()
      await page.getByRole('button', { name: `Project: ${name}` }).click()
      await page.getByRole('menuitemradio', { name }).locator(ICON).waitFor()
      if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/icon-home.png` })
      await page.keyboard.press('Escape')
      await page.goto(`${on.server.url}/projects`)
      await page.getByRole('main').getByRole('link', { name }).locator(ICON).waitFor()
      if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/icon-list.png` })
    }
    let ICON = 'img'
    await places()
    ICON = 'svg.lucide-folder'
    await page.route(`**/api/files/${icon}**`, (route) =>
      route.fulfill({ body: 'no image', contentType: 'image/png' }),
    )
    await page.reload()
    await places()
    await page.unroute(`**/api/files/${icon}**`)

    await page.goto(`${on.server.url}/projects/${id}`)
    await page.getByRole('tab', { name: 'Settings' }).click()
    await page.getByRole('button', { name: 'Remove image' }).click()
    await page.getByLabel('Icon', { exact: true }).waitFor()
    await form.getByRole('button', { name: 'Save' }).click()
    await expect.poll(stored).toBeNull()
    await leave(page)
  })
})

// The way of a new user: an app without any project, its versions, a project with a skill, and a colleague who only uses it.
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Language } from '../../locales/languages.ts'
import {
  composer,
  describeInBrowser,
  expectAccessible,
  expectNoScrolling,
  leave,
  say,
} from '../support/page/page.ts'
import { flat, pageTexts } from '../support/page/texts.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { useUpstream } from '../support/provider/use-upstream.ts'
import { freePort } from '../support/server/free-port.ts'
import { register, TEST_JWT_SECRET, type TestServer, useServers } from '../support/server/server.ts'
import { zipOf } from '../support/server/uploads.ts'

const upstream = await useUpstream()
/** Where pictures of the page are kept, to be looked at; none by default. */
const PICTURES = process.env.PICTURES

const CALCULATOR = `<!doctype html><html lang="en"><title>Calculator</title>
<meta name="viewport" content="width=device-width"><style>:root { color-scheme: light dark; font: 1.2rem system-ui }
button, input { font: inherit; padding: 0.5rem }</style>
<main><h1>Calculator</h1><p><label>Sum <input id="sum" value="6*7"></label>
<button id="go">Calculate</button></p><p><output id="result"></output></p></main>
<script>document.getElementById('go').onclick = () => {
  const [a, b] = document.getElementById('sum').value.split('*')
  document.getElementById('result').textContent = 'Result ' + a * b
}</script></html>`

const skill = (rule: string): string =>
  `---\nname: house-style\ndescription: How this team writes. Use it for every text.\n---\n# House style\n\n${rule}\n`

/** A person at a machine: how they press things, and the texts of their language. */
interface Person {
  page: Page
  /** The text of a key, with its parameters. */
  text(key: string, values?: Record<string, string>): string
  /** A button by the key of its name. */
  press(key: string, values?: Record<string, string>): Promise<void>
  picture(name: string): Promise<void>
}

const LANGUAGES = { 'en-US': 'en', 'zh-CN': 'zh', 'de-DE': 'de' } as const satisfies Record<
  string,
  Language
>

describeInBrowser('a new user', (visitor) => {
  const servers = useServers()

  const enter = async (
    server: TestServer,
    username: string,
    options: {
      phone: boolean
      language: keyof typeof LANGUAGES
      theme: 'light' | 'dark'
      appsPort: number
    },
  ): Promise<Person> => {
    const { phone, language } = options
    const texts = new Map(flat(pageTexts(LANGUAGES[language])))
    const text: Person['text'] = (key, values = {}) => {
      const found = texts.get(key)
      if (found === undefined) throw new Error(`no text ${key}`)
      return found.replace(/\{\{(\w+)\}\}/g, (_all, name: string) => values[name] ?? '')
    }
    const page = await visitor.open(server.url, { ...options, ownContext: true })
    await page.getByLabel(text('auth.username')).fill(username)
    await page.getByLabel(text('auth.password'), { exact: true }).fill('a good password')
    await page.getByRole('button', { name: text('auth.login'), exact: true }).click()
    await composer(page).waitFor()
    let shots = 0
    return {
      page,
      text,
      press: async (key, values) => {
        const button = page.getByRole('button', { name: text(key, values), exact: true }).first()
        await (phone ? button.tap() : button.click())
      },
      picture: async (name) => {
        shots += 1
        if (PICTURES === undefined) return
        const number = String(shots).padStart(2, '0')
        await page.screenshot({ path: `${PICTURES}/${username}-${phone}-${number}-${name}.png` })
      },
    }
  }
  const press = async (phone: boolean, locator: Locator) =>
    phone ? await locator.tap() : await locator.click()

  test.each([
    { how: 'with a mouse', phone: false, language: 'en-US', theme: 'light' },
    { how: 'by touch', phone: true, language: 'zh-CN', theme: 'dark' },
  ] as const)(
    'makes an app without a project, $how, goes back a version, keeps it with a skill, and gives it to a colleague, who is asked again when the skill changes',
    async ({ phone, language, theme }) => {
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
      const appsPort = await freePort()
      await server.server.appsServer?.listen({ host: '127.0.0.1', port: appsPort })
      const tokens = { ann: await register(server, 'ann'), bob: await register(server, 'bob') }

      // An app without any project.
      const ann = await enter(server, 'ann', { phone, language, theme, appsPort })
      const { page, text } = ann
      await ann.picture('home')
      const written = { path: 'calculator.html', content: CALCULATOR }
      upstream.enqueue(
        turn.toolCalls([{ name: 'file_write', arguments: written }]),
        turn.text('Here is your calculator. Try 6*7 first.'),
      )
      await say(page, 'Make me a small calculator.')
      await page.locator('[data-approval]').first().waitFor()
      await ann.picture('asks')
      await ann.press('approval.approve')
      await page.getByText('Try 6*7 first.').waitFor()
      await ann.picture('answer')
      await ann.press('apps.open', { name: 'calculator.html' })
      const frame = page.frameLocator('iframe[src*="calculator.html"]')
      await press(phone, frame.getByRole('button', { name: 'Calculate' }))
      await frame.getByText('Result 42').waitFor()
      await ann.picture('runs')
      await expectAccessible(page)

      // A change, which the open panel shows by itself.
      if (phone) await page.goBack()
      if (phone) await page.getByRole('dialog').waitFor({ state: 'detached' })
      const edit = {
        path: 'calculator.html',
        old: '<h1>Calculator</h1>',
        new: '<h1>Percent calculator</h1>',
      }
      upstream.enqueue(
        turn.toolCalls([{ name: 'file_edit', arguments: edit }]),
        turn.text('It has a new title.'),
      )
      await say(page, 'Call it a percent calculator.')
      await ann.press('approval.approve')
      await page.getByText('It has a new title.').waitFor()
      if (phone)
        await press(
          phone,
          page.getByRole('button', { name: text('apps.open', { name: 'calculator.html' }) }).last(),
        )
      await frame.getByRole('heading', { name: 'Percent calculator' }).waitFor()
      await ann.picture('changed')

      // Back a version.
      await page.getByRole('tab', { name: text('projects.tab.history') }).click()
      await ann.picture('history')
      await ann.press('history.restore')
      await page
        .getByRole('alertdialog')
        .getByRole('button', { name: text('history.restore'), exact: true })
        .click()
      await page.getByRole('tab', { name: text('projects.tab.files') }).click()
      await frame.getByRole('heading', { name: 'Calculator', exact: true }).waitFor()
      await ann.picture('restored')

      // Kept as a project.
      await ann.press('projects.keep')
      const keep = page.getByRole('dialog', { name: text('projects.keepTitle') })
      await keep.getByLabel(text('projects.name')).fill('Calculator')
      await ann.picture('keep')
      await keep.getByRole('button', { name: text('common.ok'), exact: true }).click()
      await keep.waitFor({ state: 'detached' })
      await ann.picture('kept')
      const { items } = (await server.call('GET', '/api/projects', { token: tokens.ann })).json.data
      expect(items).toMatchObject([{ name: 'Calculator', scratch: false }])
      const [{ id }] = items

      // A skill from an archive: read, then accepted.
      await page.goto(`${server.url}/projects/${id}`)
      await page.getByRole('tab', { name: text('projects.tab.settings') }).click()
      const addSkill = async (rule: string) =>
        await page.locator('input[type=file][accept*=".skill"]').setInputFiles({
          name: 'house-style.zip',
          mimeType: 'application/zip',
          buffer: await zipOf({ 'house-style/SKILL.md': skill(rule) }),
        })
      await addSkill('Write whole sentences.')
      const card = page
        .getByRole('listitem')
        .filter({ hasText: text('consent.new', { name: 'house-style' }) })
      await card.waitFor()
      await page.getByText(text('skills.waits')).waitFor()
      await page.getByRole('list', { name: text('skills.title') }).scrollIntoViewIfNeeded()
      await ann.picture('skill-waits')
      await ann.press('consent.read')
      await card.getByText('Write whole sentences.').waitFor()
      await expectAccessible(page)
      await ann.picture('skill-read')
      await ann.press('consent.accept')
      await card.waitFor({ state: 'detached' })
      await page.getByText(text('skills.waits')).waitFor({ state: 'detached' })

      // For a colleague, who may only use it.
      const members = page.getByRole('form', { name: text('project.members') })
      await members.getByLabel(text('project.approverName')).fill('bob')
      await members.getByRole('button', { name: text('project.approverAdd'), exact: true }).click()
      await page
        .getByRole('button', { name: text('project.approverRemove', { name: 'bob' }) })
        .waitFor()
      await ann.picture('members')

      const bob = await enter(server, 'bob', {
        phone: true,
        language: 'de-DE',
        theme: 'light',
        appsPort,
      })
      await bob.page.goto(`${server.url}/projects`)
      await bob.page.getByRole('link', { name: /Calculator/ }).tap()
      await bob.page.getByText(bob.text('consent.new', { name: 'house-style' })).waitFor()
      await bob.picture('project')
      await bob.press('projects.chat')
      const line = bob.page.getByRole('complementary', { name: bob.text('consent.title') })
      await line.waitFor()
      await bob.picture('home')
      await expectNoScrolling(bob.page)

      // What he has not read reaches no model.
      upstream.enqueue(turn.text('It multiplies.'))
      await say(bob.page, 'What does it do?')
      await bob.page.getByText('It multiplies.').waitFor()
      expect(JSON.stringify(upstream.requests.at(-1)?.body)).not.toContain('How this team writes')
      await line.getByRole('button', { name: bob.text('consent.read') }).tap()
      const reading = bob.page.getByRole('dialog', { name: bob.text('consent.title') })
      await reading.getByText('Write whole sentences.').waitFor()
      await bob.picture('reads')
      await expectAccessible(bob.page)
      await reading.getByRole('button', { name: bob.text('consent.accept') }).tap()
      await line.waitFor({ state: 'detached' })
      await reading.waitFor({ state: 'detached' })
      // Where a finger would open the keyboard over the page, the view has the focus.
      await bob.page.locator('#main:focus').waitFor()

      // An attempt to change a file is refused, and says why.
      upstream.enqueue(
        turn.toolCalls([
          { name: 'file_write', arguments: { path: 'calculator.html', content: 'x' } },
        ]),
        turn.text('I may not change it here.'),
      )
      await say(bob.page, 'Make it green.')
      await bob.page.getByText('I may not change it here.').waitFor()
      const told = upstream.requests.at(-1)
      expect(JSON.stringify(told?.body)).toContain('How this team writes')
      // The model knows why, so that it can say so.
      expect(JSON.stringify(told?.body)).toContain('use this project, but not change it')
      expect(JSON.stringify(told?.messages.at(-1))).toContain('file_write')
      await bob.picture('refused')
      const stored = await server.call('GET', `/api/projects/${id}/files/calculator.html`, {
        token: tokens.ann,
      })
      expect(stored.json.data.content).toBe(CALCULATOR)

      // The owner changes the skill; the colleague is asked again, where he is.
      await addSkill('Write half sentences.')
      await page.getByText(text('consent.changed', { name: 'house-style' })).waitFor()
      await ann.picture('skill-changed')
      await line.getByText(bob.text('consent.changed', { name: 'house-style' })).waitFor()
      await bob.picture('asked-again')
      upstream.enqueue(turn.text('Still so.'))
      await say(bob.page, 'And now?')
      await bob.page.getByText('Still so.').waitFor()
      expect(JSON.stringify(upstream.requests.at(-1)?.body)).not.toContain('How this team writes')
      await line.getByRole('button', { name: bob.text('consent.read') }).tap()
      await reading.getByText('Write half sentences.').waitFor()
      await reading.getByText('Write whole sentences.').waitFor()
      await bob.picture('reads-again')
      await leave(bob.page)
      await leave(page)
    },
  )
})

// The life of a project: uploaded in the browser, changed by the agent with approvals, across a crash, and restored.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  describeInBrowser,
  expectAccessible,
  expectNoScrolling,
  leave,
  say,
} from '../support/page/page.ts'
import { scripted } from '../support/provider/scripted.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import {
  type ServerPlace,
  type ServerProcess,
  serverPlace,
} from '../support/server/server-process.ts'

const FILES = 1_000

/** A realistic folder: nested, with many kinds of file names. */
function makeProject(folder: string): void {
  for (let index = 0; index < FILES; index++) {
    const inner = join(folder, `package${index % 20}`, `module ${index % 7}`)
    mkdirSync(inner, { recursive: true })
    writeFileSync(join(inner, `file${index}.ts`), `export const value${index} = ${index}\n`)
  }
  mkdirSync(join(folder, '文档'))
  writeFileSync(join(folder, '文档', 'naïve café.md'), '# Café\n')
  writeFileSync(join(folder, 'README.md'), '# Shop\n\nOld text.\n')
  writeFileSync(join(folder, 'main.ts'), 'start()\n')
  writeFileSync(join(folder, 'logo.png'), Buffer.from('89504e470d0a1a0a00', 'hex'))
}

describeInBrowser('a project from upload to undo', (visitor) => {
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-story-'))
  let upstream: Upstream
  let place: ServerPlace
  let server: ServerProcess
  beforeAll(async () => {
    makeProject(join(folder, 'shop'))
    upstream = await startUpstream()
    place = await serverPlace(folder, { ...scripted(upstream), log_level: 'warn' })
    server = await place.start()
  })
  afterAll(async () => {
    await place.close()
    await upstream.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const content = async (id: string, path: string): Promise<string | undefined> => {
    const response = await fetch(`${server.url}/api/projects/${id}/files/${path}`)
    const { data } = (await response.json()) as { data?: { content: string } }
    return data?.content
  }
  const question = (page: Page, about: string) =>
    page.getByRole('region', { name: new RegExp(`^${about} .*\\?`) })
  const unfold = (page: Page, about: string) =>
    question(page, about).getByRole('button', { name: 'Show details' }).click()

  test('1,000 files are uploaded, three changes are decided across a crash, and all of them are undone', async () => {
    const page = await visitor.open(`${server.url}/projects`, { withBuiltPage: true })
    await page.getByRole('button', { name: 'Upload a folder' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.locator('input[type=file]').setInputFiles(join(folder, 'shop'))
    await dialog.getByText(`${FILES + 4} files`).waitFor()
    await dialog.getByRole('button', { name: 'Upload', exact: true }).click()
    await page.getByText(`${FILES + 4} files`).waitFor()
    await page.getByText('文档', { exact: true }).click()
    await page.getByText('naïve café.md').waitFor()
    const id = page.url().split('/').at(-1) ?? ''
    const before = await content(id, 'README.md')

    upstream.enqueue(
      turn.toolCalls([{ name: 'file_read', arguments: { path: 'README.md' } }]),
      turn.toolCalls([
        {
          name: 'file_edit',
          arguments: { path: 'README.md', old: 'Old text.', new: 'New text.' },
        },
        { name: 'file_write', arguments: { path: 'docs/plan.md', content: '# Plan\n' } },
        { name: 'file_delete', arguments: { path: 'main.ts' } },
      ]),
      turn.text('All three are settled.'),
    )
    await page.getByRole('button', { name: 'Start a conversation' }).click()
    await say(page, 'Renew the text, write a plan, drop main.ts.')

    // Approval requests appear in the order of the calls; the first one is expanded and has the focus.
    await question(page, 'Change').getByText('New text.').waitFor()
    const names = page.getByRole('region', { name: /\?/ })
    await expect
      .poll(() => names.locator('h2').allTextContents())
      .toEqual([
        expect.stringContaining('Change README.md?'),
        expect.stringContaining('Create docs/plan.md?'),
        expect.stringContaining('Delete main.ts?'),
      ])
    const isFocused = 'document.activeElement === document.querySelector("[data-approval]")'
    await expect.poll(() => page.evaluate<boolean>(isFocused)).toBe(true)
    await question(page, 'Change').getByRole('button', { name: 'Side by side' }).click()
    await expectAccessible(page)

    await unfold(page, 'Delete')
    await question(page, 'Delete').getByText('start()').waitFor()
    await question(page, 'Delete').getByRole('button', { name: 'Reject' }).click()
    await question(page, 'Delete').getByLabel(/^Why/).fill('main.ts stays.')
    await question(page, 'Delete').getByRole('button', { name: 'Reject' }).click()
    // A decided request disappears, although its result waits for the earlier calls.
    await question(page, 'Delete').waitFor({ state: 'detached' })

    await server.kill('SIGKILL')
    await page.getByText('Connection lost').waitFor()
    server = await place.start()
    await page.getByText('Connection lost').waitFor({ state: 'detached' })
    expect(await content(id, 'README.md')).toBe(before)

    await unfold(page, 'Create')
    await question(page, 'Create').getByRole('button', { name: 'Change…' }).click()
    await question(page, 'Create').getByLabel('Content').fill('# My plan\n')
    await question(page, 'Create').getByRole('button', { name: 'Approve with changes' }).click()
    await question(page, 'Create').waitFor({ state: 'detached' })
    await question(page, 'Change').focus()
    await page.keyboard.press('a')
    await page.getByText('All three are settled.').waitFor()

    expect(await content(id, 'README.md')).toBe('# Shop\n\nNew text.\n')
    expect(await content(id, 'docs/plan.md')).toBe('# My plan\n')
    expect(await content(id, 'main.ts')).toBe('start()\n')
    const sentMessages = JSON.stringify(upstream.requests.at(-1)?.messages)
    expect(sentMessages).toContain('main.ts stays.')
    const chat = page.url()

    // The history lists both changes, compares them and links back to the chat.
    await page.goto(`${server.url}/projects/${id}`)
    await page.getByRole('tab', { name: 'History' }).click()
    const entry = page.getByRole('listitem').filter({ hasText: 'docs/plan.md' })
    await entry.getByRole('button', { name: 'Compare' }).click()
    const compare = page.getByRole('dialog', { name: 'Compare' })
    await compare.getByText('# My plan').waitFor()
    await compare.getByRole('radio', { name: 'Everything since then' }).click()
    await compare.getByText('# My plan').waitFor()
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Open conversation' }).first().click()
    await page.getByText('All three are settled.').waitFor()
    expect(page.url()).toBe(chat)

    await page
      .getByRole('article', { name: 'Your message' })
      .getByRole('button', { name: 'Undo file changes since here' })
      .click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Undo' }).click()
    await page.getByText('2 files restored.').waitFor()
    expect(await content(id, 'README.md')).toBe(before)
    expect(await content(id, 'docs/plan.md')).toBeUndefined()
    await leave(page)
    upstream.expectDone()
  })

  test('on a phone, in Chinese and in the dark theme, approval requests fit and can be decided', async () => {
    const created = await fetch(`${server.url}/api/projects`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Phone' }),
    })
    const { data } = (await created.json()) as { data: { id: string } }
    upstream.enqueue(
      turn.toolCalls([
        { name: 'file_write', arguments: { path: 'a.md', content: `${'wide '.repeat(60)}\n` } },
        { name: 'file_write', arguments: { path: 'b.md', content: 'b\n' } },
      ]),
      turn.text('两个文件都写好了。'),
    )
    const page = await visitor.open(`${server.url}/?project=${data.id}`, {
      withBuiltPage: true,
      phone: true,
      theme: 'dark',
      language: 'zh-CN',
    })
    await say(page, '写两个文件')
    const questions = page.getByRole('region', { name: /^要新建 / })
    await questions.first().getByText('wide wide').waitFor()
    await expectNoScrolling(page)
    await expectAccessible(page)
    // The fields of a change have names in the reader's language.
    await questions.first().getByRole('button', { name: '修改…' }).tap()
    await questions.first().getByLabel('内容').waitFor()
    // The button that leads to the end covers no button of a card.
    const hit = await page.evaluate<string>(`(async () => {
      const [approve] = document.querySelectorAll('[data-approval] footer button:last-child')
      approve.scrollIntoView({ block: 'end' })
      for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame)
      const row = approve.parentElement.getBoundingClientRect()
      const middle = document.elementFromPoint(innerWidth / 2, row.top + row.height / 2)
      return String(middle?.closest('[data-approval]') !== null)
    })()`)
    expect(hit).toBe('true')
    await questions.first().getByRole('button', { name: '返回' }).tap()
    await questions.first().getByRole('button', { name: '允许' }).tap()
    await questions.first().getByText('b.md').first().waitFor()
    await questions.first().getByRole('button', { name: '允许' }).tap()
    await page.getByText('两个文件都写好了。').waitFor()
    expect(await content(data.id, 'b.md')).toBe('b\n')
    await leave(page)
  })
})

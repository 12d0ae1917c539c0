// The chat in a real browser against the real server: tools, reload, lost connection, stop, edit, branches.
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  composer,
  describeInBrowser,
  expectAccessible,
  leave,
  say,
  visit,
} from '../support/page/page.ts'
import { scripted } from '../support/provider/scripted.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { useServers } from '../support/server/server.ts'

/** A promise that the test resolves when the upstream may continue. */
function gate() {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

describeInBrowser('the chat', (visitor) => {
  const servers = useServers()
  let upstream: Upstream
  let url: string
  beforeAll(async () => {
    upstream = await startUpstream()
    const server = await servers.start({ config: scripted(upstream), webRoot: visitor.webRoot() })
    url = server.url
  })
  afterAll(() => upstream.close())

  test('an answer with thinking and tools is shown step by step, and is the same after a reload', async () => {
    upstream.enqueue(
      turn.toolCalls([{ name: 'calculator', arguments: { expression: '6 * 7' } }], {
        thinking: 'I had better calculate that.',
      }),
      turn.text(
        'It is **forty-two**.\n\n```python\nprint(6 * 7)\n```\n\n| a | b |\n| - | - |\n| 1 | 2 |',
      ),
    )
    const page = await visitor.open(url)
    await say(page, 'What is six times seven?')
    const answer = page.getByRole('article', { name: 'Answer' })
    await answer.getByText('forty-two').waitFor()
    await answer.getByRole('button', { name: 'Regenerate' }).waitFor()

    const look = async (): Promise<void> => {
      await expect.poll(() => answer.locator('strong').textContent()).toBe('forty-two')
      await expect.poll(() => answer.getByRole('table').count()).toBe(1)
      await expect.poll(() => answer.locator('pre').first().textContent()).toContain('print(6 * 7)')
      const thinking = answer.getByRole('button', { name: /^Thought/ })
      await thinking.click()
      await answer.getByText('I had better calculate that.').waitFor()
      const tool = answer.getByRole('button', { name: /^Calculate/ })
      await expect.poll(() => tool.textContent()).toContain('done')
      await tool.click()
      await answer.getByText('6 * 7 =').waitFor()
      await answer.getByRole('status').getByText('42', { exact: true }).waitFor()
      await answer.getByRole('button', { name: 'Raw data' }).click()
      await answer.getByText('"expression": "6 * 7"').first().waitFor()
      await answer.getByText('"result": 42').waitFor()
    }
    await look()
    expect(await page.title()).toContain('NanoClaw')
    await page.reload()
    await answer.getByText('forty-two').waitFor()
    await look()
    expect(
      await page
        .getByRole('navigation', { name: 'Conversations' })
        .getByRole('link')
        .first()
        .textContent(),
    ).toContain('What is six times seven?')
    await leave(page)
  })

  test('a reload in the middle of an answer loses nothing, and a second window shows the answer too', async () => {
    const middle = gate()
    const [before, after] = ['First half, ', 'and the second half.']
    const whole = turn.text(before + after, { chunkSize: 4 })
    const cut = whole.actions.findIndex(
      (action) => 'send' in action && String(action.send).includes('and '),
    )
    upstream.enqueue({
      ...whole,
      actions: [
        ...whole.actions.slice(0, cut),
        { until: middle.opened },
        ...whole.actions.slice(cut),
      ],
    })
    const page = await visitor.open(url)
    await say(page, 'Tell me something in two halves.')
    await page.getByText('First half,').waitFor()
    await page.reload()
    await page.getByText('First half,').waitFor()
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    const second = await visitor.open(page.url())
    await second.getByText('First half,').waitFor()
    middle.open()
    for (const window of [page, second]) {
      await window.getByText('First half, and the second half.').waitFor()
      await window.getByRole('button', { name: 'Send', exact: true }).waitFor()
    }
    await leave(second)
    await leave(page)
  })

  test('a lost connection is re-established without any action by the user', async () => {
    const middle = gate()
    const whole = turn.text('One two three four five.', { chunkSize: 4 })
    upstream.enqueue({
      ...whole,
      actions: [...whole.actions.slice(0, 3), { until: middle.opened }, ...whole.actions.slice(3)],
    })
    const page = await visitor.open(url)
    await say(page, 'Count.')
    await page.getByText('One two').waitFor()
    await page.context().setOffline(true)
    await page.getByText('Connection lost').first().waitFor()
    middle.open()
    await page.context().setOffline(false)
    await page.getByText('One two three four five.').waitFor()
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor()
    await leave(page)
  })

  test('Escape stops an answer, keeps what has arrived, and allows a new message at once', async () => {
    const never = gate()
    const whole = turn.text('This goes on and on.', { chunkSize: 5 })
    upstream.enqueue({
      ...whole,
      actions: [...whole.actions.slice(0, 3), { until: never.opened }, ...whole.actions.slice(3)],
    })
    const page = await visitor.open(url)
    await say(page, 'Do not stop.')
    await page.getByText('This goes').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('Stopped.').waitFor()
    await page.getByText('This goes').waitFor()
    never.open()
    upstream.enqueue(turn.text('Here again.'))
    await say(page, 'And now?')
    await page.getByText('Here again.').waitFor()
    await leave(page)
  })

  test('regenerating creates a sibling, editing creates a branch, and each can be shown', async () => {
    upstream.enqueue(turn.text('Answer A'))
    const page = await visitor.open(url)
    await say(page, 'First question')
    await page.getByText('Answer A').waitFor()
    upstream.enqueue(turn.text('Answer B'))
    await page.getByRole('button', { name: 'Regenerate' }).click()
    await page.getByText('Answer B').waitFor()
    await page.getByText('2 / 2').waitFor()
    await page.getByRole('button', { name: 'Previous version' }).click()
    await page.getByText('Answer A').waitFor()

    upstream.enqueue(turn.text('Answer C'))
    await page.getByRole('article', { name: 'Your message' }).hover()
    await page
      .getByRole('article', { name: 'Your message' })
      .getByRole('button', { name: 'Edit' })
      .click()
    const field = page.getByRole('textbox', { name: 'Edit' })
    await field.press('Escape')
    await page.locator('button[aria-label="Edit"]:focus').press('Enter')
    await field.fill('Edited question')
    await field.press('Control+Enter')
    await page.getByText('Answer C').waitFor()
    const edited = page.getByRole('article', { name: 'Your message' })
    await edited.getByText('2 / 2').waitFor()
    await edited.getByRole('button', { name: 'Previous version' }).click()
    await edited.getByText('First question').waitFor()
    await page.getByText(/Answer [AB]/).waitFor()
    await leave(page)
  })

  test('an image and a text file are sent with a message, even after a visit to another view and a reload', async () => {
    upstream.enqueue(turn.text('I see them.'))
    const page = await visitor.open(url)
    await page.locator('input[type=file]').setInputFiles([
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('remember the milk') },
      {
        name: 'dot.png',
        mimeType: 'image/png',
        buffer: Buffer.from(
          'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
          'base64',
        ),
      },
    ])
    const chips = page.getByRole('list', { name: 'Attachments' }).locator('li[aria-busy=false]')
    await expect.poll(() => chips.count()).toBe(2)
    await visit(page, '/memory')
    await page.getByRole('link', { name: 'New conversation' }).click()
    await expect.poll(() => chips.allInnerTexts()).toEqual(['notes.txt', 'dot.png'])
    await page.reload()
    await expect.poll(() => chips.count()).toBe(2)
    await say(page, 'Look at these.')
    await page.getByText('I see them.').waitFor()
    const asked = JSON.stringify(upstream.requests.at(-1)?.messages)
    expect(asked).toContain('remember the milk')
    expect(asked).toContain('data:image/png;base64,')
    await page.reload()
    await page.getByRole('article', { name: 'Your message' }).getByText('notes.txt').waitFor()
    await page.getByRole('link', { name: 'New conversation' }).click()
    await composer(page).waitFor()
    expect(await chips.count()).toBe(0)
    await leave(page)
  })

  test('HTML and scripts in an answer are never executed', async () => {
    upstream.enqueue(
      turn.text(
        'Hi <img src=x onerror="window.pwned=1"><script>window.pwned=1</script> [click](javascript:window.pwned=1) ![x](http://127.0.0.1:9/track.png)',
      ),
    )
    const page = await visitor.open(url)
    await say(page, 'Say something dangerous.')
    await page.getByText('click').waitFor()
    await page.getByText('click').click({ noWaitAfter: true })
    expect(await page.evaluate<boolean>('"pwned" in window')).toBe(false)
    await leave(page)
  })

  test('an edited answer is stored beside the original, and an answer can be rated with a note', async () => {
    upstream.enqueue(turn.text('The capital is Bonn.'))
    const page = await visitor.open(url)
    await say(page, 'What is the capital?')
    const answer = page.getByRole('article', { name: 'Answer' })
    await answer.getByText('The capital is Bonn.').waitFor()
    await answer.getByRole('button', { name: 'Bad answer' }).click()
    await answer.getByLabel('What was wrong? (optional)').fill('It has moved.')
    await answer.getByRole('button', { name: 'Save' }).click()
    await answer.getByLabel('What was wrong? (optional)').waitFor({ state: 'detached' })

    await answer.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Edit text' }).click()
    const field = page.getByRole('textbox', { name: 'Edit' })
    expect(await field.inputValue()).toBe('The capital is Bonn.')
    await field.fill('The capital is **Berlin**.')
    await page.getByRole('button', { name: 'Save' }).click()
    await answer.getByText('Edited by you').waitFor()
    expect(await answer.locator('strong').textContent()).toBe('Berlin')
    const rated = (name: string) =>
      answer.getByRole('button', { name }).getAttribute('aria-pressed')
    expect(await rated('Bad answer')).toBe('false')
    await answer.getByRole('button', { name: 'Previous version' }).click()
    await answer.getByText('The capital is Bonn.').waitFor()
    await expect.poll(() => rated('Bad answer')).toBe('true')
    await leave(page)
  })

  test('a failed answer names the reason, shows the request without the key, and can be regenerated', async () => {
    upstream.enqueue(turn.error(401, 'bad key'))
    const page = await visitor.open(url)
    await say(page, 'Will this work?')
    const alert = page.getByRole('article', { name: 'Answer' }).getByRole('alert')
    await alert.waitFor()
    await alert.getByRole('button', { name: 'Answer details' }).click()
    const inspector = page.getByRole('dialog', { name: 'Answer details' })
    await inspector.getByRole('button', { name: /^Scripted/ }).press('Enter')
    await inspector.getByText('authorization: Bearer $API_KEY').waitFor()
    await inspector.getByText(/^user/).first().click()
    await inspector.locator('pre', { hasText: 'Will this work?' }).waitFor()
    await inspector.getByRole('radio', { name: 'Response' }).click()
    await inspector.getByText(/^HTTP 401/).waitFor()
    await expectAccessible(page)
    const search = inspector.getByRole('searchbox')
    await search.fill('nobody said this')
    await inspector.getByText('No call contains this.').waitFor()
    await search.fill('THIS WORK')
    await inspector.getByRole('button', { name: /^Scripted/ }).waitFor()
    await inspector.getByRole('radio', { name: 'Stored' }).click()
    await inspector.getByText('End of the answer').waitFor()
    await page.keyboard.press('Escape')
    upstream.enqueue(turn.text('Now it does.'))
    await alert.getByRole('button', { name: 'Regenerate' }).click()
    await page.getByText('Now it does.').waitFor()
    await leave(page)
  })
})

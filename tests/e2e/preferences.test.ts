// What a person sets for themselves: how the page looks, which key sends, instructions, tools, and the models of menus.
import { expect, test } from 'vitest'
import {
  composer,
  describeInBrowser,
  expectAccessible,
  expectNoScrolling,
  leave,
} from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { turn } from '../support/provider/upstream-turns.ts'

describeInBrowser('preferences', (visitor) => {
  const site = usePageServer(visitor)

  test('shortcuts name the keys as keyboards of the language do', async () => {
    const page = await visitor.open(site.server.url, { language: 'de-DE' })
    await page.getByRole('button', { name: 'Tastenkürzel' }).click()
    const dialog = page.getByRole('dialog', { name: 'Tastenkürzel' })
    await dialog.getByText('Umschalt').first().waitFor()
    await dialog.getByText('Strg').first().waitFor()
    expect(await dialog.getByText('Ctrl').count()).toBe(0)
    await leave(page)
  })

  test('text size, contrast and the send key survive a reload', async () => {
    const page = await visitor.open(`${site.server.url}/settings/appearance`)
    await page.setViewportSize({ width: 390, height: 760 })
    const choose = (group: string, option: string) =>
      page.getByLabel(group, { exact: true }).getByRole('radio', { name: option }).click()
    const sizeOf = () =>
      page.evaluate<number>('parseFloat(getComputedStyle(document.body).fontSize)')
    const before = await sizeOf()
    await choose('Text size', 'Largest')
    await choose('Density', 'Compact')
    await choose('Contrast', 'High')
    await choose('Motion', 'Reduced')
    await choose('Send messages with', 'Ctrl or ⌘ + Enter')
    expect(await sizeOf()).toBe(before * 1.25)
    await expectNoScrolling(page)
    await expectAccessible(page, { colours: 'more' })

    await page.goto(site.server.url)
    await composer(page).fill('first line')
    expect(await sizeOf()).toBe(before * 1.25)
    expect(await page.evaluate<string>('document.documentElement.dataset.contrast')).toBe('more')
    await composer(page).press('Enter')
    await composer(page).pressSequentially('second line')
    expect(await composer(page).inputValue()).toBe('first line\nsecond line')
    site.upstream.enqueue(turn.text('Both arrived.'))
    await composer(page).press('Control+Enter')
    await page.getByText('Both arrived.').waitFor()
    await expectNoScrolling(page)
    // The hint of the button names the chosen keys also while an answer is being written.
    let finish = (): void => undefined
    const until = new Promise<void>((resolve) => {
      finish = resolve
    })
    const slow = turn.text('Here is the end.', { chunkSize: 4 })
    const [first, ...others] = slow.actions
    site.upstream.enqueue({ ...slow, actions: [...(first ? [first] : []), { until }, ...others] })
    await composer(page).fill('A long one')
    await composer(page).press('Control+Enter')
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor()
    await composer(page).fill('And another')
    await page.getByRole('button', { name: 'Queue message' }).hover()
    await page
      .getByRole('tooltip')
      .getByText('Send when the answer is complete (Ctrl or ⌘ + Enter)')
      .waitFor()
    finish()
    await page.getByText('Here is the end.').waitFor()
    await leave(page)
  })

  test('the largest text size enlarges every text by a quarter: in an answer, the composer, the sidebar and the settings', async () => {
    site.upstream.enqueue(
      turn.toolCalls([{ id: 'a', name: 'get_current_time', arguments: {} }], {
        thinking: 'What time is it?',
      }),
      turn.text('## Now\n\nIt is `noon`.\n\n```js\nnow()\n```\n\n| A |\n| - |\n| b |'),
    )
    const { json } = await site.server.call('POST', '/api/conversations', { body: { title: 'T' } })
    await site.server.call('POST', `/api/conversations/${json.data.id}/messages`, {
      body: { text: 'What time is it?', stream: false },
    })
    const page = await visitor.open(`${site.server.url}/c/${json.data.id}`)
    await page.getByRole('heading', { name: 'Now' }).waitFor()
    const otherwise = () =>
      page.evaluate<string[]>(`(() => {
        const root = document.documentElement.dataset
        const texts = [...document.querySelectorAll('body *')].filter((one) => !one.closest('svg, script') &&
          (one.matches('input, textarea, select') || [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')))
        const sizes = () => texts.map((one) => parseFloat(getComputedStyle(one).fontSize))
        root.text = 'normal'
        const before = sizes()
        root.text = 'largest'
        const after = sizes()
        root.text = 'normal'
        return texts.flatMap((one, at) => Math.abs(after[at] / before[at] - 1.25) < 0.01 ? []
          : [one.tagName + ' "' + one.textContent.slice(0, 40) + '": ' + before[at] + ' to ' + after[at]])
      })()`)
    expect(await otherwise()).toEqual([])
    await page.getByRole('button', { name: /^Thought/ }).click()
    await page.getByText('What time is it?').nth(1).waitFor()
    expect(await otherwise()).toEqual([])
    await page.goto(`${site.server.url}/settings/channels`)
    await page.getByRole('button', { name: 'Add webhook' }).click()
    await page.getByRole('dialog').waitFor()
    expect(await otherwise()).toEqual([])
    await leave(page)
  })

  test('instructions, disabled tools and a saved prompt with its fields filled in reach the model', async () => {
    const page = await visitor.open(`${site.server.url}/settings/agent`)
    await page.getByLabel('Instructions').fill('Always answer in verse.')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'Save a prompt' }).click()
    const editor = page.getByRole('dialog', { name: 'Save a prompt' })
    await editor.getByLabel('Name').fill('explain')
    await editor.getByLabel('Prompt').fill('Explain {{topic}} to {{ reader }}. Only {{topic}}!')
    await editor.getByText('Fields to fill in: topic, reader').waitFor()
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/saved-prompt.png` })
    await editor.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'Edit “explain”' }).waitFor()
    await page.getByRole('switch', { name: 'Get weather' }).click()
    const stored = async () => (await site.server.call('GET', '/api/preferences')).json.data
    await expect.poll(stored).toMatchObject({
      instructions: 'Always answer in verse.',
      disabled_tools: ['get_weather'],
    })
    await expectAccessible(page)
    await page.goto(site.server.url)
    site.upstream.enqueue(turn.text('A verse.'))
    await composer(page).pressSequentially('/expl')
    await page.getByRole('option', { name: 'explain' }).waitFor()
    await composer(page).press('Enter')
    const form = page.getByRole('dialog', { name: 'explain' })
    await form.getByLabel('topic').fill('{{reader}} and $& tides')
    await form.getByLabel('reader').fill('a child')
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/prompt-form.png` })
    await form.getByLabel('reader').press('Control+Enter')
    const filled = 'Explain {{reader}} and $& tides to a child. Only {{reader}} and $& tides!'
    await expect.poll(() => composer(page).inputValue()).toBe(filled)
    await composer(page).press('Enter')
    await page.getByText('A verse.').waitFor()
    const request = site.upstream.requests.at(-1)
    expect(String(request?.messages.at(-1)?.content)).toContain(filled)
    expect(String(request?.messages[0]?.content)).toContain('Always answer in verse.')
    expect(JSON.stringify(request?.body.tools)).not.toContain('"get_weather"')
    await leave(page)
  })

  test('on a right-to-left page, a number stands before its unit', async () => {
    const page = await visitor.open(site.server.url)
    await page.evaluate(`localStorage.setItem('nanoclaw.display', '{"figures":"below"}')`)
    await page.reload()
    site.upstream.enqueue(turn.text('Done.'))
    await composer(page).fill('How long does it take?')
    await composer(page).press('Enter')
    const figures = page.getByRole('article', { name: 'Answer' }).locator('.tabular-nums').last()
    await figures.getByText(/ s \(first token/).waitFor()
    await page.evaluate("document.documentElement.dir = 'rtl'")
    // Whether the first digit of the duration stands to the left of the unit behind it.
    const isBefore = `(() => {
      const figures = [...document.querySelectorAll('article .tabular-nums')].at(-1)
      const texts = document.createTreeWalker(figures, NodeFilter.SHOW_TEXT)
      while (texts.nextNode()) {
        const text = texts.currentNode
        if (!/^[<\\d].*? s\\b/.test(text.data)) continue
        const placeOf = (at) => {
          const range = document.createRange()
          range.setStart(text, at)
          range.setEnd(text, at + 1)
          return range.getBoundingClientRect().x
        }
        return placeOf(0) < placeOf(text.data.indexOf(' s') + 1)
      }
    })()`
    await expect.poll(() => page.evaluate<boolean | undefined>(isBefore)).toBe(true)
    await leave(page)
  })
})

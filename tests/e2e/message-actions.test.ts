// The actions of messages: with a mouse, each can be seen and clicked, however long the conversation is.
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeInBrowser, leave, say } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { turn } from '../support/provider/upstream-turns.ts'

const TURNS = 8

/** The controls of the message under the pointer that a click in their middle would not reach, or that cannot be seen. */
const unreachable = (page: Page, id: string) =>
  page.evaluate<string[]>(`(() => {
    const row = document.querySelector('[data-message="${id}"]')
    const outer = row.getBoundingClientRect()
    const controls = [...row.querySelectorAll('button, a, summary')]
    if (controls.length < 3) return ['only ' + controls.length + ' controls']
    return controls.flatMap((control) => {
      const box = control.getBoundingClientRect()
      const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)
      const isInside = box.top >= outer.top && box.bottom <= outer.bottom &&
        box.left >= outer.left && box.right <= outer.right
      const isSeen = control.checkVisibility({ opacityProperty: true, visibilityProperty: true })
      return control.contains(hit) && isInside && isSeen
        ? [] : [control.getAttribute('aria-label') ?? control.textContent]
    })
  })()`)

describeInBrowser('the actions of messages', (visitor) => {
  const on = usePageServer(visitor)

  /** A conversation of a project with `TURNS` questions, each with a second version. */
  async function longConversation(): Promise<string> {
    const projectId = await on.createProject('Long', { 'a.txt': 'a' })
    const created = await on.server.call('POST', '/api/conversations', {
      body: { project_id: projectId },
    })
    const id: string = created.json.data.id
    for (let at = 0; at < TURNS; at += 1) {
      on.upstream.enqueue(turn.text(`First answer ${at}.`), turn.text(`Second answer ${at}.`))
      const sent = await on.server.call('POST', `/api/conversations/${id}/messages`, {
        body: { text: `Question ${at}`, stream: false },
      })
      const messageId = sent.json.data.message.parent_id
      await on.server.call('PATCH', `/api/conversations/${id}/messages/${messageId}`, {
        body: { text: `Question ${at}, edited`, stream: false },
      })
    }
    return id
  }

  test('with a mouse, every control of every message of a long conversation lies in its row, is seen under the pointer and receives its click', async () => {
    const id = await longConversation()
    const page = await visitor.open(`${on.server.url}/c/${id}`)
    await page.getByText(`Second answer ${TURNS - 1}.`).waitFor()
    const rows = await page.locator('[data-message]').all()
    expect(rows).toHaveLength(TURNS * 2)
    for (const row of rows.toReversed()) {
      const messageId = String(await row.getAttribute('data-message'))
      await page.evaluate(
        `document.querySelector('[data-message="${messageId}"]').scrollIntoView({ block: 'center' })`,
      )
      await row.getByRole('article').hover({ position: { x: 4, y: 4 } })
      await expect.poll(() => unreachable(page, messageId)).toEqual([])
    }
    const first = rows[0]
    await first?.getByRole('button', { name: 'Previous version' }).click()
    await page.getByText('First answer 0.').waitFor()
    await leave(page)
  })

  test('the form that edits a message keeps a distance from the answer below it', async () => {
    on.upstream.enqueue(turn.text('The answer stays below.'))
    const page = await visitor.open(on.server.url)
    await say(page, 'A question')
    const answer = page.getByText('The answer stays below.')
    await answer.waitFor()
    const edit = page.getByRole('button', { name: 'Edit' }).first()
    await expect.poll(() => edit.isEnabled()).toBe(true)
    await page.getByRole('article', { name: 'Your message' }).hover()
    await edit.click()
    const send = await page.locator('form', { hasText: 'The original stays' }).boundingBox()
    const below = await answer.boundingBox()
    expect((below?.y ?? 0) - (send?.y ?? 0) - (send?.height ?? 0)).toBeGreaterThan(14)
    await leave(page)
  })
})

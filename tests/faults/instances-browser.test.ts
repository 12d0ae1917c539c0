// The page behind nginx with two instances, when the one that performs the run is killed; with FAULTS=full only.
import { afterAll, expect, test } from 'vitest'
import { RunId } from '../../server/protocol/ids.ts'
import { describeInBrowser, leave, say } from '../support/page/page.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { freePort } from '../support/server/free-port.ts'
import { useInstanceProcesses } from '../support/server/instance-processes.ts'
import { hasNginx, type Nginx, startNginx } from '../support/server/nginx.ts'
import { hasRedis } from '../support/store/redis.ts'

const isFull = process.env.FAULTS === 'full' && hasRedis && hasNginx
const TALE = Array.from({ length: 200 }, (_, at) => `Sentence ${at} of the tale.`).join(' ')
const port = await freePort()

describeInBrowser('the page behind nginx with two instances', (visitor) => {
  const url = `http://127.0.0.1:${port}`
  const instances = useInstanceProcesses(2, { config: { public_url: url } })
  let nginx: Nginx | undefined
  afterAll(() => nginx?.close())

  test.skipIf(!isFull)(
    'an answer continues in the page when its instance is killed, and its approval is given through the other instance',
    async () => {
      nginx = await startNginx(port, [instances.urlOf(0), instances.urlOf(1)])
      instances.upstream.program(({ messages }) => {
        const results = messages.filter(({ role }) => role === 'tool').length
        if (results === 0)
          return turn.toolCalls([{ name: 'calculator', arguments: { expression: '6 * 7' } }], {
            thinking: 'First a sum.',
            text: 'Let me calculate.',
          })
        if (results === 1)
          return turn.toolCalls(
            [{ name: 'file_write', arguments: { path: 'tale.md', content: 'Once.' } }],
            { text: TALE, delayMs: 5 },
          )
        return turn.text('The tale is written down.')
      })
      const id = await instances.conversation()
      const page = await visitor.open(`${url}/c/${id}`, { withBuiltPage: true })
      await page.evaluate('window.isUntouched = true')
      await say(page, 'Calculate, tell me a tale, and write it down.')
      await page.getByText('Sentence 20 of the tale.', { exact: false }).waitFor()
      const { active_run_id: active } = await instances.call(0, 'GET', `/api/conversations/${id}`)
      const runId = RunId.parse(active)
      const owner = await instances.ownerOf(runId)
      await instances.processes[owner]?.kill('SIGKILL')

      const card = page.getByRole('region', { name: /^Create / })
      await card.getByText('tale.md').first().waitFor({ timeout: 60_000 })
      expect(await instances.ownerOf(runId)).toBe(1 - owner)
      await card.getByRole('button', { name: 'Approve', exact: true }).click()
      await page.getByText('The tale is written down.').waitFor()
      await page.getByRole('button', { name: 'Send', exact: true }).waitFor()

      const answer = page.getByRole('article', { name: 'Answer' })
      expect(await answer.count()).toBe(1)
      expect(await answer.getByRole('button', { name: /^Calculate/ }).count()).toBe(1)
      const lastSentence = answer.locator('p').filter({ hasText: 'Sentence 199' })
      expect(await lastSentence.allTextContents()).toEqual([TALE])
      expect(await page.evaluate('window.isUntouched')).toBe(true)
      const run = await instances.store.runs.find(runId)
      expect(run).toMatchObject({ status: 'completed', attempt: 2 })
      await instances.restart(owner)
      const { items } = await instances.call(owner, 'GET', `/api/conversations/${id}/messages`)
      expect(items).toHaveLength(2)
      await leave(page)
    },
  )
})

// kill -9 while sub-agents work: finished work is kept, waiting work still waits, nothing is repeated or counted twice.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { randomFrom, SEED } from '../support/random.ts'
import { DIALECTS } from '../support/store/dialects.ts'
import { lastText, results, usage, useAgentServer } from './agent-server.ts'

/** `npm run test:faults` runs the long form, `npm test` a short one. */
const KILLS = process.env.FAULTS === 'full' ? 40 : 1
const random = randomFrom(SEED)

for (const dialect of DIALECTS)
  describe(`a server killed while sub-agents work (${dialect})`, () => {
    const {
      begin,
      call,
      isCompleted,
      messages,
      parentDelegates,
      reset,
      restart,
      resultOf,
      subAgents,
      tokensUsed,
      workspaces,
    } = useAgentServer(dialect)

    test('after a kill, a finished sub-agent stays finished, a waiting one still waits for approval, and an interrupted one calls its model again', async () => {
      const before = await tokensUsed()
      const asked: string[] = []
      let isBack = false
      parentDelegates(['quick', 'careful', 'thorough'])
      subAgents((request) => {
        const task = lastText(request)
        asked.push(`${task} ${results(request).length}`)
        if (task === 'quick') return turn.text('Quickly done.', { usage })
        if (results(request).length > 0 && task === 'careful') return turn.text('Sent.', { usage })
        if (task === 'careful')
          return turn.toolCalls([{ name: 'message', arguments: { content: 'hello' } }], { usage })
        if (results(request).length === 0)
          return turn.toolCalls([{ name: 'calculator', arguments: { expression: '6*7' } }], {
            usage,
          })
        return isBack
          ? turn.text(results(request)[0]?.includes('42') ? 'It is 42.' : 'Lost.', { usage })
          : turn.beforeHeaders('stall')
      })
      const { id, stream, runPath } = await begin({})
      const question = await stream.next(({ event }) => event === 'approval_required')
      await eventually(() => expect(asked).toContain('thorough 1'))
      await eventually(() =>
        expect(
          stream.events.findLast(({ event }) => event === 'tool_progress')?.data.progress.agents[0],
        ).toMatchObject({ state: 'done' }),
      )
      asked.length = 0
      isBack = true
      await restart()

      await eventually(async () =>
        expect((await call('GET', runPath)).data).toMatchObject({
          status: 'awaiting_approval',
          pending_approvals: [{ id_ref: question.data.id_ref, name: 'message' }],
        }),
      )
      const { id_ref } = question.data
      const decision = { id_ref, decision: 'approve' }
      // Meanwhile the resumed run stores the same approval request: neither may block the other.
      expect(await call('POST', `${runPath}/approvals`, decision)).toMatchObject({ status: 200 })
      await isCompleted(runPath)
      expect(await resultOf(id)).toMatchObject({
        success: true,
        data: {
          results: [
            { task_name: 'quick', success: true, response: 'Quickly done.' },
            { task_name: 'careful', success: true, response: 'Sent.' },
            { task_name: 'thorough', success: true, response: 'It is 42.' },
          ],
        },
      })
      expect(asked.sort()).toEqual(['careful 1', 'thorough 1'])
      // Two iterations of the parent, one of the quick sub-agent, two of each other one: each is counted once.
      const { data: run } = await call('GET', runPath)
      expect(run.usage.total_tokens).toBe(7 * usage.total_tokens)
      expect((await tokensUsed()) - before).toBe(7 * usage.total_tokens)
      const texts = (await messages(id)).map(({ text }: { text: string }) => text)
      expect(texts.filter((text: string) => text.includes('hello'))).toHaveLength(1)
    })

    test('a tool call that was interrupted in a sub-agent is not repeated, and its result says so', async () => {
      const { data: project } = await call('POST', '/api/projects', { name: 'Agents' })
      const answers: string[] = []
      parentDelegates(['worker'])
      subAgents((request) => {
        if (results(request).length === 0)
          return turn.toolCalls([
            { name: 'exec', arguments: { command: 'echo line >> log.txt; sleep 30' } },
          ])
        answers.push(results(request)[0] ?? '')
        return turn.text('I cannot tell.')
      })
      const lines = (): number =>
        readdirSync(workspaces(), { recursive: true, encoding: 'utf8' })
          .filter((file) => file.endsWith('log.txt'))
          .flatMap((file) => readFileSync(join(workspaces(), file), 'utf8').split('\n'))
          .filter((line) => line === 'line').length
      const { id, runPath } = await begin({ project_id: project.id, approval: 'auto' })
      await eventually(() => expect(lines()).toBe(1))
      await restart()
      await isCompleted(runPath)
      expect(answers).toEqual([expect.stringContaining('interrupted')])
      expect(lines()).toBe(1)
      expect((await resultOf(id)).data.results).toMatchObject([{ response: 'I cannot tell.' }])
    })

    test(`${KILLS} kills at random moments lose no sub-agent result, repeat no append and count every token once (SEED=${SEED})`, async () => {
      const { data: project } = await call('POST', '/api/projects', { name: 'Random kills' })
      const names = ['ant', 'bee', 'cat']
      const linesOf = (task: string): number =>
        readdirSync(workspaces(), { recursive: true, encoding: 'utf8' })
          .filter((file) => file.endsWith('team.txt'))
          .flatMap((file) => readFileSync(join(workspaces(), file), 'utf8').split('\n'))
          .filter((line) => line === task).length
      for (let kill = 0; kill < KILLS; kill += 1) {
        reset()
        const before = await tokensUsed()
        const tasks = names.map((name) => `${name} ${kill}`)
        parentDelegates(tasks)
        let requests = 0
        let reached = (): void => {}
        const struck = new Promise<void>((resolve) => {
          reached = resolve
        })
        // The parent and its sub-agents send eight model requests in total.
        const fatal = 2 + random.below(7)
        subAgents((request) => {
          requests += 1
          if (requests + 1 === fatal) reached()
          const task = lastText(request)
          if (results(request).length > 0) return turn.text(`Done: ${task}`, { usage, delayMs: 1 })
          const given = { path: 'team.txt', content: `${task}\n`, mode: 'append' }
          return turn.toolCalls([{ name: 'file_write', arguments: given }], { usage, delayMs: 1 })
        })
        const { id, stream, runPath } = await begin({ project_id: project.id, approval: 'auto' })
        await Promise.race([struck, stream.next(({ event }) => event === 'done')])
        // No event marks the moments to hit: the kill may come at any point between two model requests. The delay
        // depends on the seed in the test's name; `SEED=…` repeats it.
        await new Promise((resolve) => setTimeout(resolve, random.share() * 40))
        await restart()
        await isCompleted(runPath)
        const { data } = await resultOf(id)
        expect(data.results).toMatchObject(
          tasks.map((task) => ({ task_name: task, success: true, response: `Done: ${task}` })),
        )
        for (const task of tasks)
          expect(
            linesOf(task),
            'an append runs once, or is reported as unknown',
          ).toBeLessThanOrEqual(1)
        const { data: run } = await call('GET', runPath)
        expect(run.usage.total_tokens).toBe(8 * usage.total_tokens)
        expect((await tokensUsed()) - before).toBe(8 * usage.total_tokens)
      }
    })
  })

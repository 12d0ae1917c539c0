// A person answers a question of an MCP server: the answer is stored once, before anything acts on it.
import type { RunRow } from '../db/repositories/runs/runs.ts'
import { appError } from '../errors.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import type { RunId, UserId } from '../protocol/ids.ts'
import { contentSchema, type InputAnswer, type InputAnswerBody } from '../protocol/runs/input.ts'
import type { ChatDependencies } from '../runs/dependencies.ts'
import type { RunRegistry } from '../runs/registry.ts'
import { announceRequest, doorOf, noticeSettled } from '../runs/requests.ts'
import { ownedRun } from './owned.ts'

/**
 * Answers a question that a call of the user's run waits for, then passes the answer to the call, or continues the run if no
 * call of this process waits for it.
 * @returns the run afterwards.
 * @throws AppError if there is no such run or question, it is already answered, the run has ended, or the content does not match
 * the form.
 */
export async function answerInput(
  { userId, runId }: { userId: UserId; runId: RunId },
  body: InputAnswerBody,
  actor: Actor,
  dependencies: Parameters<typeof storeAnswer>[3] & {
    runs: Pick<RunRegistry, 'get' | 'continue'>
  },
): Promise<RunRow> {
  const { store, runs } = dependencies
  const answer = await storeAnswer(await ownedRun(store, userId, runId), body, actor, dependencies)
  const isDelivered = runs.get(runId)?.answer(body.id_ref, answer) ?? false
  if (!isDelivered) await runs.continue(runId)
  return await ownedRun(store, userId, runId)
}

async function storeAnswer(
  run: RunRow,
  body: InputAnswerBody,
  actor: Actor,
  dependencies: Pick<ChatDependencies, 'store' | 'database' | 'now' | 'notices' | 'announce'>,
): Promise<InputAnswer> {
  const { store, database, now } = dependencies
  const input = await store.runInputs.find(run.id, body.id_ref)
  if (input === undefined) throw appError('input_not_found')
  if (body.call_hash !== undefined && body.call_hash !== input.callHash)
    throw appError('approval_changed')
  if (input.status === 'void') throw appError('run_takes_no_input')
  if (input.status !== 'pending' || input.answer !== null) throw appError('input_answered')
  if (run.endedAt !== null) throw appError('run_takes_no_input')
  const answer: InputAnswer = { action: body.action }
  const form = input.question.schema
  if (body.action === 'accept' && form !== undefined) {
    answer.content = body.content ?? {}
    const checked = contentSchema(form).safeParse(answer.content)
    if (!checked.success) {
      const detail = checked.error.issues
        .slice(0, 5)
        .map(({ path, message }) => [...path, message].join(': '))
        .join('; ')
      throw appError('input_content_invalid', { detail })
    }
  }
  await database.write(async (tx) => {
    // Check again under the lock: the run may have been stopped in the meantime. From here on, nothing can end it.
    if ((await store.runs.lockActive(tx, run.id)) === undefined)
      throw appError('run_takes_no_input')
    const answered = await store.runInputs.answer(tx, input, {
      answer,
      status: 'answered',
      decidedAt: now(),
      decidedBy: actor.userId,
      decidedThrough: doorOf(actor),
    })
    if (answered === undefined) throw appError('input_answered')
    await noticeSettled(tx, run, [answered], dependencies)
  })
  announceRequest(run, input.id, 'updated', dependencies)
  return answer
}

// Stores a person's answer to a question of an MCP server: once per question, and before anything acts on it.
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import { appError } from '../../errors.ts'
import { contentSchema, type InputAnswer, type InputAnswerBody } from '../../protocol/runs/input.ts'
import type { ChatDependencies } from '../dependencies.ts'

/**
 * @throws AppError if there is no such question, it is already answered, the run has ended, or the content does not match
 * the form.
 */
export async function answerInput(
  run: RunRow,
  body: InputAnswerBody,
  { store, database }: Pick<ChatDependencies, 'store' | 'database'>,
): Promise<InputAnswer> {
  const input = await store.runInputs.find(run.id, body.id_ref)
  if (input === undefined) throw appError('input_not_found')
  if (input.answer !== null) throw appError('input_answered')
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
    if (!(await store.runInputs.answer(tx, run.id, body.id_ref, answer)))
      throw appError('input_answered')
  })
  return answer
}

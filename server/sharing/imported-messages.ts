// Checks the messages of an exported conversation, and gives them new ids.
import { appError } from '../errors.ts'
import { newId } from '../lib/ids.ts'
import { createTurns } from '../lib/turns.ts'
import type { ExportedMessage } from '../protocol/conversations/export.ts'
import { MessageId } from '../protocol/ids.ts'
import { isWaitingStatus } from '../protocol/runs/run.ts'

/** Nothing continues an imported answer. */
export const endedStatus = (status: ExportedMessage['status']): ExportedMessage['status'] =>
  status === 'streaming' || isWaitingStatus(status) ? 'interrupted' : status

/**
 * A new id for each message, made in short turns of the event loop.
 * @throws AppError `import_invalid` for a repeated id, a missing parent or a cycle.
 */
export async function newIds(
  messages: readonly Pick<ExportedMessage, 'id' | 'parent_id' | 'steps'>[],
  leaf: MessageId | null,
): Promise<(old: MessageId) => MessageId> {
  const turn = createTurns()
  const parents = new Map<MessageId, MessageId | null>()
  for (const { id, parent_id } of messages) {
    parents.set(id, parent_id)
    await turn()
  }
  if (parents.size < messages.length) throw appError('import_invalid', { detail: 'repeated id' })
  const rooted = new Set<MessageId | null>([null])
  for (const { id } of messages) {
    const path: MessageId[] = []
    const seen = new Set<MessageId>()
    for (let current: MessageId | null = id; current !== null && !rooted.has(current); ) {
      const parent = parents.get(current)
      if (parent === undefined) throw appError('import_invalid', { detail: 'missing parent' })
      if (seen.has(current)) throw appError('import_invalid', { detail: 'cycle' })
      seen.add(current)
      path.push(current)
      current = parent
    }
    for (const one of path) rooted.add(one)
    await turn()
  }
  if (!rooted.has(leaf)) throw appError('import_invalid', { detail: 'missing leaf' })
  const ids = new Map<MessageId, MessageId>()
  for (const { id, steps } of messages) {
    if (new Set(steps.map(({ index }) => index)).size < steps.length)
      throw appError('import_invalid', { detail: 'repeated step' })
    ids.set(id, newId<MessageId>())
    await turn()
  }
  return (old) => ids.get(old) ?? MessageId.parse(old)
}

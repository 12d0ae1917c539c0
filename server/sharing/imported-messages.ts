// Checks the messages of an exported conversation, and gives them new ids.
import { appError } from '../errors.ts'
import { newId } from '../lib/ids.ts'
import type { ExportedMessage } from '../protocol/conversations/export.ts'
import { MessageId } from '../protocol/ids.ts'
import { isWaitingStatus } from '../protocol/runs/run.ts'

/** Nothing continues an imported answer. */
export const endedStatus = (status: ExportedMessage['status']): ExportedMessage['status'] =>
  status === 'streaming' || isWaitingStatus(status) ? 'interrupted' : status

/** A new id for each message. @throws AppError `import_invalid` for a repeated id, a missing parent or a cycle. */
export function newIds(
  messages: readonly Pick<ExportedMessage, 'id' | 'parent_id' | 'steps'>[],
  leaf: MessageId | null,
): (old: MessageId) => MessageId {
  const parents = new Map(messages.map(({ id, parent_id }) => [id, parent_id]))
  if (parents.size < messages.length) throw appError('import_invalid', { detail: 'repeated id' })
  const rooted = new Set<MessageId | null>([null])
  for (const { id } of messages) {
    const path: MessageId[] = []
    const seen = new Set<MessageId>()
    for (let at: MessageId | null = id; at !== null && !rooted.has(at); ) {
      const parent = parents.get(at)
      if (parent === undefined) throw appError('import_invalid', { detail: 'missing parent' })
      if (seen.has(at)) throw appError('import_invalid', { detail: 'cycle' })
      seen.add(at)
      path.push(at)
      at = parent
    }
    for (const one of path) rooted.add(one)
  }
  if (!rooted.has(leaf)) throw appError('import_invalid', { detail: 'missing leaf' })
  for (const { steps } of messages)
    if (new Set(steps.map(({ index }) => index)).size < steps.length)
      throw appError('import_invalid', { detail: 'repeated step' })
  const ids = new Map(messages.map(({ id }) => [id, newId<MessageId>()]))
  return (old) => ids.get(old) ?? MessageId.parse(old)
}

// The files of an answer: the stored ones, or while the answer is being written those in its tool results.
import type {
  Message,
  StoredAttachment,
} from '../../../../../server/protocol/conversations/message.ts'
import type { Step } from '../../../../../server/protocol/runs/step.ts'

/** The stored files are complete only once the answer is; until then the tool results are more recent. */
export function filesOf(message: Message, steps: readonly Step[]): readonly StoredAttachment[] {
  const stored = message.attachments ?? []
  const produced = steps.flatMap((step): StoredAttachment[] =>
    step?.type !== 'tool_result'
      ? []
      : (step.artifact?.files ?? []).flatMap(({ file_id, name, mime, size }) =>
          file_id === undefined
            ? []
            : [{ file_id, name, mime, size, url: `/api/files/${file_id}` }],
        ),
  )
  return produced.length > stored.length ? produced : stored
}

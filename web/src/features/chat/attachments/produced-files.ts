// The files of an answer: those that are stored with it, and while it is being written those that its tools produced.
import type {
  Message,
  StoredAttachment,
} from '../../../../../server/protocol/conversations/message.ts'
import type { Step } from '../../../../../server/protocol/runs/step.ts'

/** What is stored is complete once the answer is; until then the results of the calls know more. */
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

// What can be done with the messages of a conversation.
import type { MessageId } from '../../../../../server/protocol/ids.ts'
import type { RunActions } from '../runs/use-run-actions.ts'

/** Passed from the open conversation to its messages; the same object in every render. */
export type MessageActions = Pick<
  RunActions,
  'edit' | 'regenerate' | 'resume' | 'stop' | 'switchModel' | 'compare'
> & {
  remove: (id: string) => void
  show: (id: MessageId) => void
  /** Asks the model to continue where its output limit cut it off. */
  continueAnswer: () => void
  /** Opens the message for editing, or closes the open one with null. */
  setEdited: (id: MessageId | null) => void
}

// The type of the actions on the messages of a conversation.
import type { MessageId } from '../../../../../server/protocol/ids.ts'
import type { RunActions } from '../runs/use-run-actions.ts'

/** The open conversation passes them to its messages; the object is the same in every render. */
export type MessageActions = Pick<
  RunActions,
  'edit' | 'regenerate' | 'resume' | 'stopOne' | 'switchModel' | 'compare'
> & {
  remove: (id: string) => void
  show: (id: MessageId) => void
  /** Opens the editing of a message; null closes it. */
  setEdited: (id: MessageId | null) => void
}

// A user message with its attachments. Editing it starts a new branch.
import { PencilLine, Trash2, Undo2 } from 'lucide-react'
import { memo, useContext, useState } from 'react'
import type {
  Message,
  StoredAttachment,
} from '../../../../../server/protocol/conversations/message.ts'
import type { MessageId } from '../../../../../server/protocol/ids.ts'
import { useMayChange } from '../../../lib/api/projects.ts'
import { foreignLanguageOf } from '../../../lib/browser/language-of.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { ActionButton } from '../../../ui/controls/action-button.tsx'
import { AttachmentChips } from '../attachments/attachment-chips.tsx'
import { ConversationContext } from '../conversation-context.ts'
import { UndoChanges } from '../receipts/undo-changes.tsx'
import { OwnText } from '../sending/outgoing-message.tsx'
import { CopyMessage } from './copy-message.tsx'
import { EditForm } from './edit-form.tsx'
import { MessageHeading } from './message-heading.tsx'
import { SiblingSwitch } from './sibling-switch.tsx'

/** While `editing`, a form replaces the text. `onEditing` opens the form of this message; null closes it. */
export const UserMessage = memo(function UserMessage({
  message,
  locked,
  editing,
  onEditing,
  onEdit,
  onDelete,
  onShow,
}: {
  message: Message
  /** Whether a run is active: the branch must not change. */
  locked: boolean
  editing: boolean
  onEditing: (id: MessageId | null) => void
  /** Sends the edited text with the same attachments. */
  onEdit: (id: string, text: string, attachments: readonly StoredAttachment[]) => Promise<boolean>
  onDelete: (id: string) => void
  onShow: (id: MessageId) => void
}) {
  const { t, i18n } = useTranslation()
  const lang = foreignLanguageOf(message.text, i18n.language)
  const [undoing, setUndoing] = useState(false)
  const { projectId } = useContext(ConversationContext)
  const mayChange = useMayChange(projectId)
  const attachments = message.attachments ?? []
  if (editing)
    return (
      <EditForm
        initial={message.text}
        hint={t('message.editHint')}
        submit={t('composer.send')}
        onCancel={() => onEditing(null)}
        onSubmit={async (text) => {
          if (await onEdit(message.id, text, attachments)) onEditing(null)
        }}
      />
    )
  return (
    <article
      aria-label={t('message.yours')}
      className="group/message flex flex-col items-end gap-1"
    >
      <MessageHeading name={t('message.yours')} />
      {attachments.length > 0 && <AttachmentChips attachments={attachments} />}
      {message.text !== '' && <OwnText text={message.text} lang={lang} />}
      <div className="message-actions flex min-h-7 items-center gap-0.5">
        <SiblingSwitch
          id={message.id}
          siblings={message.siblings}
          disabled={locked}
          onShow={onShow}
        />
        <CopyMessage text={() => message.text} />
        <ActionButton
          icon={PencilLine}
          label={t('message.edit')}
          disabled={locked}
          onClick={() => onEditing(message.id)}
        />
        {projectId !== null && mayChange && (
          <ActionButton
            icon={Undo2}
            label={t('history.undoSince')}
            disabled={locked}
            onClick={() => setUndoing(true)}
          />
        )}
        <ActionButton
          icon={Trash2}
          label={t('message.delete')}
          disabled={locked}
          onClick={() => onDelete(message.id)}
        />
      </div>
      {undoing && projectId !== null && (
        <UndoChanges
          projectId={projectId}
          messageId={message.id}
          onClose={() => setUndoing(false)}
        />
      )}
    </article>
  )
})

// The row of actions of a finished answer: copy, rate, regenerate, delete, edit, switch between siblings.
import { RefreshCw, Trash2 } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Message } from '../../../../../server/protocol/conversations/message.ts'
import type { MessageId } from '../../../../../server/protocol/ids.ts'
import type { Usage } from '../../../../../server/protocol/runs/usage.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { useDisplay } from '../../../lib/preferences/display.ts'
import { ActionButton } from '../../../ui/controls/action-button.tsx'
import { useIsOnlyBeside } from '../runs/live-runs.ts'
import { AnswerMenu } from './answer-menu.tsx'
import { AnswerUsage } from './answer-usage.tsx'
import { CopyMarkdown, CopyMessage } from './copy-message.tsx'
import { SiblingSwitch } from './sibling-switch.tsx'
import { StopReading } from './stop-reading.tsx'

/** `locked`: whether a run is active; messages can change only after it ends. */
export function AnswerActions({
  message,
  conversationId,
  text,
  usage,
  feedback,
  isEmpty,
  locked,
  onRegenerate,
  onDelete,
  onShow,
  onEdit,
}: {
  message: Message
  conversationId: string
  /** Returns the text of the answer as Markdown. */
  text: () => string
  usage: Usage | null
  /** The buttons for feedback. */
  feedback: ReactNode
  /** Whether there is nothing to copy or rate. */
  isEmpty: boolean
  locked: boolean
  onRegenerate: (id: string, model?: string) => void
  onDelete: (id: string) => void
  onShow: (id: MessageId) => void
  onEdit: () => void
}) {
  const { t } = useTranslation()
  const isBelow = useDisplay(({ figures }) => figures === 'below')
  const figures = (
    <AnswerUsage
      usage={usage}
      tokens={usage?.completion_tokens ?? message.token_count}
      model={message.model ?? null}
      timing={message.timing ?? null}
    />
  )
  const isOnlyBeside = useIsOnlyBeside(conversationId, message.siblings)
  return (
    <div className="message-actions -ms-1.5 flex min-h-7 flex-wrap items-center gap-0.5">
      {!isEmpty && (
        <>
          <CopyMessage text={text} />
          <CopyMarkdown text={text} />
          {feedback}
        </>
      )}
      <ActionButton
        icon={RefreshCw}
        label={t('message.regenerate')}
        disabled={locked}
        onClick={() => onRegenerate(message.id)}
      />
      <ActionButton
        icon={Trash2}
        label={t('message.delete')}
        disabled={locked}
        onClick={() => onDelete(message.id)}
      />
      <AnswerMenu
        message={message}
        conversationId={conversationId}
        locked={locked}
        figures={figures}
        comparable={!locked || isOnlyBeside}
        onRegenerate={onRegenerate}
        onEdit={onEdit}
      />
      <StopReading messageId={message.id} />
      <SiblingSwitch
        id={message.id}
        siblings={message.siblings}
        disabled={locked && !isOnlyBeside}
        onShow={onShow}
      />
      {isBelow && <span className="ms-1.5 max-sm:basis-full">{figures}</span>}
      {message.edited_from !== undefined && (
        <span className="px-1.5 text-xs text-muted">{t('answer.edited')}</span>
      )}
    </div>
  )
}

// The queued messages of a conversation above the composer: edit, remove, send now.
import { CornerDownRight, Paperclip, PencilLine, Send, X } from 'lucide-react'
import { useRef, useState } from 'react'
import { isComposing } from '../../../lib/browser/composing.ts'
import { focusMessageField } from '../../../lib/browser/focus-message-field.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { useOffline } from '../../../lib/offline/connection.ts'
import { isSendKey } from '../../../lib/preferences/display.ts'
import { ActionButton } from '../../../ui/controls/action-button.tsx'
import { Button } from '../../../ui/controls/button.tsx'
import { inputClass } from '../../../ui/controls/field.tsx'
import { moveFocusOnRemoval } from '../../../ui/controls/move-focus-on-removal.ts'
import { dequeue, type QueuedMessage, useQueue, useQueues } from './queued-messages.ts'
import { useQueueState } from './use-queue-state.ts'

/** Renders nothing without queued messages. “Send now” first stops the active run. */
export function QueueList({
  conversationId,
  running,
  onStop,
}: {
  conversationId: string
  running: boolean
  onStop: () => Promise<unknown>
}) {
  const { t } = useTranslation()
  const { length } = useQueue(conversationId)
  const { isOffline } = useOffline()
  const { isPaused } = useQueueState(conversationId)
  return (
    <QueuedMessages
      queueOf={conversationId}
      status={
        isPaused && !running
          ? t('queue.paused')
          : isOffline
            ? t('queue.offline')
            : length === 1
              ? t('queue.waitingOne')
              : t('queue.waiting', { count: length })
      }
      running={running}
      onStop={onStop}
    />
  )
}

/** The messages of one queue, with its state above them. */
export function QueuedMessages({
  queueOf: conversationId,
  status,
  running,
  onStop,
}: {
  queueOf: string
  /** The text above the messages unless sending has failed. */
  status: string
  running: boolean
  onStop: () => Promise<unknown>
}) {
  const { t } = useTranslation()
  const queue = useQueue(conversationId)
  const failure = useQueues((store) => store.failures[conversationId])
  if (queue.length === 0) return null
  const sendNow = (id: string): void => {
    useQueues.getState().hurry(conversationId, id)
    // The focused button disappears with the message.
    focusMessageField(document.activeElement)
    if (running) void onStop()
  }
  return (
    <section
      aria-label={t('queue.title')}
      className="mx-3 rounded-t-2xl border border-b-0 border-line-strong/70 bg-sunken px-1.5 pt-1.5 pb-1"
    >
      <p role="status" className="px-2 pb-0.5 text-xs text-muted">
        {failure === undefined ? status : t('queue.failed', { reason: failure })}
      </p>
      <ol ref={moveFocusOnRemoval} className="max-h-[30dvh] overflow-y-auto">
        {queue.map((message) => (
          <QueueItem
            key={message.id}
            message={message}
            conversationId={conversationId}
            running={running}
            onSendNow={() => sendNow(message.id)}
            onRemove={() => {
              dequeue(conversationId, message.id)
              if (queue.length === 1) focusMessageField(document.activeElement)
            }}
          />
        ))}
      </ol>
    </section>
  )
}

function QueueItem({
  message,
  conversationId,
  running,
  onSendNow,
  onRemove,
}: {
  message: QueuedMessage
  conversationId: string
  running: boolean
  onSendNow: () => void
  onRemove: () => void
}) {
  const { t } = useTranslation()
  const { id, text, files } = message
  const [written, setWritten] = useState<string | null>(null)
  const entry = useRef<HTMLLIElement>(null)
  const edit = (next: string | null): void => {
    setWritten(next)
    useQueues.getState().setEdited(id, next !== null)
    if (next === null)
      requestAnimationFrame(() => entry.current?.querySelector<HTMLElement>('[data-edit]')?.focus())
  }
  const store = (): void => {
    if (written === null) return
    if (written.trim() === '' && files.length === 0) return
    useQueues
      .getState()
      .change(conversationId, (queue) =>
        queue.map((one) => (one.id === id ? { ...one, text: written } : one)),
      )
    edit(null)
  }
  if (written !== null)
    return (
      <li className="flex flex-col gap-1.5 p-1">
        <textarea
          // biome-ignore lint/a11y/noAutofocus: the user has just asked to edit
          autoFocus
          onFocus={({ target }) =>
            target.setSelectionRange(target.value.length, target.value.length)
          }
          dir="auto"
          aria-label={t('queue.edit')}
          value={written}
          rows={Math.min(6, written.split('\n').length + 1)}
          className={`${inputClass} resize-y`}
          onChange={(event) => setWritten(event.target.value)}
          onKeyDown={(event) => {
            if (isComposing(event.nativeEvent)) return
            if (event.key === 'Escape') {
              // Ends only the editing: it must not stop the run.
              event.preventDefault()
              edit(null)
            }
            if (isSendKey(event)) {
              event.preventDefault()
              store()
            }
          }}
        />
        <div className="flex justify-end gap-1.5">
          <Button size="small" tone="quiet" onClick={() => edit(null)}>
            {t('common.cancel')}
          </Button>
          <Button size="small" onClick={store}>
            {t('common.save')}
          </Button>
        </div>
      </li>
    )
  return (
    <li
      ref={entry}
      className="flex min-h-8 items-center gap-2 rounded-lg py-0.5 pe-0.5 ps-2 text-sm hover:bg-hover/60"
    >
      <CornerDownRight size={14} aria-hidden className="shrink-0 text-muted rtl:-scale-x-100" />
      <span dir="auto" className="min-w-0 flex-1 truncate">
        {text.trim() === '' ? files.map(({ name }) => name).join(', ') : text}
      </span>
      {files.length > 0 && (
        <span className="inline-flex shrink-0 items-center gap-1 text-xs text-muted">
          <Paperclip size={12} aria-hidden />
          {files.length}
        </span>
      )}
      <span className="flex shrink-0 items-center">
        <ActionButton
          icon={Send}
          label={t(running ? 'queue.stopAndSend' : 'queue.sendNow')}
          onClick={onSendNow}
        />
        <ActionButton
          data-edit
          icon={PencilLine}
          label={t('queue.edit')}
          onClick={() => edit(text)}
        />
        <ActionButton icon={X} label={t('queue.remove')} onClick={onRemove} />
      </span>
    </li>
  )
}

// Where a message is written: a growing text field, attachments, options, send and stop.
import { ArrowUp, Paperclip, Square } from 'lucide-react'
import {
  type ClipboardEvent,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { useTranslation } from 'react-i18next'
import { useModels } from '../../../lib/api/catalog.ts'
import { takeDroppedFiles } from '../../../lib/dropped-files.ts'
import { IconButton } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { Tip } from '../../../ui/tip.tsx'
import { notify } from '../../../ui/toasts.ts'
import { AttachmentChips } from '../attachments/attachment-chips.tsx'
import { type AttachmentInput, readAttachment } from '../attachments/attachments.ts'
import { type ChatOptions, modelOf } from '../chat-options.ts'
import { randomId } from '../random-id.ts'
import { ComposerOptions, ModelMenu } from './composer-options.tsx'
import { readDraft, writeDraft } from './drafts.ts'

const MAX_ATTACHMENTS = 20

export type Draft = { text: string; attachments: AttachmentInput[] }

/** The field grows with its text, up to a share of the window. */
function useAutoGrow(field: RefObject<HTMLTextAreaElement | null>, text: string) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text decides the height
  useLayoutEffect(() => {
    const element = field.current
    if (element === null) return
    element.style.height = 'auto'
    element.style.height = `${Math.min(element.scrollHeight, window.innerHeight * 0.4)}px`
  }, [field, text])
}

export function Composer({
  draftKey,
  options,
  onOptions,
  running,
  onSend,
  onStop,
  leading,
  autoFocus = false,
}: {
  draftKey: string
  options: ChatOptions
  onOptions: (change: Partial<ChatOptions>) => void
  running: boolean
  /**
   * Resolves to true once the server has accepted the message; the text stays until then. `clientId` stays the same
   * when the same message is sent again after a failure.
   */
  onSend: (draft: Draft, clientId: string) => Promise<boolean>
  onStop: () => void
  leading?: ReactNode
  autoFocus?: boolean
}) {
  const { t } = useTranslation()
  const { data: models } = useModels()
  // Until the models have loaded, anything can be attached; the server checks it again.
  const vision = modelOf(models, options.model)?.vision ?? true
  const [text, setText] = useState(() => readDraft(draftKey))
  const [attachments, setAttachments] = useState<AttachmentInput[]>([])
  const [sending, setSending] = useState(false)
  const [dragging, setDragging] = useState(false)
  const field = useRef<HTMLTextAreaElement>(null)
  /** The last message that failed: its response may have been lost, so sending it again must not create a second one. */
  const refused = useRef<{ draft: Draft; clientId: string } | null>(null)
  const picker = useRef<HTMLInputElement>(null)
  useAutoGrow(field, text)
  useEffect(() => {
    // An approval card that waits for the person keeps the focus.
    if (document.activeElement?.closest('[data-approval]') != null) return
    if (autoFocus && matchMedia('(pointer: fine) and (min-height: 24rem)').matches)
      field.current?.focus()
  }, [autoFocus])

  const write = (next: string): void => {
    setText(next)
    writeDraft(draftKey, next)
  }

  const attach = async (files: Iterable<File>): Promise<void> => {
    const read = await Promise.all([...files].map((file) => readAttachment(file, vision)))
    for (const one of read)
      if (!one.ok) notify(t(`composer.problem.${one.problem}`, { name: one.name }), 'error')
    const taken = read.flatMap((one) => (one.ok ? [one.attachment] : []))
    setAttachments((old) => [...old, ...taken].slice(0, MAX_ATTACHMENTS))
  }

  const empty = text.trim() === '' && attachments.length === 0
  const submit = async (): Promise<void> => {
    if (empty || sending || running) return
    const last = refused.current
    const again = last?.draft.text === text && last.draft.attachments === attachments
    const attempt = again ? last : { draft: { text, attachments }, clientId: randomId() }
    refused.current = attempt
    setSending(true)
    try {
      if (!(await onSend(attempt.draft, attempt.clientId))) return
      refused.current = null
      write('')
      setAttachments([])
    } finally {
      setSending(false)
    }
  }

  const onKeyDown = (event: KeyboardEvent): void => {
    // While an input method composes, Enter belongs to it.
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault()
      void submit()
    }
  }
  const onPaste = (event: ClipboardEvent): void => {
    if (event.clipboardData.files.length === 0) return
    event.preventDefault()
    void attach(event.clipboardData.files)
  }
  const dropped = useRef(attach)
  dropped.current = attach
  useEffect(
    () =>
      takeDroppedFiles({
        onOver: setDragging,
        onFiles: (files) => void dropped.current(files),
      }),
    [],
  )

  return (
    <form
      aria-label={t('composer.label')}
      aria-busy={sending}
      className={classNames(
        'composer rounded-[20px] border bg-surface shadow-low transition-[border-color,box-shadow] focus-within:border-line-strong focus-within:shadow-float',
        dragging ? 'border-accent' : 'border-line-strong/70',
      )}
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      {attachments.length > 0 && (
        <div className="px-3 pt-3">
          <AttachmentChips
            attachments={attachments}
            onRemove={(index) => setAttachments((old) => old.filter((_one, at) => at !== index))}
          />
        </div>
      )}
      <textarea
        ref={field}
        id="composer"
        rows={1}
        dir="auto"
        value={text}
        readOnly={sending}
        aria-label={t('composer.message')}
        placeholder={t('composer.placeholder')}
        maxLength={200_000}
        className="block max-h-[40dvh] w-full resize-none bg-transparent px-4.5 pt-3.5 pb-1.5 text-base short:py-1.5 leading-relaxed outline-none read-only:text-muted sm:text-[15.5px]"
        onChange={(event) => write(event.target.value)}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
      <div
        className={classNames(
          'composer-tools flex items-center gap-0.5 px-2 pb-2',
          leading !== undefined && 'flex-wrap',
        )}
      >
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            void attach(event.target.files ?? [])
            event.target.value = ''
          }}
        />
        <IconButton
          icon={Paperclip}
          label={t('composer.attach')}
          tipSide="top"
          onClick={() => picker.current?.click()}
        />
        <ComposerOptions options={options} onChange={onOptions} />
        {leading}
        {/* Grouped, so that a narrow window never wraps the button onto a line of its own. */}
        <div className="ml-auto flex min-w-0 items-center">
          <ModelMenu options={options} onChange={onOptions} />
          {running ? (
            <Tip text={t('composer.stopHint')} side="top">
              <button
                type="button"
                aria-label={t('composer.stop')}
                className="ml-1 grid size-9 shrink-0 place-items-center rounded-full bg-ink text-paper hover:opacity-85"
                onClick={onStop}
              >
                <Square size={13} fill="currentColor" aria-hidden />
              </button>
            </Tip>
          ) : (
            <Tip text={t('composer.sendHint')} side="top">
              <button
                type="submit"
                aria-label={t('composer.send')}
                disabled={empty || sending}
                className="ml-1 grid size-9 shrink-0 place-items-center rounded-full bg-accent text-on-accent transition-[filter,background-color] hover:brightness-110 disabled:bg-hover disabled:text-muted"
              >
                <ArrowUp size={18} aria-hidden />
              </button>
            </Tip>
          )}
        </div>
      </div>
    </form>
  )
}

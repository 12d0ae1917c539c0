// Where a message is written: a growing text field, attachments, options, send and stop.
import { ArrowUp, Camera, Paperclip, Square } from 'lucide-react'
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
import { refusalText } from '../../../lib/refusal-text.ts'
import { IconButton } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { reportError } from '../../../ui/error-text.ts'
import { Tip } from '../../../ui/tip.tsx'
import { notify } from '../../../ui/toasts.ts'
import { ChosenFileChips } from '../attachments/attachment-chips.tsx'
import { type AttachedFile, MAX_FILE_BYTES, useChosenFiles } from '../attachments/attachments.ts'
import { type ChatOptions, modelOf } from '../chat-options.ts'
import { randomId } from '../random-id.ts'
import { ComposerOptions, ModelMenu } from './composer-options.tsx'
import { readDraft, writeDraft } from './drafts.ts'

/** Of a text in any language, on average; and the share of the window that files may take on the server. */
const CHARACTERS_PER_TOKEN = 3
const WINDOW_SHARE = 0.5

export type Draft = { text: string; files: readonly AttachedFile[] }

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
  onRecall,
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
  /** Opens the last message for editing; called for ↑ in the empty field. */
  onRecall?: () => void
  leading?: ReactNode
  autoFocus?: boolean
}) {
  const { t } = useTranslation()
  const { data: models } = useModels()
  // Until the models have loaded, anything can be attached; the server checks it again.
  const model = modelOf(models, options.model)
  const vision = model?.vision ?? true
  const [text, setText] = useState(() => readDraft(draftKey))
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

  const chosen = useChosenFiles({
    onUploaded({ name, characters = 0, error, reason, params }) {
      const window = model?.context_window ?? Number.POSITIVE_INFINITY
      if (error !== undefined)
        notify(
          t('composer.problem.unreadable', {
            name,
            reason: refusalText({ reason, params, message: error }),
          }),
          'error',
        )
      else if (characters / CHARACTERS_PER_TOKEN > window * WINDOW_SHARE)
        notify(t('composer.problem.tooLong', { name }))
    },
    onFailure: reportError,
  })
  const { files } = chosen
  const attach = (added: Iterable<File>): void => {
    const fits = [...added].filter((file) => {
      const problem =
        file.size > MAX_FILE_BYTES
          ? 'tooLarge'
          : file.type.startsWith('image/') && file.type !== 'image/svg+xml' && !vision
            ? 'noVision'
            : null
      if (problem !== null) notify(t(`composer.problem.${problem}`, { name: file.name }), 'error')
      return problem === null
    })
    chosen.add(fits)
  }

  const empty = text.trim() === '' && files.length === 0
  const submit = async (): Promise<void> => {
    if (empty || sending) return
    setSending(true)
    try {
      const attached = await chosen.uploaded()
      if (text.trim() === '' && attached.length === 0) return
      const last = refused.current
      const isSame = last?.draft.text === text && idsOf(last.draft.files) === idsOf(attached)
      const attempt = isSame ? last : { draft: { text, files: attached }, clientId: randomId() }
      refused.current = attempt
      if (!(await onSend(attempt.draft, attempt.clientId))) return
      refused.current = null
      write('')
      chosen.clear()
    } finally {
      setSending(false)
    }
  }

  /** One field serves both: phones open the camera for `capture`. */
  const pick = (from: 'files' | 'camera'): void => {
    const input = picker.current
    if (input === null) return
    input.accept = from === 'camera' ? 'image/*' : ''
    if (from === 'camera') input.setAttribute('capture', 'environment')
    else input.removeAttribute('capture')
    input.click()
  }

  const onKeyDown = (event: KeyboardEvent): void => {
    // While an input method composes, Enter belongs to it.
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault()
      void submit()
    }
    if (event.key === 'ArrowUp' && text === '' && onRecall !== undefined) {
      event.preventDefault()
      onRecall()
    }
  }
  const onPaste = (event: ClipboardEvent): void => {
    if (event.clipboardData.files.length === 0) return
    event.preventDefault()
    attach(event.clipboardData.files)
  }
  const dropped = useRef(attach)
  dropped.current = attach
  useEffect(
    () =>
      takeDroppedFiles({
        onOver: setDragging,
        onFiles: (added) => dropped.current(added),
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
      {files.length > 0 && (
        <div className="px-3 pt-3">
          <ChosenFileChips files={files} onRemove={chosen.remove} />
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
            attach(event.target.files ?? [])
            event.target.value = ''
          }}
        />
        <IconButton
          icon={Paperclip}
          label={t('composer.attach')}
          tipSide="top"
          onClick={() => pick('files')}
        />
        {/* Where there is no touch screen, the picker offers what a camera could. */}
        {vision && (
          <IconButton
            icon={Camera}
            label={t('composer.camera')}
            tipSide="top"
            className="not-pointer-coarse:hidden"
            onClick={() => pick('camera')}
          />
        )}
        <ComposerOptions options={options} onChange={onOptions} />
        {leading}
        {/* Grouped, so that a narrow window never wraps the button onto a line of its own. */}
        <div className="ml-auto flex min-w-0 items-center">
          <ModelMenu options={options} onChange={onOptions} />
          {running && (
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
          )}
          {!(running && empty) && (
            <Tip text={t(running ? 'composer.queueHint' : 'composer.sendHint')} side="top">
              <button
                type="submit"
                aria-label={t(running ? 'composer.queue' : 'composer.send')}
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

const idsOf = (files: readonly AttachedFile[]): string => files.map(({ id }) => id).join()

// Where a message is written: a growing text field with suggestions, attachments, options, send and stop.
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { useTranslation } from 'react-i18next'
import type { ProjectId } from '../../../../../server/protocol/ids.ts'
import { useModels } from '../../../lib/api/catalog.ts'
import { isComposing } from '../../../lib/composing.ts'
import { isSendKey } from '../../../lib/display.ts'
import { classNames } from '../../../ui/class-names.ts'
import { late, lazyView } from '../../../ui/late.tsx'
import { PartBoundary } from '../../../ui/part-boundary.tsx'
import type { AttachedFile } from '../attachments/attachments.ts'
import { type ChatOptions, modelOf } from '../chat-options.ts'
import { receiveInserts } from '../composer-insert.ts'
import { randomId } from '../random-id.ts'
import { type ComposerActions, ComposerTools } from './composer-tools.tsx'
import { readDraft, writeDraft } from './drafts.ts'
import { LatePromptForm } from './late-prompt-form.tsx'
import { SizeHint } from './size-hint.tsx'
import type { KeyHandler } from './suggestions/suggestion-list.tsx'
import { SUGGESTIONS_ID, triggerAt } from './suggestions/trigger.ts'
import { useAttaching } from './use-attaching.ts'

const ChosenFileChips = late(() =>
  import('../attachments/attachment-chips.tsx').then((module) => module.ChosenFileChips),
)
const SuggestionList = lazyView(() =>
  import('./suggestions/suggestion-list.tsx').then((module) => module.SuggestionList),
)

export type Draft = { text: string; files: readonly AttachedFile[] }

const growsByItself = CSS.supports('field-sizing', 'content')

/** The field grows with its text, up to a share of the window: by its style, or measured where that is not supported. */
function useAutoGrow(field: RefObject<HTMLTextAreaElement | null>, text: string) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text decides the height
  useLayoutEffect(() => {
    const element = field.current
    if (element === null || growsByItself) return
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
  projectId,
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
  /** Whose files and documents can be mentioned. */
  projectId: ProjectId | null
  autoFocus?: boolean
}) {
  const { t } = useTranslation()
  const { data: models } = useModels()
  const model = modelOf(models, options.model)
  const [text, setText] = useState(() => readDraft(draftKey))
  const [sending, setSending] = useState(false)
  const [caret, setCaret] = useState(0)
  /** The text whose suggestions were closed with Escape. */
  const [closedAt, setClosedAt] = useState<string | null>(null)
  const [active, setActive] = useState<string | null>(null)
  const keys = useRef<KeyHandler | null>(null)
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

  /** Puts a text in place of a part of the message, with the caret behind it. */
  const put = (added: string, from: number, to: number): void => {
    write(text.slice(0, from) + added + text.slice(to))
    const end = from + added.length
    setCaret(end)
    requestAnimationFrame(() => {
      field.current?.focus()
      field.current?.setSelectionRange(end, end)
    })
  }
  const { chosen, attach, onPaste, dragging } = useAttaching(model, (pasted) =>
    put(pasted, text.length, text.length),
  )
  const { files } = chosen
  const insert = useRef(put)
  insert.current = put
  const newestText = useRef(text)
  newestText.current = text
  useEffect(
    () =>
      receiveInserts((added) => {
        const { length } = newestText.current
        const isOnNewLine = length === 0 || newestText.current.endsWith('\n')
        insert.current(isOnNewLine ? added : `\n\n${added}`, length, length)
      }),
    [],
  )
  const trigger = text === closedAt || sending ? null : triggerAt(text, caret)

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

  const actions = useMemo<ComposerActions>(
    () => ({
      // One field serves both: phones open the camera for `capture`.
      pick(from) {
        const input = picker.current
        if (input === null) return
        input.accept = from === 'camera' ? 'image/*' : ''
        if (from === 'camera') input.setAttribute('capture', 'environment')
        else input.removeAttribute('capture')
        input.click()
      },
      openCommands() {
        setClosedAt(null)
        insert.current('/', 0, 0)
      },
      openMentions() {
        const { current } = newestText
        setClosedAt(null)
        insert.current(/\S$/.test(current) ? ' @' : '@', current.length, current.length)
      },
      append: (added) =>
        insert.current(added, newestText.current.length, newestText.current.length),
    }),
    [],
  )

  const onKeyDown = (event: KeyboardEvent): void => {
    // While an input method composes, the keys belong to it.
    if (isComposing(event.nativeEvent)) return
    if (trigger !== null && keys.current?.(event) === true) return
    if (isSendKey(event)) {
      event.preventDefault()
      void submit()
    }
    if (event.key === 'ArrowUp' && text === '' && onRecall !== undefined) {
      event.preventDefault()
      onRecall()
    }
  }
  return (
    <>
      <LatePromptForm />
      <form
        aria-label={t('composer.label')}
        aria-busy={sending}
        className={classNames(
          'composer relative rounded-[20px] border bg-surface shadow-low transition-[border-color,box-shadow] focus-within:border-line-strong focus-within:shadow-float',
          dragging ? 'border-accent' : 'border-line-strong/70',
        )}
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        {trigger !== null && (
          <PartBoundary
            fallback={null}
            isOver
            subject={trigger.kind}
            onClose={() => setClosedAt(text)}
          >
            <SuggestionList
              trigger={trigger}
              projectId={projectId}
              editing={{
                replace: (added) => put(added, trigger.from, trigger.to),
                attach: (added) => void attach(added),
                attachStored: chosen.addStored,
              }}
              keys={keys}
              onActive={setActive}
              onClose={() => setClosedAt(text)}
            />
          </PartBoundary>
        )}
        {files.length > 0 && (
          <div className="px-3 pt-3">
            <PartBoundary fallback={<div className="h-10" />} isOver>
              <ChosenFileChips files={files} onRemove={chosen.remove} />
            </PartBoundary>
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
          aria-autocomplete="list"
          aria-controls={active === null ? undefined : SUGGESTIONS_ID}
          aria-activedescendant={active ?? undefined}
          placeholder={t('composer.placeholder')}
          maxLength={200_000}
          className="block field-sizing-content max-h-[40dvh] w-full resize-none bg-transparent px-4.5 pt-3.5 pb-1.5 text-base short:py-1.5 leading-relaxed outline-none read-only:text-muted sm:text-[15.5px]"
          onChange={(event) => {
            write(event.target.value)
            setCaret(event.target.selectionStart)
          }}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        <SizeHint text={text} files={files} model={model} />
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
        <ComposerTools
          options={options}
          onOptions={onOptions}
          leading={leading}
          hasVision={model?.vision ?? true}
          running={running}
          empty={empty}
          sending={sending}
          onStop={onStop}
          actions={actions}
        />
      </form>
    </>
  )
}

const idsOf = (files: readonly AttachedFile[]): string => files.map(({ id }) => id).join()

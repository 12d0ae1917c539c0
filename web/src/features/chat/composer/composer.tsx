// The composer: a growing text field with suggestions, attachments, options, send and stop.
import {
  type ComponentProps,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import type { ProjectId } from '../../../../../server/protocol/ids.ts'
import { useModels } from '../../../lib/api/catalog.ts'
import { isComposing } from '../../../lib/browser/composing.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { isSendKey } from '../../../lib/preferences/display.ts'
import { classNames } from '../../../ui/class-names.ts'
import { late, lazyView } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'
import { type ChatOptions, modelOf } from '../chat-options.ts'
import { ComposerTools } from './composer-tools.tsx'
import { LatePromptForm } from './late-prompt-form.tsx'
import { continueIn } from './moved-draft.ts'
import { QuotaNotice } from './quota-notice.tsx'
import { SizeHint } from './size-hint.tsx'
import type { KeyHandler } from './suggestions/suggestion-list.tsx'
import { SUGGESTIONS_ID, triggerAt } from './suggestions/trigger.ts'
import { useAttaching } from './use-attaching.ts'
import { useComposerActions } from './use-composer-actions.ts'
import { useComposerText } from './use-composer-text.ts'
import { useEarlyField } from './use-early-field.ts'
import { type Draft, useSendOnce } from './use-send-once.ts'

const ChosenFileChips = late(() =>
  import('../attachments/attachment-chips.tsx').then((module) => module.ChosenFileChips),
)
const SuggestionList = lazyView(() =>
  import('./suggestions/suggestion-list.tsx').then((module) => module.SuggestionList),
)

const hasFieldSizing = CSS.supports('field-sizing', 'content')

/** Makes the field grow with its text up to a share of the window, by CSS or, where that is unsupported, by measuring. */
function useAutoGrow(field: RefObject<HTMLTextAreaElement | null>, text: string) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text determines the height
  useLayoutEffect(() => {
    const element = field.current
    if (element === null || hasFieldSizing) return
    element.style.height = 'auto'
    element.style.height = `${Math.min(element.scrollHeight, window.innerHeight * 0.4)}px`
  }, [field, text])
}

function useFocusAtStart(
  field: RefObject<HTMLTextAreaElement | null>,
  draftKey: string,
  autoFocus: boolean,
) {
  // Before anything else can happen: the user may be writing on.
  useLayoutEffect(() => {
    if (field.current !== null) continueIn(field.current, draftKey)
  }, [field, draftKey])
  useEffect(() => {
    // Leaves the focus to a waiting approval card, and to a field in which an input method composes.
    if (document.activeElement?.closest('[data-approval],#early') != null) return
    if (autoFocus && matchMedia('(pointer: fine) and (min-height: 24rem)').matches)
      field.current?.focus()
  }, [field, autoFocus])
}

/** The class of the place of the composer below the messages of a conversation. */
export const composerPlaceClass =
  'mx-auto w-full max-w-3xl shrink-0 px-3 pb-[max(0.75rem,env(safe-area-inset-bottom))] sm:px-5 sm:pb-[max(1rem,env(safe-area-inset-bottom))] short:pb-[max(0.25rem,env(safe-area-inset-bottom))]'

type ComposerProps = {
  draftKey: string
  options: ChatOptions
  onOptions: (change: Partial<ChatOptions>) => void
  running: boolean
  /** Whether the next message has to wait, because there is no conversation yet to queue it in. */
  sending?: boolean
  /**
   * Resolves with true once the server has accepted the message; otherwise the text comes back. `clientId` is the same when a
   * message is sent again after a failure.
   */
  onSend: (draft: Draft, clientId: string) => Promise<boolean>
  onStop: () => void
  /** Opens the last user message for editing; called for ↑ in the empty field. */
  onRecall?: () => void
  leading?: ReactNode
  /** The project whose files and documents can be mentioned. */
  projectId: ProjectId | null
  autoFocus?: boolean
}

/** Stores its text and files as the draft `draftKey`, so that nothing is lost. */
export function Composer({
  draftKey,
  options,
  onOptions,
  running,
  sending = false,
  onSend,
  onStop,
  onRecall,
  leading,
  projectId,
  autoFocus = false,
}: ComposerProps) {
  const { t } = useTranslation()
  const { data: models, isPending } = useModels()
  const model = modelOf(models, options.model)
  const send = useSendOnce(draftKey, onSend)
  /** The text at which Escape closed the suggestions. */
  const [closedAt, setClosedAt] = useState<string | null>(null)
  const [active, setActive] = useState<string | null>(null)
  const keys = useRef<KeyHandler | null>(null)
  const field = useRef<HTMLTextAreaElement>(null)
  const written = useComposerText(draftKey, field)
  const { text, write, put, caret, setCaret } = written
  const picker = useRef<HTMLInputElement>(null)
  useAutoGrow(field, text)
  useFocusAtStart(field, draftKey, autoFocus)

  const { chosen, attach, attachStored, onPaste, dragging } = useAttaching(
    draftKey,
    model,
    (pasted) => put(pasted, text.length, text.length),
  )
  const { files } = chosen
  const trigger = text === closedAt ? null : triggerAt(text, caret)

  const empty = text.trim() === '' && files.length === 0
  const submit = (): void => {
    if (!empty && !sending) void send(text, chosen, () => write(''))
  }
  // Waits for the models, because the last chosen one may no longer exist.
  useEarlyField(field, draftKey, !isPending, {
    onText(early, at) {
      write(early)
      setCaret(at)
    },
    onSend: (early) => void send(early, chosen, () => write('')),
  })

  const actions = useComposerActions(picker, written, () => setClosedAt(null))

  const onKeyDown = (event: KeyboardEvent): void => {
    // While an input method composes, the keys belong to it.
    if (isComposing(event.nativeEvent)) return
    if (trigger !== null && keys.current?.(event) === true) return
    if (isSendKey(event)) {
      event.preventDefault()
      submit()
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
        className={classNames(
          'composer relative rounded-[20px] border bg-surface shadow-low transition-[border-color,box-shadow] focus-within:border-line-strong focus-within:shadow-float',
          dragging ? 'border-accent' : 'border-line-strong/70',
        )}
        onSubmit={(event) => {
          event.preventDefault()
          submit()
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
                attachStored,
              }}
              keys={keys}
              onActive={setActive}
              onClose={() => setClosedAt(text)}
            />
          </PartBoundary>
        )}
        {dragging && (
          <div className="pointer-events-none absolute inset-0 z-10 grid place-items-center rounded-[19px] bg-accent-soft text-sm font-medium text-accent">
            {t('composer.drop')}
          </div>
        )}
        {files.length > 0 && (
          <Attached files={files} onRemove={chosen.remove} onRead={chosen.setUploaded} />
        )}
        <MessageField
          field={field}
          written={written}
          active={active}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        <SizeHint text={text} files={files} model={model} />
        <FilePicker ref={picker} onFiles={attach} />
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
      <PartBoundary fallback={null} isOver>
        <QuotaNotice running={running} />
      </PartBoundary>
    </>
  )
}

function Attached(props: ComponentProps<typeof ChosenFileChips>) {
  return (
    <div className="px-3 pt-3">
      <PartBoundary fallback={<div className="h-10" />} isOver>
        <ChosenFileChips {...props} />
      </PartBoundary>
    </div>
  )
}

/** `active` is the id of the suggestion that Enter chooses; null if there is none. */
function MessageField({
  field,
  written: { text, write, setCaret },
  active,
  onKeyDown,
  onPaste,
}: {
  field: RefObject<HTMLTextAreaElement | null>
  written: ReturnType<typeof useComposerText>
  active: string | null
} & Pick<ComponentProps<'textarea'>, 'onKeyDown' | 'onPaste'>) {
  const { t } = useTranslation()
  return (
    <textarea
      ref={field}
      id="composer"
      rows={1}
      dir="auto"
      value={text}
      aria-label={t('composer.message')}
      aria-autocomplete="list"
      aria-controls={active === null ? undefined : SUGGESTIONS_ID}
      aria-activedescendant={active ?? undefined}
      placeholder={t('composer.placeholder')}
      maxLength={200_000}
      className="block field-sizing-content max-h-[40dvh] w-full resize-none bg-transparent px-4.5 pt-3.5 pb-1.5 text-base short:py-1.5 leading-relaxed outline-none sm:text-message"
      onChange={(event) => {
        write(event.target.value)
        setCaret(event.target.selectionStart)
      }}
      onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
      onKeyDown={onKeyDown}
      onPaste={onPaste}
    />
  )
}

function FilePicker({
  ref,
  onFiles,
}: {
  ref: RefObject<HTMLInputElement | null>
  onFiles: (files: Iterable<File>) => void
}) {
  return (
    <input
      ref={ref}
      type="file"
      multiple
      hidden
      onChange={(event) => {
        onFiles(event.target.files ?? [])
        event.target.value = ''
      }}
    />
  )
}

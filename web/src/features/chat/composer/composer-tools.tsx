// The row below the message field: the “+” menu, active options, model, dictation, send and stop.
import { memo, type ReactNode } from 'react'
import { classNames } from '../../../ui/class-names.ts'
import { late } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'
import type { ChatOptions } from '../chat-options.ts'
import { ActiveOptions, AddMenu } from './add-menu.tsx'
import { ModelMenu } from './model-menu.tsx'
import { canRecord } from './recording.ts'
import { SendButtons } from './send-buttons.tsx'
import { canRecognize } from './speech-recognition.ts'

const DictationButton = late(() =>
  import('./dictation-button.tsx').then((module) => module.DictationButton),
)

/** The actions of the row. The object stays the same, so that typing does not render the row again. */
export interface ComposerActions {
  /** Opens the file picker. */
  pick(from: 'files' | 'camera'): void
  /** Opens the list of commands. */
  openCommands(): void
  /** Opens the list of mentions and attachments. */
  openMentions(): void
  /** Appends a text to the message. */
  append(text: string): void
}

/** Memoized: rendering it at each key press took more time than everything else. */
export const ComposerTools = memo(function ComposerTools({
  options,
  onOptions,
  leading,
  hasVision,
  running,
  empty,
  sending,
  onStop,
  actions,
}: {
  options: ChatOptions
  onOptions: (change: Partial<ChatOptions>) => void
  leading: ReactNode
  /** Whether the model can see images. */
  hasVision: boolean
  running: boolean
  empty: boolean
  sending: boolean
  onStop: () => void
  actions: ComposerActions
}) {
  const isComparing = options.secondModel !== null
  return (
    <div
      className={classNames(
        'composer-tools @container flex items-center gap-0.5 px-2 pb-2',
        (leading !== undefined || isComparing) && 'flex-wrap',
      )}
    >
      <AddMenu
        options={options}
        onChange={onOptions}
        onFiles={() => actions.pick('files')}
        onCamera={hasVision ? () => actions.pick('camera') : null}
        onCommands={actions.openCommands}
        onMentions={actions.openMentions}
      />
      <ActiveOptions options={options} onChange={onOptions} />
      {leading}
      {/* Grouped, so that the button never wraps onto a line by itself. */}
      <div
        className={classNames(
          'flex min-w-0 flex-1 items-center justify-end',
          // The names of two models need a line of their own on a phone.
          isComparing ? 'basis-72' : 'basis-40',
        )}
      >
        <ModelMenu options={options} onChange={onOptions} />
        {(canRecord || canRecognize) && (
          <PartBoundary fallback={null} instead={null}>
            <DictationButton onHeard={actions.append} />
          </PartBoundary>
        )}
        <SendButtons running={running} empty={empty} sending={sending} onStop={onStop} />
      </div>
    </div>
  )
})

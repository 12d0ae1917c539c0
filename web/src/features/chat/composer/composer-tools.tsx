// The row below the message field: what to add, the options that apply, the model, dictation, send and stop.
import { memo, type ReactNode } from 'react'
import { classNames } from '../../../ui/class-names.ts'
import { late } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'
import type { ChatOptions } from '../chat-options.ts'
import { ActiveOptions, AddMenu } from './add-menu.tsx'
import { ModelMenu } from './model-menu.tsx'
import { SendButtons } from './send-buttons.tsx'
import { canDictate } from './speech-recognition.ts'

const DictationButton = late(() =>
  import('./dictation-button.tsx').then((module) => module.DictationButton),
)

/** What the row does with the message. Always the same object, so that typing does not draw the row again. */
export interface ComposerActions {
  /** Opens the file picker. */
  pick(from: 'files' | 'camera'): void
  /** Opens the list of commands. */
  openCommands(): void
  /** Opens the list of what can be mentioned or attached by name. */
  openMentions(): void
  /** Adds a text behind the message. */
  append(text: string): void
}

/** Drawn again only when something in it changes: drawing it for each key took more time than everything else. */
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
  /** The model can see images. */
  hasVision: boolean
  running: boolean
  empty: boolean
  sending: boolean
  onStop: () => void
  actions: ComposerActions
}) {
  return (
    <div
      className={classNames(
        'composer-tools flex items-center gap-0.5 px-2 pb-2',
        leading !== undefined && 'flex-wrap',
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
      {/* Grouped, so that a narrow window never wraps the button onto a line of its own. */}
      <div className="flex min-w-0 flex-1 basis-40 items-center justify-end">
        <ModelMenu options={options} onChange={onOptions} />
        {canDictate && (
          <PartBoundary fallback={null} instead={null}>
            <DictationButton onHeard={actions.append} />
          </PartBoundary>
        )}
        <SendButtons running={running} empty={empty} sending={sending} onStop={onStop} />
      </div>
    </div>
  )
})

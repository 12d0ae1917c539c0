// A message on its way to the server, at the place and in the form that it will keep.
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { late } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'
import type { Outgoing } from './outgoing.ts'

const ChosenFileChips = late(() =>
  import('../attachments/attachment-chips.tsx').then((module) => module.ChosenFileChips),
)

/** The class of the text of a user's message. */
export const ownTextClass =
  'max-w-[85%] rounded-[18px] rounded-ee-md bg-hover px-4 py-2.5 text-message leading-relaxed whitespace-pre-wrap [overflow-wrap:anywhere]'

/** Shown while nothing of an answer has arrived. */
export const Breathing = () => (
  <span aria-hidden className="flex h-6 items-center gap-1.5">
    <i className="size-1.5 animate-breathe rounded-full bg-accent" />
    <i className="size-1.5 animate-breathe rounded-full bg-accent [animation-delay:200ms]" />
    <i className="size-1.5 animate-breathe rounded-full bg-accent [animation-delay:400ms]" />
  </span>
)

/** The message, and below it the place of its answer. */
export function OutgoingMessage({ outgoing: { text, files } }: { outgoing: Outgoing }) {
  const { t } = useTranslation()
  return (
    <>
      <div className="mx-auto w-full max-w-3xl px-5 pt-2 pb-1 max-sm:px-4">
        <article
          aria-label={t('message.yours')}
          aria-busy
          className="flex flex-col items-end gap-1"
        >
          {files.length > 0 && (
            <PartBoundary fallback={<div className="h-10" />} isOver>
              <ChosenFileChips files={files} atEnd />
            </PartBoundary>
          )}
          {text !== '' && (
            <div dir="auto" className={ownTextClass}>
              {text}
            </div>
          )}
          {/* The place of the message's actions. */}
          <div className="min-h-7 pointer-coarse:min-h-11" />
        </article>
      </div>
      <div className="mx-auto w-full max-w-3xl px-5 pt-1 pb-4 max-sm:px-4">
        <Breathing />
      </div>
    </>
  )
}

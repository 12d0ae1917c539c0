// A message on its way to the server, at the place and in the form that it will keep.
import { Fragment, useState } from 'react'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { atPlaces } from '../../../lib/list-keys.ts'
import { late } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'
import { codeParts } from './code-parts.ts'
import type { Outgoing } from './outgoing.ts'

const ChosenFileChips = late(() =>
  import('../attachments/attachment-chips.tsx').then((module) => module.ChosenFileChips),
)

/** Longer texts of users are folded initially. */
const LONG_TEXT_CHARACTERS = 2_400

/** The class of the text of a user's message. */
const ownTextClass =
  'max-w-[85%] rounded-[18px] rounded-ee-md bg-hover px-4 py-2.5 text-message leading-relaxed whitespace-pre-wrap [overflow-wrap:anywhere]'

const CODE_CLASSES = {
  inLine: 'rounded-[5px] border border-line bg-surface/70 px-1 py-px font-mono text-[0.875em]',
  block: 'my-1 block rounded-lg border border-line bg-surface/70 px-3 py-2 font-mono text-code',
}

/** The text as written, in which only code looks like code: other marks may be meant as they stand. */
const WithCode = ({ text }: { text: string }) =>
  atPlaces(codeParts(text)).map(({ place, item: { kind, text: part } }) =>
    kind === 'text' ? (
      <Fragment key={place}>{part}</Fragment>
    ) : (
      <code key={place} className={CODE_CLASSES[kind]}>
        {part}
      </code>
    ),
  )

/** A user's text. A long one is folded, with a button that unfolds it. */
export function OwnText({ text, lang }: { text: string; lang?: string | undefined }) {
  const { t } = useTranslation()
  const [unfolded, setUnfolded] = useState(false)
  const isLong = text.length > LONG_TEXT_CHARACTERS
  return (
    <div dir="auto" lang={lang} className={ownTextClass}>
      <WithCode text={isLong && !unfolded ? `${text.slice(0, LONG_TEXT_CHARACTERS)}…` : text} />
      {isLong && (
        <button
          type="button"
          className="mt-1 block text-sm font-medium text-accent hover:underline"
          onClick={() => setUnfolded(!unfolded)}
        >
          {t(unfolded ? 'message.showLess' : 'message.showAll')}
        </button>
      )}
    </div>
  )
}

/** Shown while nothing of an answer has arrived. */
export const Breathing = () => (
  <span aria-hidden className="flex h-6 items-center gap-1.5">
    <i className="size-1.5 animate-breathe rounded-full bg-accent" />
    <i className="size-1.5 animate-breathe rounded-full bg-accent [animation-delay:200ms]" />
    <i className="size-1.5 animate-breathe rounded-full bg-accent [animation-delay:400ms]" />
  </span>
)

/** The message, and below it the place of its answer. */
export function OutgoingMessage({ outgoing: { clientId, text, files } }: { outgoing: Outgoing }) {
  const { t } = useTranslation()
  return (
    <>
      <div data-message={clientId} className="message-row pt-2 pb-1">
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
          {text !== '' && <OwnText text={text} />}
          {/* The place of the message's actions. */}
          <div className="message-actions min-h-7" />
        </article>
      </div>
      <div className="message-row pt-1 pb-4">
        <Breathing />
      </div>
    </>
  )
}

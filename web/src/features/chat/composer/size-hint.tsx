// A hint before a large message is sent: about how many tokens it has, what they cost, and whether they fit the context
// window.

import type { Price, PublicModel } from '../../../../../server/protocol/models/catalog.ts'
import { estimateTokens } from '../../../../../server/protocol/models/token-estimate.ts'
import { money, numbersAlike } from '../../../lib/format.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import type { ChosenFile } from '../attachments/attachments.ts'

/** Smaller messages have no hint. */
const MIN_TOKENS = 1_500
/** An average across languages, for files whose text only the server has. */
const CHARACTERS_PER_TOKEN = 3.5

/** The price per million tokens of an input of this size. */
const inputRate = ({ input, tiers = [] }: Price, tokens: number): number =>
  tiers.filter(({ above }) => tokens > above).toSorted((a, b) => b.above - a.above)[0]?.input ??
  input

/** Estimates tokens from the number of characters. Renders nothing for small messages. */
export function SizeHint({
  text,
  files,
  model,
}: {
  text: string
  files: readonly ChosenFile[]
  model: PublicModel | undefined
}) {
  const characters = files.reduce((sum, { uploaded }) => sum + (uploaded?.characters ?? 0), 0)
  const tokens = estimateTokens(text) + Math.ceil(characters / CHARACTERS_PER_TOKEN)
  return tokens < MIN_TOKENS ? null : <Hint tokens={tokens} model={model} />
}

function Hint({ tokens, model }: { tokens: number; model: PublicModel | undefined }) {
  const { t, i18n } = useTranslation()
  const window = model?.context_window ?? null
  const price = model?.price ?? null
  const cost = price === null ? 0 : (tokens / 1_000_000) * inputRate(price, tokens)
  const shown = numbersAlike([tokens, window ?? 0], i18n.language)
  const isTooLong = window !== null && tokens > window
  return (
    <p
      role="status"
      className={`px-4.5 pb-1 text-xs tabular-nums ${isTooLong ? 'text-warn' : 'text-muted'}`}
    >
      {t('composer.size', { tokens: shown(tokens) })}
      {price !== null &&
        cost > 0 &&
        ` · ${t('composer.cost', { cost: money(cost, price.currency, i18n.language) })}`}
      {isTooLong && ` · ${t('composer.overWindow', { tokens: shown(window) })}`}
    </p>
  )
}

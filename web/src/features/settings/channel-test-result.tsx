// What came of testing a channel, in words.
import { useRefusalText } from '../../lib/http/refusal-text.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { bringIntoView } from '../../ui/states/bring-into-view.ts'
import { errorText } from '../../ui/states/error-text.ts'
import { Loading } from '../../ui/states/feedback.tsx'
import type { ChannelTest, useTestSettings } from './api/channels.ts'
import type { ChannelKind } from './channel-fields.ts'

/** Returns a function that says what came of a test. */
export function useTestText(): (kind: ChannelKind | undefined, test: ChannelTest) => string {
  const { t } = useTranslation()
  const refusalText = useRefusalText()
  return (kind, { ok, bot, error, reason, params }) => {
    if (!ok)
      return t('channels.testFailed', {
        reason: refusalText({ reason, params, message: error ?? '' }),
      })
    if (bot !== null) return t('channels.testBot', { bot })
    return kind === 'webhook' || kind === 'bridge'
      ? t('channels.testSent')
      : t('channels.testWorks')
  }
}

/** `test` is the mutation that tests the channel; shows its progress, too. */
export function ChannelTestResult({
  kind,
  test: { data: outcome, error, isPending },
}: {
  kind: ChannelKind | undefined
  test: Pick<ReturnType<typeof useTestSettings>, 'data' | 'error' | 'isPending'>
}) {
  const testText = useTestText()
  if (isPending) return <Loading />
  const isBad = error !== null || outcome?.ok === false
  const text = error !== null ? errorText(error) : outcome && testText(kind, outcome)
  if (text === undefined) return null
  return (
    <p
      ref={bringIntoView}
      role={isBad ? 'alert' : 'status'}
      className={`mt-3 rounded-lg px-3 py-2 text-sm ${isBad ? 'bg-bad-soft text-bad' : 'bg-sunken'}`}
    >
      {text}
    </p>
  )
}

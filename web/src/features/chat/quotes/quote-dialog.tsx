// A dialog with the passage that a citation quotes.
import { useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import type { CitedPassage } from '../../../../../server/protocol/conversations/citation.ts'
import { messageKeys } from '../../../lib/api/messages.ts'
import { request } from '../../../lib/http/api-client.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { isWebAddress } from '../../../lib/web-address.ts'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import { errorText } from '../../../ui/states/error-text.ts'
import { Failed, Loading } from '../../../ui/states/feedback.tsx'

/** The quote is marked in the text around it. */
export function QuoteDialog({
  conversationId,
  messageId,
  id,
  onClose,
}: {
  conversationId: string
  messageId: string
  id: string
  onClose: () => void
}) {
  const { t } = useTranslation()
  const passage = useQuery({
    queryKey: [...messageKeys.one(conversationId, messageId), 'citation', id],
    queryFn: ({ signal }) =>
      request<z.output<typeof CitedPassage>>(
        `/api/conversations/${conversationId}/messages/${messageId}/citations/${id}`,
        { signal },
      ),
    meta: { quiet: true },
  })
  const { data } = passage
  return (
    <Dialog open onOpenChange={onClose} width="wide" title={data?.title ?? id}>
      {passage.isPending && <Loading />}
      {passage.isError && <Failed message={errorText(passage.error)} />}
      {data !== undefined && (
        <div className="flex flex-col gap-3 text-sm">
          <p className="leading-relaxed whitespace-pre-wrap [overflow-wrap:anywhere]">
            {data.before.length >= 500 && '…'}
            {data.before}
            <mark className="rounded-xs bg-warn-soft text-ink">{data.quote}</mark>
            {data.after}
            {data.after.length >= 500 && '…'}
          </p>
          <p className="text-note text-muted">
            {data.page !== undefined && `${t('quote.page', { page: data.page })} `}
            {data.url !== undefined && !isWebAddress(data.url) && (
              <span className="[overflow-wrap:anywhere]">{data.url}</span>
            )}
            {data.url !== undefined && isWebAddress(data.url) && (
              <a
                href={data.url}
                target="_blank"
                rel="noreferrer noopener"
                className="text-accent [overflow-wrap:anywhere]"
              >
                {data.url}
              </a>
            )}
          </p>
        </div>
      )}
    </Dialog>
  )
}

// The page of a link (`/a/:token`): one tool call with two buttons, for whoever has the link, made for a phone.

import { useMutation, useQuery } from '@tanstack/react-query'
import { CircleCheck, CircleSlash, Link2Off } from 'lucide-react'
import { type ReactNode, useEffect } from 'react'
import type { LinkedApproval } from '../../../../../server/protocol/runs/approval-link.ts'
import type { ApprovalDecision } from '../../../../../server/protocol/runs/tool-progress.ts'
import { decideByLink, readLink } from '../../../lib/api/approvals.ts'
import { approvalQuestion } from '../../../lib/approval-question.ts'
import { fromHost } from '../../../lib/base-path.ts'
import { shortTime } from '../../../lib/format.ts'
import { ApiError } from '../../../lib/http/api-client.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { paths } from '../../../lib/paths.ts'
import { Button, linkButtonClass } from '../../../ui/controls/button.tsx'
import { Logo } from '../../../ui/logo.tsx'
import { errorText, reportError } from '../../../ui/states/error-text.ts'
import { Empty, Failed, Loading } from '../../../ui/states/feedback.tsx'
import { ApprovalPreview } from './approval-preview.tsx'
import { pendingApproval } from './listed-approval.ts'

type Decision = (typeof ApprovalDecision)['options'][number]

const BUTTON = 'h-12 flex-1 text-base'

/** `onSignIn` shows the sign-in; afterwards, this page comes back. Null for somebody who is signed in, whoever it is. */
export function LinkPage({ token, onSignIn }: { token: string; onSignIn: (() => void) | null }) {
  const { t } = useTranslation()
  const link = useQuery({
    queryKey: ['approval-link', token],
    queryFn: ({ signal }) => readLink(token, signal),
    retry: false,
    // The request may be decided elsewhere, so what is shown is looked up again when the reader comes back.
    staleTime: 0,
    gcTime: 0,
    meta: { quiet: true },
  })
  const decision = useMutation({
    mutationFn: (given: Decision) => decideByLink(token, given),
    onError: (error) => {
      if (error instanceof ApiError && error.status === 410) void link.refetch()
      else reportError(error)
    },
  })
  useEffect(() => {
    document.title = `${t('link.title')} · NanoClaw`
  }, [t])

  if (decision.isSuccess) return <Frame>{<Outcome decision={decision.variables} />}</Frame>
  if (link.error instanceof ApiError && link.error.status === 410)
    return (
      <Frame>
        <Empty icon={Link2Off} title={t('link.gone')} text={errorText(link.error)} />
      </Frame>
    )
  if (link.isLoadingError)
    return (
      <Frame>
        <Failed message={errorText(link.error)} onRetry={() => void link.refetch()} />
      </Frame>
    )
  if (link.data === undefined)
    return (
      <Frame>
        <Loading />
      </Frame>
    )
  return (
    <Frame>
      <Request
        linked={link.data}
        busy={decision.isPending}
        onDecide={(given) => decision.mutate(given)}
        onSignIn={onSignIn}
      />
    </Frame>
  )
}

function Frame({ children }: { children: ReactNode }) {
  return (
    <main className="mx-auto flex min-h-full w-full max-w-2xl flex-col gap-5 px-4 pt-6 pb-4 sm:justify-center">
      <Logo size={28} />
      {children}
    </main>
  )
}

function Request({
  linked,
  busy,
  onDecide,
  onSignIn,
}: {
  linked: LinkedApproval
  busy: boolean
  onDecide: (decision: Decision) => void
  onSignIn: (() => void) | null
}) {
  const { t, i18n } = useTranslation()
  const approval = pendingApproval(linked.approval)
  if (approval === null) return null
  const { may_approve: mayApprove } = linked
  return (
    <>
      <header className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <h1 className="min-w-0 flex-1 basis-60 font-display text-2xl tracking-tight wrap-anywhere">
          {approvalQuestion(approval, t)}
        </h1>
        <span className="rounded-full border border-warn/40 px-2.5 py-1 text-xs font-medium text-warn">
          {t(`approval.risk.${approval.risk_level}`)}
        </span>
      </header>
      <div className="flex min-w-0 flex-col gap-3 rounded-2xl border border-line bg-surface p-4">
        <ApprovalPreview approval={approval} />
      </div>
      {mayApprove !== 'yes' && (
        <p className="text-sm text-soft">
          {t(mayApprove === 'open_the_page' ? 'link.high' : 'link.signInNote')}
        </p>
      )}
      <p className="text-note text-muted tabular-nums">
        {t('link.expires', { time: shortTime(linked.expires_at, i18n.language) })}
      </p>
      {/* Within the reach of a thumb, however long the preview is. */}
      <footer className="sticky bottom-0 -mx-4 mt-auto flex gap-3 border-t border-line bg-paper px-4 pt-3 pb-[max(0.75rem,env(safe-area-inset-bottom))] sm:static sm:mx-0 sm:mt-0 sm:border-0 sm:px-0">
        <Button className={BUTTON} disabled={busy} onClick={() => onDecide('reject')}>
          {t('approval.reject')}
        </Button>
        {mayApprove === 'yes' && (
          <Button
            tone="primary"
            className={BUTTON}
            disabled={busy}
            onClick={() => onDecide('approve')}
          >
            {t('approval.approve')}
          </Button>
        )}
        {mayApprove === 'sign_in_required' && onSignIn !== null && (
          <Button tone="primary" className={BUTTON} disabled={busy} onClick={onSignIn}>
            {t('link.signIn')}
          </Button>
        )}
        {mayApprove === 'open_the_page' && (
          <a
            href={fromHost(paths.waiting)}
            className={`${linkButtonClass} ${BUTTON} justify-center`}
          >
            {t('link.openPage')}
          </a>
        )}
      </footer>
    </>
  )
}

function Outcome({ decision }: { decision: Decision }) {
  const { t } = useTranslation()
  const isApproved = decision === 'approve'
  return (
    <div role="status">
      <Empty
        icon={isApproved ? CircleCheck : CircleSlash}
        title={t(isApproved ? 'link.approved' : 'link.rejected')}
      />
    </div>
  )
}

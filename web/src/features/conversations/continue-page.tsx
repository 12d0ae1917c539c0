// Asks whether to continue a shared conversation, then copies and opens it.
import { MessagesSquare } from 'lucide-react'
import { Link, useLocation } from 'wouter'
import { useContinueShare } from '../../lib/api/sharing.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths } from '../../lib/paths.ts'
import { Button, linkButtonClass } from '../../ui/controls/button.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Empty } from '../../ui/states/feedback.tsx'

/** Copies only after a confirmation, because anybody can send a link. */
export function ContinuePage({ token }: { token: string }) {
  const { t } = useTranslation()
  const [, navigate] = useLocation()
  const copy = useContinueShare()
  return (
    <Empty
      isPage
      icon={MessagesSquare}
      title={t('share.continueTitle')}
      text={t('share.continueText')}
    >
      {copy.isError && (
        <p role="alert" className="mb-3 text-sm text-bad">
          {errorText(copy.error)}
        </p>
      )}
      <div className="flex flex-wrap justify-center gap-2">
        <Button
          // After signing in, nothing else has the focus.
          autoFocus
          tone="primary"
          disabled={copy.isPending}
          onClick={() =>
            copy.mutate(token, {
              onSuccess: ({ id }) => navigate(paths.conversation(id), { replace: true }),
            })
          }
        >
          {t('share.continue')}
        </Button>
        <Link href={paths.home} className={linkButtonClass}>
          {t('common.cancel')}
        </Link>
      </div>
    </Empty>
  )
}

// The user's grants, which the page calls permissions: what runs without asking, how often it did, and how to end that.
import { ShieldCheck, Trash2 } from 'lucide-react'
import type { Grant } from '../../../../server/protocol/runs/grant.ts'
import { grantsKey, useGrants, useRemoveGrant } from '../../lib/api/grants.ts'
import { fullDay, fullTime } from '../../lib/format.ts'
import { ruleLines } from '../../lib/grant-rule.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { toolTitle } from '../../lib/tool-title.ts'
import { IconButton } from '../../ui/controls/button.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'
import { ShowMore } from '../../ui/controls/show-more.tsx'
import { Facts } from '../../ui/facts.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Empty, Failed, Loading } from '../../ui/states/feedback.tsx'
import { Section } from './section.tsx'

/** A tab of the settings. */
export function GrantsSection() {
  const { t } = useTranslation()
  const grants = useGrants()
  const remove = useRemoveGrant()
  const items = grants.data?.pages.flatMap((page) => page.items) ?? []
  return (
    <Section title={t('grants.list')} text={t('grants.listText')}>
      {grants.isPending && <Loading />}
      {grants.isError && (
        <Failed message={errorText(grants.error)} onRetry={() => void grants.refetch()} />
      )}
      {grants.isSuccess && items.length === 0 && (
        <Empty icon={ShieldCheck} title={t('grants.none')} />
      )}
      <ul ref={moveFocusOnRemoval} className="-my-2 divide-y divide-line empty:hidden">
        {items.map((grant) => (
          <GrantRow key={grant.id} grant={grant} onRemove={() => remove.mutate(grant.id)} />
        ))}
      </ul>
      <ShowMore list={grants} queryKey={grantsKey}>
        {t('common.more')}
      </ShowMore>
    </Section>
  )
}

function GrantRow({ grant, onRemove }: { grant: Grant; onRemove: () => void }) {
  const { t, i18n } = useTranslation()
  const tool = toolTitle(grant.tool, t)
  const day = (time: string): string => fullDay(time, i18n.language)
  const facts = [
    grant.uses === 0 ? t('grants.unused') : t('grants.uses', { count: grant.uses }),
    ...(grant.max_uses === null ? [] : [t('grants.mostUses', { count: grant.max_uses })]),
    ...(grant.last_used_at === null
      ? []
      : [t('grants.lastUsed', { time: fullTime(grant.last_used_at, i18n.language) })]),
    ...(grant.expires_at === null ? [] : [t('grants.until', { day: day(grant.expires_at) })]),
    ...(grant.even_tainted ? [t('grants.evenTainted')] : []),
  ]
  const lines = grant.match === null ? [] : ruleLines(grant.match, t)
  return (
    <li className="flex items-start gap-3 py-3">
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <p className="[overflow-wrap:anywhere]">
          <span className="font-medium">{tool}</span>
          <span className="text-note text-muted">
            {' · '}
            <bdi>
              {grant.run_id !== null
                ? t('grants.inAnswer', { name: grant.scope_name })
                : t(`grants.at.${grant.scope}`, { name: grant.scope_name })}
            </bdi>
          </span>
        </p>
        {grant.match === null ? (
          <p className="text-note text-soft">{t('grants.every')}</p>
        ) : (
          lines.length === 0 && <p className="text-note text-soft">{t('grants.noArguments')}</p>
        )}
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5 text-note empty:hidden">
          {lines.map(({ name, label, text }) => (
            <div key={name} className="contents">
              <dt className="text-muted">{label}</dt>
              <dd className="[overflow-wrap:anywhere] text-soft">{text}</dd>
            </div>
          ))}
        </dl>
        {grant.stale && <p className="text-note text-warn">{t('grants.stale')}</p>}
        <p className="text-note text-muted">
          <Facts of={facts} />
        </p>
      </div>
      <IconButton
        icon={Trash2}
        size="small"
        label={t('grants.remove', { tool })}
        onClick={onRemove}
      />
    </li>
  )
}

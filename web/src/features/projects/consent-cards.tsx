// What is written for the model in a project and waits for the person to read it: skills and AGENTS.md, with what has changed.
import { ShieldQuestion, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import type { ConsentItem } from '../../../../server/protocol/projects/skills.ts'
import { useConsent, useDecideConsent } from '../../lib/api/skills.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { lazyPart } from '../../ui/states/late.tsx'

const DiffView = lazyPart(() =>
  import('../../ui/code/diff-view.tsx').then((module) => module.DiffView),
)

/** Above a project. Nothing when nothing waits. */
export function ConsentCards({ projectId }: { projectId: string }) {
  const { data = [] } = useConsent(projectId)
  if (data.length === 0) return null
  return (
    <div className="max-h-[50vh] shrink-0 overflow-y-auto px-4 pb-3">
      <ConsentList projectId={projectId} items={data} />
    </div>
  )
}

/**
 * What waits, each with its decision. `openAtFirst`: the version that is shown at once. Others must be opened, also one that
 * takes its place meanwhile: a press on a decision about the one never means the other.
 */
export function ConsentList({
  projectId,
  items,
  openAtFirst,
}: {
  projectId: string
  items: readonly ConsentItem[]
  openAtFirst?: string | undefined
}) {
  return (
    <ul className="flex flex-col gap-2">
      {items.map((item) => (
        <ConsentCard
          key={`${item.path} ${item.sha256}`}
          projectId={projectId}
          item={item}
          isOpenAtFirst={item.sha256 === openAtFirst}
        />
      ))}
    </ul>
  )
}

function ConsentCard({
  projectId,
  item,
  isOpenAtFirst,
}: {
  projectId: string
  item: ConsentItem
  isOpenAtFirst: boolean
}) {
  const { t } = useTranslation()
  const decide = useDecideConsent(projectId)
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  const { what, name, path, sha256, suspicious } = item
  const decideAs = (decision: 'accept' | 'refuse'): void =>
    decide.mutate({ what, sha256, decision, ...(name === undefined ? {} : { name }) })
  return (
    <li className="rounded-2xl border border-warn/40 bg-surface p-4">
      <p className="flex items-center gap-2 text-sm font-medium">
        <ShieldQuestion size={16} aria-hidden className="shrink-0 text-warn" />
        {t(item.accepted_sha256 === null ? 'consent.new' : 'consent.changed', {
          name: name ?? path,
        })}
      </p>
      <p className="mt-1 text-note text-muted">{t('consent.text')}</p>
      {suspicious.length > 0 && (
        <ul className="mt-2 flex flex-col gap-1">
          {suspicious.map(({ kind, line, detail }) => (
            <li key={`${kind} ${line} ${detail}`} className="flex gap-2 text-note text-warn">
              <TriangleAlert size={14} aria-hidden className="mt-0.5 shrink-0" />
              <span className="wrap-anywhere">
                {t(`consent.suspicious.${kind}`, { line })} <code>{detail}</code>
              </span>
            </li>
          ))}
        </ul>
      )}
      {isOpen && (
        <div className="mt-3 overflow-hidden rounded-lg border border-line">
          <DiffView diff={item.diff} />
        </div>
      )}
      <div className="mt-3 flex flex-wrap gap-2">
        {isOpen ? (
          <>
            <Button
              size="small"
              tone="primary"
              disabled={decide.isPending}
              onClick={() => decideAs('accept')}
            >
              {t('consent.accept')}
            </Button>
            <Button size="small" disabled={decide.isPending} onClick={() => decideAs('refuse')}>
              {t('consent.refuse')}
            </Button>
          </>
        ) : (
          <Button size="small" onClick={() => setOpen(true)}>
            {t('consent.read')}
          </Button>
        )}
      </div>
    </li>
  )
}

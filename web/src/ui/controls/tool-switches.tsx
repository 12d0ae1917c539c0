// A list of all tools with risk level and switch, used in the settings (all conversations) and in a project's settings.
import { useMemo } from 'react'
import { useTools } from '../../lib/api/catalog.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { toolTitle } from '../../lib/tool-title.ts'
import { classNames } from '../class-names.ts'
import { errorText } from '../states/error-text.ts'
import { Failed, Loading } from '../states/feedback.tsx'
import { Switch } from './switch.tsx'

const RISK_CLASSES = {
  low: 'bg-ok-soft text-ok',
  medium: 'bg-warn-soft text-warn',
  high: 'bg-bad-soft text-bad',
} as const

/** After each click, `onChange` receives the names of all disabled tools. */
export function ToolSwitches({
  disabled,
  onChange,
}: {
  /** The names of the disabled tools. */
  disabled: readonly string[]
  onChange: (disabled: string[]) => void
}) {
  const { t, i18n } = useTranslation()
  const tools = useTools()
  const sorted = useMemo(() => {
    const byTitle = new Intl.Collator(i18n.language)
    return (tools.data?.tools ?? [])
      .map((tool) => ({
        name: tool.function.name,
        title: toolTitle(tool.function.name, t),
        risk: tool.risk_level,
      }))
      .toSorted((one, other) => byTitle.compare(one.title, other.title))
  }, [tools.data, i18n.language, t])
  if (tools.isPending) return <Loading />
  if (tools.isLoadingError)
    return <Failed message={errorText(tools.error)} onRetry={() => void tools.refetch()} />
  return (
    <ul className="-my-2 divide-y divide-line">
      {sorted.map(({ name, title, risk }) => (
        <li key={name} className="flex items-center gap-3 py-2.5">
          <span
            className={classNames(
              'w-24 shrink-0 rounded-full py-0.5 text-center text-xs font-medium',
              RISK_CLASSES[risk],
            )}
          >
            {t(`tools.risk.${risk}`)}
          </span>
          <div className="min-w-0 flex-1">
            <Switch
              label={title}
              hint={name}
              checked={!disabled.includes(name)}
              onChange={(on) =>
                onChange(on ? disabled.filter((one) => one !== name) : [...disabled, name])
              }
            />
          </div>
        </li>
      ))}
    </ul>
  )
}

// Small result views: a calculation, the weather, named values, a text, the responses of sub-agents.

import {
  Cloud,
  CloudFog,
  CloudLightning,
  CloudRain,
  CloudSnow,
  CloudSun,
  Droplets,
  type LucideIcon,
  Sun,
  Thermometer,
  Wind,
} from 'lucide-react'
import { WEATHER_CONDITIONS } from '../../../../../../server/protocol/weather-conditions.ts'
import { measure } from '../../../../lib/format.ts'
import { useTranslation } from '../../../../lib/i18n/use-translation.tsx'
import { keyed } from '../../../../lib/list-keys.ts'
import { CopyButton } from '../../../../ui/markdown/copy-button.tsx'
import { ScrollRegion } from '../../../../ui/scroll-region.tsx'
import { Fold } from '../../../../ui/table/fold.tsx'
import { TextStep } from '../text-step.tsx'
import type { Fact, Weather } from './result-kinds.ts'

const LINES_FOLDED = 16
const VALUE_CHARACTERS = 2_000
const FORECAST_DAYS = 7

/** The expression as the model wrote it, and its value. */
export function Calculation({ expression, result }: { expression: string; result: number }) {
  return (
    <p className="flex flex-wrap items-baseline gap-x-2 rounded-xl border border-line bg-surface px-3.5 py-2.5 font-mono text-sm [overflow-wrap:anywhere]">
      <span className="text-muted">{expression} =</span>
      <output className="text-base font-semibold">{String(result)}</output>
    </p>
  )
}

const WEATHER_ICONS: readonly [RegExp, LucideIcon][] = [
  [/thunder/i, CloudLightning],
  [/snow/i, CloudSnow],
  [/rain|drizzle|shower/i, CloudRain],
  [/fog|mist|haze/i, CloudFog],
  [/partly|mainly|few/i, CloudSun],
  [/clear|sun/i, Sun],
]
const iconOf = (condition: string): LucideIcon =>
  WEATHER_ICONS.find(([words]) => words.test(condition))?.[1] ?? Cloud

const countryName = (code: string | null | undefined, language: string): string | undefined =>
  code != null && /^[A-Za-z]{2}$/.test(code)
    ? new Intl.DisplayNames(language, { type: 'region' }).of(code.toUpperCase())
    : undefined

/** The current weather, and the forecast if the result has one. Missing values are left out. */
export function WeatherCard({ weather }: { weather: Weather }) {
  const { t, i18n } = useTranslation()
  const { units, forecast } = weather
  const Icon = iconOf(weather.condition)
  const country = countryName(weather.country_code, i18n.language) ?? weather.country
  const place = [weather.city, weather.region, country].filter((part) => part).join(', ')
  const show = (value: number, unit: string): string => measure(value, unit, i18n.language)
  const conditionName = (name: string): string => {
    const known = WEATHER_CONDITIONS.find((one) => one === name)
    return known === undefined ? name : t(`results.conditions.${known}`)
  }
  const details: [LucideIcon, string, string][] = []
  if (weather.feels_like != null)
    details.push([Thermometer, t('results.feelsLike'), show(weather.feels_like, units.temperature)])
  if (weather.humidity != null)
    details.push([Droplets, t('results.humidity'), show(weather.humidity, '%')])
  if (weather.wind_speed != null)
    details.push([Wind, t('results.wind'), show(weather.wind_speed, units.wind_speed)])
  const dayName = (date: string): string => {
    const day = new Date(`${date.slice(0, 10)}T12:00:00`)
    return Number.isNaN(day.getTime())
      ? date.slice(0, 10)
      : day.toLocaleDateString(i18n.language, { weekday: 'short', day: 'numeric', month: 'short' })
  }
  return (
    <div className="rounded-xl border border-line bg-surface px-3.5 py-3 text-sm">
      <p className="text-xs text-muted">{place}</p>
      <p className="mt-1 flex flex-wrap items-center gap-x-3">
        <Icon size={26} aria-hidden className="text-accent" />
        <span className="text-2xl font-semibold tabular-nums">
          {show(weather.temperature, units.temperature)}
        </span>
        <span className="text-soft">{conditionName(weather.condition)}</span>
      </p>
      <dl className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-note">
        {details.map(([Detail, name, value]) => (
          <div key={name} className="flex items-center gap-1.5">
            <Detail size={13} aria-hidden className="text-muted" />
            <dt className="text-muted">{name}</dt>
            <dd className="tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
      {forecast.length > 0 && (
        <ul
          aria-label={t('results.forecast')}
          className="mt-2.5 flex flex-col gap-1 border-t border-line pt-2 text-note"
        >
          {forecast.slice(0, FORECAST_DAYS).map((day) => {
            const DayIcon = iconOf(day.condition)
            return (
              <li key={day.date} className="flex items-center gap-2">
                <span className="w-20 shrink-0">{dayName(day.date)}</span>
                <DayIcon size={15} aria-hidden className="shrink-0 text-accent" />
                <span className="min-w-0 flex-1 text-soft">{conditionName(day.condition)}</span>
                {day.rain_probability != null && (
                  <span className="flex items-center gap-1 text-xs text-muted tabular-nums">
                    <Droplets size={12} aria-hidden />
                    {show(day.rain_probability, '%')}
                  </span>
                )}
                <span className="min-w-16 shrink-0 text-end tabular-nums">
                  {[day.min, day.max]
                    .flatMap((value) => (value == null ? [] : [show(value, '°')]))
                    .join(' – ')}
                </span>
              </li>
            )
          })}
        </ul>
      )}
      {weather.source != null && <p className="mt-2 text-xs text-muted">{weather.source}</p>}
    </div>
  )
}

const INITIALISMS = /\b(?:api|csv|html|http|id|ip|json|pdf|sql|url|utc|uri)\b/gi

/** Turns a field name into words: "start_line" into "Start line", "utc_offset" into "UTC offset". */
const readableName = (name: string): string => {
  const words = name
    .slice(0, 80)
    .replaceAll('_', ' ')
    .trim()
    .replace(INITIALISMS, (word) => word.toUpperCase())
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** A list of names and values; long values are cut. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  const { t } = useTranslation()
  const format = (value: Fact['value']): string => {
    if (value === null) return '–'
    if (typeof value === 'boolean') return t(value ? 'common.yes' : 'common.no')
    const text = typeof value === 'object' ? value.map(String).join(', ') : String(value)
    return text.length > VALUE_CHARACTERS ? `${text.slice(0, VALUE_CHARACTERS)}…` : text
  }
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 rounded-xl border border-line bg-surface px-3.5 py-2.5 text-note">
      {facts.map(({ name, value }) => (
        <div key={name} className="col-span-2 grid grid-cols-subgrid">
          <dt className="max-w-48 text-muted [overflow-wrap:anywhere]">{readableName(name)}</dt>
          <dd dir="auto" className="min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere]">
            {format(value)}
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** A text with a heading and a copy button; a long text is folded. */
export function PlainText({ label, text }: { label: string; text: string }) {
  const lines = text.trimEnd().split('\n')
  return (
    <div className="flex flex-col gap-1">
      <div className="flex items-center justify-between text-xs text-muted">
        <span className="font-medium">{label}</span>
        <CopyButton text={text} />
      </div>
      <Fold
        total={lines.length}
        folded={LINES_FOLDED}
        unit="lines"
        draw={(count) => (
          <ScrollRegion
            as="pre"
            dir="auto"
            className="code-lines max-h-112 overflow-auto rounded-lg border border-line bg-sunken px-3 py-2 text-code whitespace-pre-wrap [overflow-wrap:anywhere]"
          >
            {lines.slice(0, count).join('\n')}
          </ScrollRegion>
        )}
      />
    </div>
  )
}

/** The response of each sub-agent as Markdown, below its name. */
export function AgentAnswers({ answers }: { answers: readonly { name: string; text: string }[] }) {
  return (
    <ul className="flex flex-col gap-2">
      {keyed(answers, ({ name }) => name).map(({ key, item: { name, text } }) => {
        const lines = text.trimEnd().split('\n')
        return (
          <li
            key={key}
            className="flex flex-col gap-1.5 rounded-xl border border-line bg-surface px-3.5 py-2.5 text-sm"
          >
            <p className="font-medium">{name}</p>
            <Fold
              total={lines.length}
              folded={LINES_FOLDED}
              unit="lines"
              draw={(count) => <TextStep text={lines.slice(0, count).join('\n')} />}
            />
          </li>
        )
      })}
    </ul>
  )
}

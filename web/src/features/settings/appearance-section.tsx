// Appearance: theme, language, text size, density, contrast, motion, and the send key.
import { useId } from 'react'
import { isLanguage, LANGUAGES } from '../../../../locales/languages.ts'
import { canNotify, useNotifications } from '../../lib/browser/notifications.ts'
import { useMedia } from '../../lib/browser/use-media.ts'
import { chooseLanguage, shownLanguage } from '../../lib/i18n/i18n.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { DISPLAY_CHOICES, type Display, useDisplay } from '../../lib/preferences/display.ts'
import { type ThemeChoice, useTheme } from '../../lib/preferences/theme.ts'
import { classNames } from '../../ui/class-names.ts'
import { inputClass } from '../../ui/controls/field.tsx'
import { Segmented } from '../../ui/controls/segmented.tsx'
import { Switch } from '../../ui/controls/switch.tsx'
import { Section } from './section.tsx'

const THEMES: readonly ThemeChoice[] = ['system', 'light', 'dark']

/** The first tab of the settings. Its settings are stored in this browser and applied at once. */
export function AppearanceSection() {
  const isTouched = useMedia('(pointer: coarse)')
  const { t } = useTranslation()
  const { choice, choose } = useTheme()
  const languageId = useId()
  return (
    <Section title={t('settings.tab.appearance')}>
      <div className="flex flex-col gap-4">
        <div className="flex flex-wrap items-center justify-between gap-3">
          <span className="text-sm font-medium text-soft">{t('settings.theme')}</span>
          <Segmented
            label={t('settings.theme')}
            value={choice}
            options={THEMES.map((value) => ({ value, label: t(`settings.themes.${value}`) }))}
            onChange={choose}
          />
        </div>
        <div className="flex flex-wrap items-center justify-between gap-3">
          <label htmlFor={languageId} className="text-sm font-medium text-soft">
            {t('settings.language')}
          </label>
          <select
            id={languageId}
            className={classNames(inputClass, 'h-9 max-w-48')}
            value={shownLanguage()}
            onChange={({ target }) => {
              if (isLanguage(target.value)) void chooseLanguage(target.value)
            }}
          >
            {Object.entries(LANGUAGES).map(([code, { name, tag }]) => (
              <option key={code} value={code} lang={tag}>
                {name}
              </option>
            ))}
          </select>
        </div>
        <DisplayChoice name="textSize" />
        <DisplayChoice name="density" />
        <DisplayChoice name="contrast" />
        <DisplayChoice name="motion" />
        {/* On a touch screen, Enter is always a new line. */}
        {!isTouched && <DisplayChoice name="sendKey" />}
        <DisplayChoice name="figures" />
        <NotificationSwitch />
      </div>
    </Section>
  )
}

function NotificationSwitch() {
  const { t } = useTranslation()
  const { on, switchTo } = useNotifications()
  const isBlocked = canNotify() && Notification.permission === 'denied'
  const hint = !canNotify()
    ? t('settings.display.notificationsInsecure')
    : t(isBlocked ? 'settings.display.notificationsBlocked' : 'settings.display.notificationsHint')
  return (
    <Switch
      label={t('settings.display.notifications')}
      hint={hint}
      checked={on}
      disabled={!canNotify() || isBlocked}
      onChange={(next) => void switchTo(next)}
    />
  )
}

function DisplayChoice<Key extends keyof Display>({ name }: { name: Key }) {
  const { t } = useTranslation()
  const value = useDisplay((display) => display[name])
  const change = useDisplay((display) => display.change)
  const group: keyof Display = name
  const label = t(`settings.display.${group}.label`)
  return (
    <div className="flex flex-wrap items-center justify-between gap-3">
      <span className="text-sm font-medium text-soft">{label}</span>
      <Segmented<Display[Key]>
        label={label}
        value={value}
        options={DISPLAY_CHOICES[name].map((choice) => ({
          value: choice,
          // Every combination has a text, but the computed key is wider than the type of the keys.
          label: t(`settings.display.${name}.${choice}` as 'settings.display.sendKey.enter'),
        }))}
        onChange={(next) => change({ [name]: next })}
      />
    </div>
  )
}

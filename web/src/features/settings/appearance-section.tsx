// Theme and language.
import { useTranslation } from 'react-i18next'
import { chooseLanguage, type Language } from '../../lib/i18n/i18n.ts'
import { type ThemeChoice, useTheme } from '../../lib/theme.ts'
import { Segmented } from '../../ui/segmented.tsx'
import { Section } from './section.tsx'

const THEMES: readonly ThemeChoice[] = ['system', 'light', 'dark']
const LANGUAGES: readonly { value: Language; label: string }[] = [
  { value: 'en', label: 'English' },
  { value: 'zh', label: '中文' },
]

export function AppearanceSection() {
  const { t, i18n } = useTranslation()
  const { choice, choose } = useTheme()
  const language: Language = i18n.language === 'zh' ? 'zh' : 'en'
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
          <span className="text-sm font-medium text-soft">{t('settings.language')}</span>
          <Segmented
            label={t('settings.language')}
            value={language}
            options={LANGUAGES}
            onChange={(next) => void chooseLanguage(next)}
          />
        </div>
      </div>
    </Section>
  )
}
